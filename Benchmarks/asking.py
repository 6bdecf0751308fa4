"""Ten years: how long they take to arrive, and how soon a question about all of them is answered."""

import os
import sqlite3
import time

from exports import Exports
from importing import import_command
from measure import Run, median
from parts import attempt
from stack import environment, free_port

TYPE = "HKQuantityTypeIdentifierHeartRate"
MEAN = f"SELECT avg(value) FROM samples WHERE type = '{TYPE}'"


class Questions:
    name = "questions"

    def __init__(self, context):
        self.context, self.report, self.size = context, context.report, context.size
        self.exports = Exports(context.healthbus, os.path.join(context.work, "exports"), context.say)

    def measure(self):
        rows = [self.report[id] for id in ("ten-years", "query", "query-floor")]
        if not self.size["decade"]:
            for row in rows:
                row.why = "takes minutes; leave QUICK out"
            return
        attempt(rows, lambda: self._measure(*rows))

    def _measure(self, arrival, query, ratio):
        records, state = self.size["decade"], self.context.folder("decade")
        words = import_command(self.context, state, self.exports.of(records))
        self.context.say(f"{records:,} records")
        run = Run(words, environment(free_port()))
        self.context.seen(run.peaks)
        arrival.set(run.seconds, words, [run.raw], f"{records:,} records; at most {max(run.peaks.values()) / 1e6:.0f} MB in one process")
        words = [self.context.healthbus, "query", "--state", state, MEAN]
        raw = {"query": [], "floor": []}
        with sqlite3.connect("file:" + os.path.join(self.context.scratch, "plain.sqlite"), uri=True) as plain:
            self._fill(plain, os.path.join(state, "backend", "state.sqlite"))
            for number in range(5):
                self.context.say(f"question {number + 1} of 5")
                raw["query"].append(Run(words).seconds)
                begin = time.monotonic()
                plain.execute(MEAN).fetchone()
                raw["floor"].append(time.monotonic() - begin)
        query.set(median(raw["query"]), words, raw["query"])
        ratio.set(median(raw["query"]) / median(raw["floor"]), words, raw,
                  f"{median(raw['query']):.2f} s of {median(raw['floor']):.2f} s")

    def _fill(self, plain, backend):
        """What a person would make for this question: a table, and an index that has all of its answer."""
        self.context.say("filling a plain table")
        plain.execute("CREATE TABLE samples (id TEXT, type TEXT, start_date TEXT, end_date TEXT, value REAL, unit TEXT, source TEXT)")
        plain.execute("ATTACH ? AS backend", (f"file:{backend}?mode=ro",))
        plain.execute("INSERT INTO samples SELECT id, type, start_date, end_date, value, unit, source FROM backend.samples")
        plain.execute("CREATE INDEX samples_type ON samples (type, value)")
        plain.commit()
