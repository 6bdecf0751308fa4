"""The rows of a run: what was measured, against which budget; as a table, and as a file."""

import datetime
import json
import os
import textwrap

from measure import median

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(HERE)
BUDGETS = os.path.join(HERE, "budgets.json")


def budgets():
    with open(BUDGETS) as file:
        return json.load(file)


class Row:
    """- value: the value compared with the budget, in `unit`; None until it is measured. - rounds: the raw
    measurements. - note: what a reader must know."""

    def __init__(self, id, what, unit, budget=None):
        self.id, self.what, self.unit, self.budget = id, what, unit, budget or {}
        self.command = self.value = self.why = None
        self.rounds, self.notes, self.numbers = [], [], {}

    def set(self, value, command=None, rounds=None, note=None, **numbers):
        # The command as run from the checkout. The checkout's path on this machine is private and is left out.
        words = " ".join(command) if isinstance(command, list) else command
        self.value, self.command = value, words.replace(ROOT + os.sep, "") if words else words
        self.rounds = rounds if rounds is not None else self.rounds
        self.numbers.update(numbers)
        if note:
            self.notes.append(note)

    @property
    def verdict(self):
        if self.value is None:
            return "not measured"
        if not self.budget:
            return ""
        if "at most" in self.budget:
            return "met" if self.value <= self.budget["at most"] else "not met"
        return "met" if self.value >= self.budget["at least"] else "not met"

    @property
    def limit(self):
        return " ".join(f"{kind} {limit:g}" for kind, limit in self.budget.items())

    @property
    def remark(self):
        return "; ".join(self.notes + ([self.why] if self.why else []))

    @property
    def json(self):
        fields = {
            "id": self.id, "what": self.what, "command": self.command, "rounds": self.rounds, "value": self.value, "unit": self.unit,
            **self.numbers, "budget": self.budget or None, "verdict": self.verdict or None, "note": self.remark or None,
        }
        return {key: value for key, value in fields.items() if value is not None}


class Report:
    def __init__(self, facts, size):
        """- size: its name ("quick", "usual" or "full"), and what that means."""
        self.facts, self.size = facts, size
        self.begin = datetime.datetime.now(datetime.timezone.utc)
        self.rows = {entry["id"]: Row(entry["id"], entry["what"], entry["unit"],
                                      {key: entry[key] for key in ("at most", "at least") if key in entry})
                     for entry in budgets()}

    def add(self, id, what, unit):
        """Adds a row without a budget."""
        return self.rows.setdefault(id, Row(id, what, unit))

    def __getitem__(self, id):
        return self.rows[id]

    def times(self, id, what, command, rounds):
        """Adds a row of seconds: the median by the clock, and that of processor time."""
        self.add(id, what, "s").set(median([raw["seconds"] for raw in rounds]), command, rounds,
                                    processor=median([raw["processor"] for raw in rounds]))

    def table(self):
        machine, versions = self.facts["machine"], self.facts["versions"]
        lines = [
            f"{self.begin:%Y-%m-%d %H:%M} UTC, {self.size['name']}: {self.size['meaning']}",
            f"{machine['processor']}, {machine['cores']} cores, {machine['memoryMB']} MB, Linux {machine['kernel']}, {machine['fileSystem']}",
            ", ".join(f"{name} {version}" for name, version in versions.items()),
            f"commit {(self.facts['commit'] or 'unknown')[:10]}{' with changes' if self.facts['dirty'] else ''}"
            + (f"; the machine was busy when this began (load {machine['load']:.1f}): figures are worse than they should be"
               if machine["load"] > 0.5 else ""),
            "",
        ]
        rows = sorted(self.rows.values(), key=lambda row: not row.budget)
        cells = [("", "value", "", "budget", "")]
        cells += [(row.what, _number(row.value), row.unit if row.value is not None else "", row.limit, row.verdict) for row in rows]
        widths = [max(len(line[column]) for line in cells) for column in range(5)]
        for line in cells:
            parts = [text.rjust(width) if column == 1 else text.ljust(width) for column, (text, width) in enumerate(zip(line, widths))]
            lines.append("  ".join(parts).rstrip())
        lines.append("")
        for row in rows:
            if row.remark:
                lines += textwrap.wrap(f"{row.what}: {row.remark}", 120, subsequent_indent="    ")
        return "\n".join(lines)

    def write(self, folder):
        """Writes the file, and returns its path."""
        os.makedirs(folder, exist_ok=True)
        commit = (self.facts["commit"] or "unknown")[:7]
        path = os.path.join(folder, f"{self.begin:%Y-%m-%d}-{commit}{'-quick' if self.size['name'] == 'quick' else ''}.json")
        content = {
            "begin": self.begin.isoformat(timespec="seconds"),
            "seconds": round((datetime.datetime.now(datetime.timezone.utc) - self.begin).total_seconds(), 1),
            "size": self.size, **self.facts, "rows": [row.json for row in self.rows.values()],
        }
        with open(path + ".partial", "w") as file:
            json.dump(content, file, indent=1)
            file.write("\n")
        os.rename(path + ".partial", path)
        return path


def _number(value):
    if value is None:
        return "-"
    return f"{value:,.0f}".replace(",", " ") if abs(value) >= 1000 else f"{value:.3g}" if abs(value) < 10 else f"{value:.1f}"
