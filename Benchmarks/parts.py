"""The other rows: those that need no stack, those around a stack, and those about live data."""

import http.client
import json
import os
import subprocess
import time

import floors
from bus import SIZES as MESSAGES
from bus import Bus
from door import Door
from exports import Exports
from importing import import_command, memory_row
from live import WINDOW, Crowd, cost_of_one, one_by_one
from measure import Failed, Run, median, percentile
from peers import Peers
from stack import Stack, environment, free_port


def attempt(rows, measure):
    """Rows that can't be measured say why, and the others continue."""
    try:
        measure()
    except (Failed, OSError, http.client.HTTPException) as problem:
        for row in rows:
            if row.value is None:
                row.why = str(problem) or type(problem).__name__


class Plain:
    """The codec, and the hub compared with bare zmq_proxy."""

    name = "plain"

    def __init__(self, context):
        self.context, self.report, self.size = context, context.report, context.size

    def measure(self):
        attempt([self.report["codec-encode"], self.report["codec-decode"]], self._codec)
        attempt([self.report[row] for row in MESSAGES], self._hub)

    def _codec(self):
        self.context.say("codec")
        words = [self.context.bench, "codec", str(self.size["codec"])]
        done = subprocess.run(words, capture_output=True, text=True)
        if done.returncode != 0:
            raise Failed(f"'{' '.join(words)}' ended with {done.returncode}: {done.stderr.strip()}")
        reported = json.loads(done.stdout)
        for way in ("encode", "decode"):
            self.report[f"codec-{way}"].set(median(reported[way]) / 1e6, words, reported[way],
                                            f"{reported['bytes'] / reported['rows']:.0f} bytes a sample")

    def _hub(self):
        programs = floors.build(os.path.join(self.context.work, "floors"))
        bus = Bus(self.context.healthbus, self.context.bench, programs, self.context.scratch)
        rounds, seconds = self.size["bus"]
        for row in MESSAGES:
            raw = {"floor": [], "hub": []}
            for number in range(rounds):
                for side in raw:
                    self.context.say(f"{row}, round {number + 1} of {rounds}: {side}")
                    raw[side].append(bus.measure(row, side == "hub", seconds))
            rate = {side: median([entry["messagesPerSecond"] for entry in raw[side]]) for side in raw}
            used = {side: median([entry["microsecondsPerMessage"] for entry in raw[side]]) for side in raw}
            self.report[row].set(
                rate["hub"] / rate["floor"], "healthbus run hub", raw,
                f"{rate['hub']:,} of {rate['floor']:,} messages/s; processor {used['hub']:.1f} of {used['floor']:.1f} µs a message")


class Around:
    """A stack that starts, is idle, and imports 90 days; and peers."""

    name = "around"

    def __init__(self, context):
        self.context, self.report, self.size = context, context.report, context.size
        self.exports = Exports(context.healthbus, os.path.join(context.work, "exports"), context.say)

    def measure(self):
        attempt([self.report["ready-new"], self.report["history"]], self._new)
        attempt([self.report[row] for row in ("ready-stored", "idle-processor", "idle-memory")], self._stored)
        self._peers()

    def _new(self):
        """Stacks on new state folders: how soon they are ready, and for some of them an import of 90 days."""
        export = self.exports.made("days-90", days=90)
        ready, history = [], []
        for number in range(self.size["starts"]):
            self.context.say(f"start {number + 1} of {self.size['starts']}")
            with Stack(self.context.healthbus, self.context.folder("new")) as stack:
                ready.append(round(stack.ready, 4))
                if number >= self.size["histories"]:
                    continue
                stack.until_backend_rests(quiet=2)
                begin, before = time.monotonic(), stack.processor()
                reported = stack.ask("import", export)["files"][0]
                rested, kept = stack.until_backend_rests()
                if kept["samples"]["alive"] < reported["added"] * 0.99 or kept["days"]["alive"] < 90:
                    raise Failed(f"the backend has {kept['samples']['alive']} of {reported['added']} samples, {kept['days']['alive']} days")
                used = {program: time - before.get(program, 0) for program, time in stack.processor().items()}
                history.append({"seconds": round(rested - begin, 4), "importSeconds": reported["seconds"], "added": reported["added"],
                                "microseconds": {program: round(time * 1e6 / reported["added"], 2) for program, time in used.items()}})
                self.context.seen(stack.peaks())
        self.report["ready-new"].set(median(ready), "healthbus up", ready)
        self.report["history"].set(
            median([raw["seconds"] for raw in history]), "healthbus import days-90.zip", history,
            f"{history[0]['added']:,} samples; the last change at the backend, the debouncer's window of {WINDOW:g} s included")
        each = {program: median([raw["microseconds"][program] for raw in history]) for program in history[0]["microseconds"]}
        self.report.add("cost-bulk", "processor time of one sample of those 90 days", "µs").set(
            sum(each.values()), note=", ".join(f"{program.removeprefix('healthbus-')} {time:.1f}" for program, time in
                                               sorted(each.items(), key=lambda entry: -entry[1])), byProgram=each)

    def _stored(self):
        state, records = self.context.state, self.size["records"]
        if state is None:
            raise Failed("there is no state with an export in it")
        ready, rests = [], []
        for number in range(self.size["starts"]):
            self.context.say(f"start {number + 1} of {self.size['starts']} with {records:,} records stored")
            with Stack(self.context.healthbus, state) as stack:
                ready.append(round(stack.ready, 4))
                if number == 0:
                    self.context.say("resting")
                    rests.append(stack.rest(self.size["settle"], self.size["rest"]))
        self.report["ready-stored"].set(median(ready), "healthbus up", ready, f"{records:,} records stored")
        rest = rests[0]
        most = max(rest["programs"], key=lambda program: program["share"])
        self.report["idle-processor"].set(
            rest["share"], "healthbus up", rests, f"{len(rest['programs'])} processes, {rest['wakes']:.0f} wakes/s; most is {most['program']} "
            f"with {most['share']:.3f} %; over {self.size['rest']} s")
        self.report["idle-memory"].set(rest["memory"] / 1e6, "healthbus up", note=f"{records:,} records stored")

    def _peers(self):
        """Runs each peer once: they are many times slower than the rows they are compared with, so the spread doesn't
        matter."""
        rows = {name: self.report.add(f"peer-{name}", f"peer: {name} reads rows", "s")
                for name in ("healthkit-to-sqlite", "apple-health-parser", "parse-apple-health-data")}

        def all_of_them():
            self.context.say("installing peers")
            peers = Peers(os.path.join(self.context.work, "peers"))
            export = self.exports.of(self.size["peers"])
            scale = self.size["records"] / self.size["peers"]
            scratch = self.context.folder("peers")
            os.mkdir(scratch)
            for name, (words, count) in peers.commands(export, self.exports.xml(export), scratch).items():
                self.context.say(f"peer {name}")
                attempt([rows[name]], lambda: self._peer(rows[name], words, peers.measure(words, count), scale))

        attempt(rows.values(), all_of_them)

    def _peer(self, row, words, raw, scale):
        notes = [f"{raw['rows']:,} rows, {raw['memoryMB']} MB"]
        if scale != 1:
            # The peer's startup time is scaled too, so its row can't be compared with ours.
            notes.append(f"{raw['seconds']:.2f} s for {self.size['peers']:,} records, times {scale:g}, its start too")
        for ours in ("import-store", "import-everything"):
            if scale == 1 and self.report[ours].value is not None:
                notes.append(f"{raw['seconds'] * scale / self.report[ours].numbers['median']:.1f} x {ours}")
        row.set(raw["seconds"] * scale, words, [raw], "; ".join(notes))


class Live:
    """Samples that arrive one by one while a stack runs."""

    name = "live"

    def __init__(self, context):
        self.context, self.report, self.size = context, context.report, context.size
        self.exports = Exports(context.healthbus, os.path.join(context.work, "exports"), context.say)

    def measure(self):
        attempt([self.report["live"]], self._one_by_one)
        if self.context.peaks:  # including those of the stacks measured here
            memory_row(self.context)

    def _one_by_one(self):
        state, stored = self.context.state, self.size["records"]
        if "stored" in self.size:
            stored, state = self.size["stored"], self.context.folder("stored")
            self.context.say(f"storing {stored:,} records")
            self.context.seen(Run(import_command(self.context, state, self.exports.of(stored)), environment(free_port())).peaks)
        if state is None:
            raise Failed("there is no state with an export in it")
        count = self.size["samples"]
        with Stack(self.context.healthbus, state) as stack:
            door = Door(stack)
            raw = one_by_one(stack, door, count, lambda number: self.context.say(f"new sample {number + 1} of {count}"))
            self.context.say("the cost of one sample")
            cost = cost_of_one(stack, door, max(5, count // 10), count)
            self.context.seen(stack.peaks())
        self.report.add("cost-live", "processor time of one sample that comes alone", "ms").set(
            cost, note="all processes of the stack")
        worst = {key: percentile([entry[key] for entry in raw], 99) * 1000 for key in ("beyond", "answered")}
        middle = {key: median([entry[key] for entry in raw]) * 1000 for key in ("beyond", "answered")}
        label = [f"{stored:,} stored" + ("" if stored == 5_000_000 else ", not 5,000,000 (FULL=1)"), f"{count} samples"
                 + ("" if count >= 100 else ": this is the greatest")]
        self.report["live"].set(
            worst["beyond"], "POST /v1/samples", raw,
            f"from the request's start; median {middle['beyond']:.0f}; acknowledged after {middle['answered']:.1f} ms, p99 {worst['answered']:.1f}; "
            + "; ".join(label), median=middle["beyond"])


class Users:
    """Samples of many people at once. This part is last, because it takes more than an hour with FULL=1."""

    name = "users"

    def __init__(self, context):
        self.context, self.report, self.size = context, context.report, context.size
        self.exports = Exports(context.healthbus, os.path.join(context.work, "exports"), context.say)

    def measure(self):
        attempt([self.report["users"]], self._crowd)
        if self.context.peaks:
            memory_row(self.context)

    def _crowd(self):
        users, year, seconds = self.size["users"], self.size["year"], self.size["live"]
        if users == 0:
            raise Failed("takes minutes; leave QUICK out")
        with Stack(self.context.healthbus, self.context.folder("crowd")) as stack:
            crowd = Crowd(stack, Door(stack), self.exports, users, year,
                          lambda user: self.context.say(f"year of user {user + 1} of {users}"))
            self.context.say(f"{users} users live, {seconds} s")
            raw, share = crowd.live(5, seconds)
            self.context.seen(stack.peaks())
        label = f"{users} users" + ("" if users == 1000 else ", not 1,000 (FULL=1)") + f" with {year:,} records in their year each"
        self.report["users"].set(percentile(raw, 99) * 1000, "POST /v1/samples, 5 a second", raw,
                                 f"{label}; {len(raw)} samples; the stack takes {share:.1f} % of a core")

