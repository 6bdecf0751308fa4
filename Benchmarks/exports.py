"""The exports used for measuring: made with `healthbus generate`, and kept in the work folder for the next run."""

import os
import re
import zipfile

from measure import Failed, Run

NAME = "apple_health_export/export.xml"
LAST_DAY = "2025-04-05"
DAY_AFTER = "2025-04-06"
SEED = "1"


class Exports:
    """- folder: where they are kept. - say: called with a description of anything that takes a while."""

    def __init__(self, healthbus, folder, say):
        self.healthbus, self.folder, self.say = healthbus, folder, say
        os.makedirs(folder, exist_ok=True)

    def made(self, name, records=None, days=90, end=LAST_DAY, seed=SEED):
        path = os.path.join(self.folder, name + ".zip")
        if not os.path.exists(path):
            self.say(f"making {name}.zip")
            words = [self.healthbus, "generate", "--days", str(days), "--end", end, "--seed", seed, "-o", path]
            Run(words + (["--records", str(records)] if records is not None else []))
        return path

    @staticmethod
    def days(records):
        return max(1, records // 1000)

    def of(self, records):
        """An export with this many records, about a thousand per day."""
        return self.made(f"records-{records}", records, self.days(records))

    def xml(self, path):
        """The XML of an archive, unpacked."""
        unpacked = path.removesuffix(".zip") + ".xml"
        if not os.path.exists(unpacked):
            self.say(f"unpacking {os.path.basename(path)}")
            with zipfile.ZipFile(path) as archive, open(unpacked + ".partial", "wb") as file, archive.open(NAME) as source:
                while block := source.read(1 << 20):
                    file.write(block)
            os.rename(unpacked + ".partial", unpacked)
        return unpacked

    def later(self, records):
        """The export of `of(records)` a day later: the records of one more day at the end of their types, a different
        export date, and different addresses of devices, as in every export."""
        path = os.path.join(self.folder, f"records-{records}-later.zip")
        if os.path.exists(path):
            return path
        first = self.of(records)
        day = self.made(f"day-after-{records}", max(50, records // self.days(records)), 1, DAY_AFTER)
        self.say(f"making {os.path.basename(path)}")
        with zipfile.ZipFile(day) as archive:
            more = archive.read(NAME)
        with zipfile.ZipFile(first) as archive:
            text = archive.read(NAME)
            others = {name: archive.read(name) for name in archive.namelist() if name != NAME}
        text = joined(text, more)
        with zipfile.ZipFile(path + ".partial", "w", zipfile.ZIP_DEFLATED, compresslevel=6) as archive:
            archive.writestr(NAME, text)
            for name, content in others.items():
                archive.writestr(name, content)
        os.rename(path + ".partial", path)
        return path


DATE = re.compile(rb'<ExportDate value="[^"]*"/>')
ADDRESS = re.compile(rb"HKDevice: 0x[0-9a-f]+")


def elements(text):
    """Top-level records of an export, as (type, text)."""
    found, lines = [], text.splitlines(keepends=True)
    index = 0
    while index < len(lines):
        line = lines[index]
        if line.startswith(b' <Record type="'):
            begin = index
            if not line.rstrip().endswith(b"/>"):
                while not lines[index].startswith(b" </Record>"):
                    index += 1
            found.append((line.split(b'"', 2)[1], b"".join(lines[begin:index + 1])))
        index += 1
    return found


def joined(text, more):
    """`text` with the records of `more`, each after the last of its type, the export date of `more`, and new
    addresses."""
    addition = {}
    for kind, record in elements(more):
        addition.setdefault(kind, []).append(record)
    summary = re.search(rb" <ActivitySummary [^>]*/>\n", more)
    date = DATE.search(more)
    if not addition or date is None:
        raise Failed("the export of the next day has no records or no date")
    places = []
    for kind, records in addition.items():
        start = text.rfind(b'\n <Record type="' + kind + b'"')
        # The records of a new type are inserted before the workouts in the export.
        place = _end(text, start + 1) if start >= 0 else _first_behind_records(text)
        places.append((place, b"".join(records)))
    if summary:
        places.append((text.rfind(b"</HealthData>"), summary.group(0)))
    parts, last = [], 0
    for place, addition_text in sorted(places):
        parts += [text[last:place], addition_text]
        last = place
    result = b"".join(parts + [text[last:]])
    addresses = {}

    def other(match):
        # Every device object gets a different memory address.
        return addresses.setdefault(match.group(0), b"HKDevice: 0x%x" % (int(match.group(0)[12:], 16) + 0x1A2B30))

    return ADDRESS.sub(other, DATE.sub(date.group(0), result, count=1))


def _end(text, start):
    """Where the record that begins at `start` ends."""
    line = text.index(b"\n", start)
    if text[start:line].endswith(b"/>"):
        return line + 1
    close = text.index(b"\n </Record>\n", start)
    return close + len(b"\n </Record>\n")


def _first_behind_records(text):
    for mark in (b"\n <Correlation ", b"\n <Workout ", b"\n <ActivitySummary ", b"\n</HealthData>"):
        place = text.find(mark)
        if place >= 0:
            return place + 1
    raise Failed("the export has no end")
