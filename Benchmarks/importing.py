"""Rows about imports: the cost of an export, compared with merely inflating, parsing and inserting the same data."""

import json
import os
import shutil

import floors
from exports import NAME, Exports
from measure import Failed, Run, median
from stack import STORE_ALONE, ZONE, disk_bytes, environment, free_port


def import_command(context, state, export):
    """The command for a whole stack on `state` that runs until everything is computed, final and delivered."""
    return [context.healthbus, "up", "--state", state, "--import", export, "--zone", ZONE, "--until-idle", "--json"]


def memory_row(context):
    """Fills the row about memory from the high-water marks of all runs so far."""
    row = context.report["memory"]
    if not context.peaks:
        row.why = "no import could be measured"
        return
    peaks = sorted(context.peaks.items(), key=lambda entry: -entry[1])
    row.notes = []
    row.set(peaks[0][1] / 1e6, rounds=[{name: round(peak / 1e6, 1) for name, peak in peaks}],
            note=f"{peaks[0][0]}; next is {peaks[1][0]} with {peaks[1][1] / 1e6:.0f}")


class Imports:
    name = "imports"

    def __init__(self, context):
        self.context, self.size = context, context.size
        self.exports = Exports(context.healthbus, os.path.join(context.work, "exports"), context.say)
        self.raw = {}

    def measure(self):
        report, records = self.context.report, self.size["records"]
        programs = floors.build(os.path.join(self.context.work, "floors"))
        export, later = self.exports.of(records), self.exports.later(records)
        small, large = self.exports.of(self.size["small"]), self.exports.of(self.size["large"])
        xml = self.exports.xml(export)
        store_alone = os.path.join(self.context.scratch, "store-alone.json")
        with open(store_alone, "w") as file:
            json.dump(STORE_ALONE, file)
        own_large = large if large != export else None
        commands = {}
        for number in range(self.size["rounds"]):
            state, scratch = self.context.folder("state"), self.context.folder("round")
            os.mkdir(scratch)
            steps = {
                "floor-xml": [programs["xml"], xml],
                "floor-unzip": [programs["unzip"], export, NAME],
                "floor-insert": [programs["insert"], os.path.join(scratch, "floor.sqlite"), str(records)],
                "import-store": import_command(self.context, os.path.join(scratch, "store"), xml) + ["--config", store_alone],
                "small": import_command(self.context, os.path.join(scratch, "small"), small),
                "import-everything": import_command(self.context, state, export),
                "import-later": import_command(self.context, state, later),
                "import-again": import_command(self.context, state, later),
            }
            for step, words in steps.items():
                self.context.say(f"round {number + 1} of {self.size['rounds']}: {step}")
                commands.setdefault(step, words)
                self._step(step, words, state)
            # Importing the large export takes a long time, so it is done less often.
            if own_large and number < self.size["larges"]:
                self.context.say("the large export")
                self._step("large", import_command(self.context, os.path.join(scratch, "large"), own_large), state)
            shutil.rmtree(scratch)
        self.context.state = state
        self._rows(report, commands)

    def _step(self, step, words, state):
        """One run; a failure is recorded, and the row says so."""
        if isinstance(self.raw.get(step), Failed):
            return
        try:
            run = Run(words, environment(free_port()) if words[0] == self.context.healthbus else None)
            raw = run.raw
            if words[0] == self.context.healthbus:
                self.context.seen(run.peaks)
                reported = json.loads(run.output)["files"][0]
                raw |= {"read": reported["read"], "added": reported["added"]}
                self._check(step, raw)
            if step == "import-everything":
                raw["bytes"] = {instance: size for instance in sorted(os.listdir(state)) if (size := disk_bytes(state, instance))}
            self.raw.setdefault(step, []).append(raw)
        except Failed as problem:
            self.raw[step] = problem

    @staticmethod
    def _check(step, raw):
        """Checks that everything that should have been imported was."""
        is_right = {
            "import-later": 0 < raw["added"] < raw["read"] / 20,
            "import-again": raw["added"] == 0,
        }.get(step, raw["added"] > raw["read"] * 0.99)
        if not is_right:
            raise Failed(f"{step}: {raw['added']} of {raw['read']} were added")

    def _rows(self, report, commands):
        size, records = self.size, self.size["records"]
        label = None if size["name"] != "quick" else f"with {records:,} records, not 1,000,000"
        for step, what in [("floor-xml", "floor: libxml2 reads the XML, and does nothing"),
                           ("floor-unzip", "floor: libarchive inflates it"),
                           ("floor-insert", f"floor: SQLite inserts {records:,} rows")]:
            if isinstance(self.raw[step], Failed):
                report.add(step, what, "s").why = str(self.raw[step])
            else:
                report.times(step, what, commands[step], self.raw[step])
        for step in ("import-store", "import-everything", "import-later", "import-again"):
            row = report[step]
            problem = next((self.raw[key] for key in ("floor-xml", step) if isinstance(self.raw[key], Failed)), None)
            if problem:
                row.why = str(problem)
                continue
            seconds, floor = self._median(step, "seconds"), self._median("floor-xml", "seconds")
            processor = self._median(step, "processor") / self._median("floor-xml", "processor")
            row.set(seconds / floor, commands[step], self.raw[step], f"{seconds:.2f} s; processor time {processor:.1f} x floor"
                    + (f"; {label}" if label else ""), median=seconds, processorRatio=processor)
        self._growth(report, commands)
        memory_row(self.context)
        everything = self.raw["import-everything"]
        if isinstance(everything, Failed):
            report["disk"].why = str(everything)
            return
        each = {instance: median([raw["bytes"][instance] / raw["added"] for raw in everything]) for instance in everything[0]["bytes"]}
        report["disk"].set(each["observer"] + each["backend"], commands["import-everything"],
                           note=f"store {each['observer']:.0f}, backend {each['backend']:.0f}; all others together "
                           f"{sum(each.values()) - each['observer'] - each['backend']:.0f}" + (f"; {label}" if label else ""), byInstance=each)

    def _growth(self, report, commands):
        small, large = self.size["small"], self.size["large"]
        large_step = "large" if "large" in self.raw else "import-everything"
        for row, key in [("growth", "seconds"), ("growth-processor", "processor")]:
            problem = next((self.raw[step] for step in ("small", large_step) if isinstance(self.raw[step], Failed)), None)
            if problem:
                report[row].why = str(problem)
                continue
            label = None if large == 10_000_000 else f"{large:,} over {small:,}, not 10,000,000 over 1,000,000 (FULL=1)"
            report[row].set(self._median(large_step, key) / self._median("small", key), commands["small"],
                            {"small": self.raw["small"], "large": self.raw[large_step]}, label)

    def _median(self, step, key):
        return median([raw[key] for raw in self.raw[step]])
