"""A day's steps, distance on foot and flights climbed: the figures of the Swift plugin `steps`, in Python.

Reads JSON lines from standard input, writes JSON lines to standard output; anything else goes to standard
error. Uses only Python's standard library.
"""

import json
import sys
import unicodedata
from bisect import bisect_right

FIGURES = {
    "HKQuantityTypeIdentifierStepCount": "steps",
    "HKQuantityTypeIdentifierDistanceWalkingRunning": "distanceMeters",
    "HKQuantityTypeIdentifierFlightsClimbed": "flightsClimbed",
}

FLIGHTS = "HKQuantityTypeIdentifierFlightsClimbed"

# From this length on (microseconds), a sample is an app's sum of what finer samples have too.
LONG = 4 * 3600 * 1_000_000
# How many such sums of a day are compared, the greatest first.
MOST = 64


def union(intervals):
    """Disjoint intervals in order that cover the same time; the input is ordered by start."""
    merged = []
    for start, end in intervals:
        if merged and start <= merged[-1][1]:
            merged[-1][1] = max(merged[-1][1], end)
        elif start < end:
            merged.append([start, end])
    return merged


def without(intervals, taken):
    """Disjoint intervals in order, minus others of the same kind."""
    left, index = [], 0
    for start, end in intervals:
        while index < len(taken) and taken[index][1] <= start:
            index += 1
        place = index
        while start < end and place < len(taken) and taken[place][0] < end:
            if start < taken[place][0]:
                left.append([start, taken[place][0]])
            start = max(start, taken[place][1])
            place += 1
        if start < end:
            left.append([start, end])
    return left


class Coverage:
    """The time in which one source counts; two binary searches give how much of it lies in an interval."""

    def __init__(self, intervals):
        self.starts = [start for start, _ in intervals]
        self.ends = [end for _, end in intervals]
        self.before, length = [], 0
        for start, end in intervals:
            self.before.append(length)
            length += end - start

    def until(self, instant):
        index = bisect_right(self.starts, instant) - 1
        return 0 if index < 0 else self.before[index] + min(instant, self.ends[index]) - self.starts[index]

    def holds(self, instant):
        index = bisect_right(self.starts, instant) - 1
        return index >= 0 and instant < self.ends[index]


class Sum:
    """A sum whose rounding errors don't accumulate (Neumaier). None until something has been added."""

    def __init__(self):
        self.total, self.lost, self.counted = 0.0, 0.0, False

    def add(self, term):
        total = self.total + term
        if abs(self.total) >= abs(term):
            self.lost += (self.total - total) + term
        else:
            self.lost += (term - total) + self.total
        self.total, self.counted = total, True

    @property
    def value(self):
        return self.total + self.lost if self.counted else None


def clamped(ranges, start, end):
    """The parts of the ranges between two instants."""
    parts = [[max(start, first), min(end, last)] for first, last in ranges]
    return [part for part in parts if part[0] < part[1]]


def length(ranges):
    return sum(end - start for start, end in ranges)


class LongSum:
    """A sum over many hours: it adds only what it has beyond all else in its ranges, evenly spread."""

    def __init__(self, start, end, value, source, chosen, window):
        # A source that the user put in order keeps its place; the sums of the others come last.
        self.source = (source[0] if chosen else float("inf"), source[1], 1)
        self.times, self.chosen = (start, end), chosen
        self.added, self.counts = (0.0, 0), False
        # An instant stands for the whole day, anything else for its span within the day.
        self.whole = (value, length(window) if start == end else end - start)
        self.cut(window if start == end else clamped(window, start, end))

    def cut(self, ranges):
        self.ranges, self.length = ranges, length(ranges)
        self.stated = self.part(self.length, self.whole)

    @staticmethod
    def part(time, whole):
        """The part of an amount that belongs to a part of the time over which it is spread."""
        return whole[0] if time == whole[1] else whole[0] * (time / whole[1])

    def count(self, others):
        """Counts what it has beyond all that counts already in its ranges: None if nothing does."""
        self.added = self.whole if others is None else (self.stated - others, self.length)
        self.counts = others is None or self.added[0] > 0

    def add(self, buckets, sums):
        for index, (start, end) in enumerate(buckets):
            common = length(clamped(self.ranges, start, end))
            if self.counts and common:
                sums[index].add(self.part(common, self.added))


def in_order(sums):
    """Sums in the order in which they are compared with what counts already: first those of sources that the user put
    in order, which leave no time to those after them; then the shorter, and of equal length the greater."""
    sums = sorted(sums, key=lambda each: (-each.stated, each.times, each.source))[:MOST]
    sums.sort(key=lambda each: (
        each.source if each.chosen else (float("inf"), "", 0), each.length, -each.stated, each.times, each.source))
    for index, each in enumerate(sums):
        above = [other.ranges for other in sums[:index] if other.chosen and other.source < each.source]
        if above:
            taken = union(sorted(part for ranges in above for part in ranges))
            each.cut(without(each.ranges, taken))
    return sums


def parted(rows, window, order, identifier):
    """The rows without their sums over many hours, and these in order. What a person entered is never such a sum."""
    days = {}
    for row in rows:
        if any(first < row[1] and row[0] < last or first <= row[0] < last for first, last in window):
            days.setdefault(row[3], []).append(row)
    finer, sums = [], []
    for row in rows:
        start, end, value, source, entered, device = row
        # A source's only sample of the day, if it is an instant; but phones store each flight of stairs as one.
        single = start == end and days.get(source) == [row] and not (device and identifier == FLIGHTS)
        if not entered and (single or end - start >= LONG):
            sums.append(LongSum(start, end, value, source, source[0] <= len(order), window))
        else:
            finer.append((start, end, value, source))
    return finer, in_order(sums)


def compare(sums, rows, coverage):
    """Finds what each sum adds to the rows and to the sums before it."""
    for index, each in enumerate(sums):
        others = Sum()
        add(rows, sums[:index], coverage, each.ranges, [others] * len(each.ranges))
        each.count(others.value)


def coverages(rows, sums):
    """For each source, the time in which it counts: at each instant, only the first source by priority."""
    by_source = {}
    for start, end, _, source in rows:
        by_source.setdefault(source, []).append((start, end))
    for each in sums:
        if each.chosen:
            by_source.setdefault(each.source, []).extend(map(tuple, each.ranges))
    found, taken = {}, []
    for source in sorted(by_source):
        own = union(sorted(by_source[source]))
        found[source] = Coverage(without(own, taken))
        taken = union(sorted(taken + own))
    return found


def add(rows, long_sums, coverage, buckets, sums):
    """Adds the parts of the rows that count (in order of start and id), then of the long sums, to each bucket's sum."""
    first = 0
    for start, end, value, source in rows:
        # Start times never decrease, so buckets that end before this one are finished.
        while first < len(buckets) and buckets[first][1] <= start:
            first += 1
        if start == end:
            # A sample without a duration counts in full, unless a source of higher priority covers that instant.
            if first < len(buckets) and buckets[first][0] <= start:
                if not any(coverage[other].holds(start) for other in coverage if other < source):
                    sums[first].add(value)
            continue
        own, index = coverage[source], first
        while index < len(buckets) and buckets[index][0] < end:
            counted = own.until(min(end, buckets[index][1])) - own.until(max(start, buckets[index][0]))
            if counted > 0:
                # The share of the value that belongs to that share of the time.
                sums[index].add(value if counted == end - start else value * (counted / (end - start)))
            index += 1
    for long_sum in long_sums:
        long_sum.add(buckets, sums)


def priority(source, by_hand, order):
    """The lowest counts first: entries by hand, the configured order, then the default one; by name within each."""
    name = unicodedata.normalize("NFC", source["name"])
    if by_hand:
        return (0, name, 0)
    others = [unicodedata.normalize("NFC", other) for other in source.get("otherNames", [])]
    named = [name] if name in order else [other for other in others if other in order]
    return (1 + min(map(order.index, named)) if named else len(order) + source["rank"], name, 0)


def compute(day, samples):
    figures, hourly = {}, {}
    for identifier, figure in FIGURES.items():
        names = day["configuration"].get("sourceOrder", {}).get(identifier, [])
        order = list(dict.fromkeys(unicodedata.normalize("NFC", name) for name in names))
        rows = []
        for page in samples:
            if identifier not in page["types"]:
                continue
            wanted = page["types"].index(identifier)
            # Counted once per source, not once per sample.
            sources = [[priority(source, by_hand, order) for by_hand in (False, True)] for source in page["sources"]]
            devices = [source["rank"] < 3 for source in page["sources"]]
            columns = zip(
                page["type"], page["start"], page["end"], page["value"], page["source"], page["userEntered"],
                page.get("manual", page["userEntered"]))
            for kind, start, end, value, source, by_hand, own in columns:
                if kind == wanted and value is not None and start <= end:
                    rows.append((start, end, value, sources[source][by_hand], by_hand or own, devices[source]))
        rows, sums = parted(rows, day["window"], order, identifier)
        coverage = coverages(rows, sums)
        compare(sums, rows, coverage)
        # A day has more than one window when a flight splits it; its total covers all of them.
        total = Sum()
        add(rows, sums, coverage, day["window"], [total] * len(day["window"]))
        if total.value is None:
            continue  # Without data there is no member, never 0.
        figures[figure] = total.value
        hours = [Sum() for _ in day["hours"]]
        add(rows, sums, coverage, day["hours"], hours)
        hourly[figure] = [hour.value for hour in hours]
    return figures, hourly


def say(line):
    print(json.dumps(line, allow_nan=False), flush=True)


for text in sys.stdin.buffer:
    line = json.loads(text)
    if "hello" in line:
        say({"hello": {"protocol": 1, "name": "steps-python", "version": 3}})
    elif "day" in line:
        day, samples = line["day"], []
    elif "samples" in line:
        samples.append(line["samples"])
    elif "compute" in line:
        figures, hourly = compute(day, samples)
        of = {"user": day["user"], "date": day["date"]}
        if figures:
            say({"figures": figures, **of})
            say({"hourly": hourly, **of})
        say({"done": day["date"], "user": day["user"]})
