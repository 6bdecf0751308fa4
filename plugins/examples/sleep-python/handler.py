"""A day's sleep and naps, and an event for each: what the Swift plugin `sleep` computes, in Python.

Reads JSON lines from standard input, writes JSON lines to standard output; anything else goes to standard
error. Uses only Python's standard library.

An event's id is what a destination knows a night by, so it is the same as the Swift plugin's: the id of the
night's first sample. Only apps' summaries of nights without samples are left out; healthbus doesn't swap this
plugin in where there are such nights.
"""

import json
import sys
import unicodedata
from datetime import datetime, timedelta, timezone

TYPE = "HKCategoryTypeIdentifierSleepAnalysis"
IN_BED, UNSPECIFIED, AWAKE, CORE, DEEP, REM = range(6)
ASLEEP, STAGED = (UNSPECIFIED, CORE, DEEP, REM), (CORE, DEEP, REM)
EVER = float("inf")


def union(intervals):
    """Disjoint intervals in order that cover the same time."""
    merged = []
    for start, end in sorted(map(tuple, intervals)):
        if merged and start <= merged[-1][1]:
            merged[-1][1] = max(merged[-1][1], end)
        elif start < end:
            merged.append([start, end])
    return merged


def clipped(intervals, start, end):
    """The parts of disjoint intervals between two instants."""
    parts = [[max(start, first), min(end, last)] for first, last in intervals]
    return [part for part in parts if part[0] < part[1]]


def without(intervals, taken):
    """Disjoint intervals minus others of the same kind."""
    left = []
    for start, end in intervals:
        for first, last in clipped(taken, start, end):
            if start < first:
                left.append([start, first])
            start = last
        if start < end:
            left.append([start, end])
    return left


def length(intervals):
    return sum(end - start for start, end in intervals)


def minutes(intervals):
    return length(intervals) / 1_000_000 / 60


def iso(instant):
    time = datetime(1970, 1, 1, tzinfo=timezone.utc) + timedelta(microseconds=instant)
    fraction = f".{time.microsecond:06d}".rstrip("0").rstrip(".")
    return f"{time:%Y-%m-%dT%H:%M:%S}{fraction}Z"


def parts_of(samples, first, gap):
    """What counts of the samples, as (source, stage, intervals). First come the sources with stages, then those with
    any sleep, then those with time awake only. Each counts where none before it says anything, and outside that time
    only if its sleep begins, or ends, more than the gap further out."""
    ranks = {}
    for _, _, stage, source, _ in samples:
        if stage != IN_BED:
            rank = 0 if stage in STAGED else 1 if stage in ASLEEP else 2
            ranks[source] = min(rank, ranks.get(source, rank))
    parts, known = [], []
    for source in sorted(ranks, key=lambda each: (ranks[each], each)):
        own = [sample for sample in samples if sample[3] == source and sample[2] != IN_BED]
        begin, end = -EVER, EVER
        if known:
            asleep = [sample for sample in own if sample[2] in ASLEEP]
            if not any(known[0][0] - sample[0] > gap for sample in asleep):
                begin = known[0][0]
            if not any(sample[1] - known[-1][1] > gap for sample in asleep):
                end = known[-1][1]
        for stage in (DEEP, REM, CORE, UNSPECIFIED, AWAKE):
            of_stage = [sample[:2] for sample in own if sample[2] == stage]
            time = clipped(union(of_stage), begin, end)
            new = without(time, known)
            if of_stage and (source == first or new):
                parts.append((source, stage, new))
            known = union(known + time)
    return parts


def session_of(samples, names, gap):
    """A session's event; None if it has nothing that counts. Samples are (start, end, stage, source, id)."""

    def first(*stages):
        return min((sample[3] for sample in samples if sample[2] in stages), default=None)

    candidates = (first(*STAGED), first(*ASLEEP), first(AWAKE), first(IN_BED))
    source = next(each for each in candidates if each is not None)
    has_own_bed = any(sample[3] == source and sample[2] == IN_BED for sample in samples)
    bed_source = source if has_own_bed else first(IN_BED)
    bed = [sample for sample in samples if sample[2] == IN_BED and sample[3] == bed_source]
    own = [sample for sample in samples if sample[3] == source and sample[2] != IN_BED]
    identity = min((sample[0], sample[4]) for sample in own + bed)[1]

    parts = parts_of(samples, source, gap)

    def time(*stages):
        return union(interval for _, stage, part in parts if stage in stages for interval in part)

    sleeping = time(*ASLEEP)
    resting = union([sample[:2] for sample in bed] + sleeping) if bed else None
    if resting:
        # Lying awake before going to bed, or after getting up, isn't part of the night.
        parts = [
            (source, stage, clipped(part, resting[0][0], resting[-1][1]) if stage == AWAKE else part)
            for source, stage, part in parts]
    waking = time(AWAKE)
    night = resting or union(sleeping + waking)
    if not night:
        return None

    def amount(stages, of=None):
        counted = [part for each, stage, part in parts if stage in stages and of in (None, each)]
        return sum(map(length, counted)) / 1_000_000 / 60 if counted else None

    counted = []
    for each, _, part in parts:
        if part and counted[-1:] != [each]:
            counted.append(each)
    awake, in_bed, latency, efficiency, after_onset = amount([AWAKE]), None, None, None, None
    if awake is not None and sleeping:
        after_onset = minutes(clipped(waking, sleeping[0][0], sleeping[-1][1]))
    if resting:
        in_bed = minutes(resting)
        if sleeping:
            efficiency = length(sleeping) / length(resting)
            lying_down = min(sample[0] for sample in bed)
            if lying_down <= sleeping[0][0]:
                latency = (sleeping[0][0] - lying_down) / 1_000_000 / 60
    return {
        "id": identity, "reach": max(sample[1] for sample in samples), "length": night[-1][1] - night[0][0],
        "figure": {
            "start": iso(night[0][0]), "end": iso(night[-1][1]), "source": names[source],
            "asleepMinutes": amount(ASLEEP), "inBedMinutes": in_bed, "awakeMinutes": awake,
            "coreMinutes": amount([CORE]), "deepMinutes": amount([DEEP]), "remMinutes": amount([REM]),
            "unspecifiedMinutes": amount([UNSPECIFIED]), "latencyMinutes": latency,
            "wakeAfterOnsetMinutes": after_onset, "efficiency": efficiency,
        },
        "sources": [
            {"source": names[each], "asleepMinutes": amount(ASLEEP, each), "awakeMinutes": amount([AWAKE], each)}
            for each in counted],
    }


def priority(source, by_hand, order):
    """The lowest counts first: entries by hand, the configured order, then the default one; by name within each."""
    name = unicodedata.normalize("NFC", source["name"])
    if by_hand:
        return (0, name)
    others = [unicodedata.normalize("NFC", other) for other in source.get("otherNames", [])]
    named = [name] if name in order else [other for other in others if other in order]
    return (1 + min(map(order.index, named)) if named else len(order) + source["rank"], name)


def samples_of(day, pages):
    """The day's samples in order, and the names of their sources."""
    listed = day["configuration"].get("sourceOrder", {}).get(TYPE, [])
    order = list(dict.fromkeys(unicodedata.normalize("NFC", name) for name in listed))
    samples, names = [], {}
    for page in pages:
        columns = zip(*(page[name] for name in ("type", "start", "end", "value", "source", "userEntered", "id")))
        for kind, start, end, value, source, by_hand, identity in columns:
            if page["types"][kind] == TYPE and start < end and value in range(6):
                who = priority(page["sources"][source], by_hand, order)
                names.setdefault(who, page["sources"][source]["name"])
                samples.append((start, end, int(value), who, identity))
    return samples, names


def compute(day, pages):
    gap = int(day["configuration"].get("gapMinutes", 60) * 60_000_000)
    samples, names = samples_of(day, pages)
    groups, end = [], None
    for sample in samples:
        if not groups or sample[0] - end > gap:
            groups.append([])
            end = sample[1]
        groups[-1].append(sample)
        end = max(end, sample[1])
    sessions = [session_of(group, names, gap) for group in groups]
    # A session belongs to the day whose window contains its last moment.
    sessions = [
        each for each in sessions if each and any(first <= each["reach"] - 1 < last for first, last in day["window"])]
    if not sessions:
        return {}, []

    def asleep(each):
        return each["figure"]["asleepMinutes"]

    main = max(sessions, key=lambda each: (asleep(each) or 0, each["length"]))
    naps = [each["figure"] for each in sessions if each is not main and asleep(each) is not None]
    events = [
        {"id": each["id"], "kind": "night", "payload": {
            **each["figure"], "id": each["id"], "date": day["date"], "main": each is main,
            "sources": each["sources"]}}
        for each in sessions]
    return {"sleep": main["figure"], "naps": naps}, events


def hello(configuration):
    return {
        "protocol": 1, "name": "sleep-python", "version": 1, "ids": True,
        "window": {
            "endHour": configuration.get("windowHour", 18), "beforeSeconds": 12 * 3600,
            "afterSeconds": configuration.get("gapMinutes", 60) * 60 + 1,
        },
    }


def say(line):
    print(json.dumps(line, allow_nan=False), flush=True)


for text in sys.stdin.buffer:
    line = json.loads(text)
    if "hello" in line:
        say({"hello": hello(line["hello"]["configuration"])})
    elif "day" in line:
        day, pages = line["day"], []
    elif "samples" in line:
        pages.append(line["samples"])
    elif "compute" in line:
        figures, events = compute(day, pages)
        of = {"user": day["user"], "date": day["date"]}
        if figures:
            say({"figures": figures, **of})
        for event in events:
            say({"event": event, **of})
        say({"done": day["date"], "user": day["user"]})
