#!/usr/bin/env python3
"""Writes the inputs that fuzzing begins with to Tests/Fuzz/Corpus. Inputs found later ('found-…') stay unchanged.

Everything in them is made up here. Usage: seeds.py
"""

import json, pathlib, struct

CORPUS = pathlib.Path(__file__).with_name("Corpus")


def repeated(head, unit):
    """A recipe for a large input: see Repetition in Targets/FuzzTarget.swift."""
    return bytes([0xFE, len(head)]) + head + unit


class Column:
    """A typed array of RFC 8746."""

    def __init__(self, tag, form, numbers):
        self.tag, self.bytes = tag, struct.pack(f"<{len(numbers)}{form}", *numbers)


def int64s(*numbers): return Column(79, "q", numbers)
def int32s(*numbers): return Column(78, "i", numbers)
def doubles(*numbers): return Column(86, "d", numbers)
def bytes8(*numbers): return Column(64, "B", numbers)


def cbor(value):
    def head(major, number):
        for limit, code, form in ((24, None, None), (1 << 8, 24, ">B"), (1 << 16, 25, ">H"), (1 << 32, 26, ">I")):
            if number < limit:
                return bytes([major << 5 | (number if code is None else code)]) + (struct.pack(form, number) if form else b"")
        return bytes([major << 5 | 27]) + struct.pack(">Q", number)

    if value is None or value is True or value is False:
        return {None: b"\xf6", True: b"\xf5", False: b"\xf4"}[value]
    if isinstance(value, int):
        return head(0, value) if value >= 0 else head(1, -1 - value)
    if isinstance(value, float):
        return b"\xfb" + struct.pack(">d", value)
    if isinstance(value, str):
        return head(3, len(value.encode())) + value.encode()
    if isinstance(value, bytes):
        return head(2, len(value)) + value
    if isinstance(value, Column):
        return head(6, value.tag) + cbor(value.bytes)
    if isinstance(value, list):
        return head(4, len(value)) + b"".join(map(cbor, value))
    return head(5, len(value)) + b"".join(cbor(key) + cbor(value[key]) for key in sorted(value))


STEPS = "HKQuantityTypeIdentifierStepCount"
DATES = 'startDate="2025-03-30 08:15:00 +0200" endDate="2025-03-30 08:20:00 +0200"'
RECORD = f' <Record type="{STEPS}" sourceName="Phone" unit="count" creationDate="2025-03-30 08:21:00 +0200" {DATES} value="120"/>\n'
OPEN = '<?xml version="1.0" encoding="UTF-8"?>\n<HealthData locale="en_DE">\n <ExportDate value="2025-04-06 08:15:00 +0200"/>\n'


def export(elements):
    return (OPEN + elements + "</HealthData>\n").encode()


WITHIN = f''' <Record type="HKQuantityTypeIdentifierHeartRate" sourceName="A &amp; B&#8217;s Watch" unit="count/min" {DATES} value="61.5"
   device="&lt;&lt;HKDevice: 0x28&gt;, name:Watch, hardware:Watch6,2&gt;">
  <MetadataEntry key="HKMetadataKeyHeartRateMotionContext" value="1"/>
 </Record>
 <Record type="HKQuantityTypeIdentifierHeartRateVariabilitySDNN" sourceName="Watch" unit="ms" {DATES} value="41.2">
  <HeartRateVariabilityMetadataList>
   <InstantaneousBeatsPerMinute bpm="61" time="8:15:01.23 AM"/>
  </HeartRateVariabilityMetadataList>
 </Record>
 <Record type="HKCategoryTypeIdentifierSleepAnalysis" sourceName="Watch" {DATES} value="HKCategoryValueSleepAnalysisAsleepREM"/>
 <Correlation type="HKCorrelationTypeIdentifierBloodPressure" sourceName="Cuff" {DATES}>
  <MetadataEntry key="note" value="left arm"/>
  <Record type="HKQuantityTypeIdentifierBloodPressureSystolic" sourceName="Cuff" unit="mmHg" {DATES} value="121"/>
  <Record type="HKQuantityTypeIdentifierBloodPressureDiastolic" sourceName="Cuff" unit="mmHg" {DATES} value="79"/>
 </Correlation>
'''
WORKOUT = f''' <Workout workoutActivityType="HKWorkoutActivityTypeRunning" duration="30,5" durationUnit="min" totalDistance="5.1"
   totalDistanceUnit="km" sourceName="Watch" {DATES}>
  <WorkoutEvent type="HKWorkoutEventTypePause" date="2025-03-30 08:17:00 +0200"/>
  <WorkoutStatistics type="HKQuantityTypeIdentifierActiveEnergyBurned" {DATES} sum="310" unit="kcal"/>
  <WorkoutRoute sourceName="Watch" {DATES}><FileReference path="/workout-routes/route.gpx"/></WorkoutRoute>
 </Workout>
 <ActivitySummary dateComponents="2025-03-30" activeEnergyBurned="512.5" activeEnergyBurnedGoal="600" activeEnergyBurnedUnit="kcal"
   appleExerciseTime="31" appleStandHours="11"/>
'''
GPX = b'''<?xml version="1.0"?>
<gpx><trk><trkseg><trkpt lon="13.1" lat="52.5"><ele>34.1</ele><time>2025-03-30T06:15:00Z</time><extensions><speed>2.5</speed>
<course>90</course><hAcc>3</hAcc><vAcc>4</vAcc></extensions></trkpt></trkseg></trk></gpx>
'''
ECG = b'Name,\xe2\x80\x9eRobin\xe2\x80\x9c\nRecorded Date,2025-03-30 08:15:00 +0200\nClassification,Sinus Rhythm\nAverage Heart Rate,61 BPM\nSymptoms,\nSoftware Version,1.90\nDevice,"Watch6,2"\nSample Rate,512 hertz\n\nLead,Lead I\nUnit,\xc2\xb5V\n\n1.5\n-20.25\n3\n'

XML = {
    "record": export(RECORD),
    "within": export(WITHIN),
    "workout": export(WORKOUT),
    "torn": (OPEN + RECORD + RECORD[:70] + "\n" + RECORD + "</HealthData>").encode(),
    "odd-tags": b'<HealthData><Record a="1" a="2"/><Record type=x><!-- c --><![CDATA[ t ]]><?p i?><b/></Record></Other></HealthData>',
    "odd-text": b'<HealthData>text &amp; &bad; &#x1F600; &#0; \xff\xc3<Record type="&quot;&#10;\'" value=\'"\'>t</Record>\x00</HealthData>',
    "many-open-tags": repeated(b"<HealthData>", b"<a "),
    "many-quotes": repeated(b"<HealthData>", b'<a b="'),
    "many-comments": repeated(b"<HealthData>", b"<!-- "),
    "many-instructions": repeated(b"<HealthData>", b"<?p <![CDATA["),
    "many-ends": repeated(b"<HealthData>", b"</a>"),
    "many-references": repeated(b"<HealthData>", b"&#1;"),
    "many-records": repeated(OPEN.encode(), RECORD.encode()),
    "many-lines-of-damage": repeated(b"<HealthData>", b"<=>\n"),
    "many-lines-of-comments": repeated(b"<HealthData>", b"<!-- >\n"),
    "deep": repeated(b"<HealthData>", b"<Workout>"),
    "long-attribute": repeated(b'<HealthData><Record type="', b"x&amp;"),
}
EXPORT = dict(
    XML, **{
        "route": b"@apple_health_export/workout-routes/route.gpx\n" + GPX,
        "ecg": b"@apple_health_export/electrocardiograms/ecg_2025-03-30.csv\n" + ECG,
        "clinical": b'@apple_health_export/clinical-records/Observation.json\n{"resourceType": "Observation", "id": "1"}',
        "picture": b"@apple_health_export/attachments/a.png\n\x89PNG\r\n\x1a\n0000",
        "many-points": repeated(b"@apple_health_export/workout-routes/r.gpx\n<gpx>", GPX[GPX.find(b"<trkpt"):GPX.find(b"</trkseg>")]),
        "many-voltages": repeated(b"@electrocardiograms/e.csv\n" + ECG[:190], b"-20.25\n"),
        "many-entries": repeated(
            f'{OPEN} <Record type="{STEPS}" sourceName="P" unit="count" {DATES} value="1">'.encode()[-255:], b'<MetadataEntry key="k" value="v"/>'),
        "many-comments-first": repeated(b"<!DOCTYPE HealthData [", b"<!-- x"),
        "head-only": b"<!DOCTYPE HealthData [\n<!ELEMENT HealthData (Record*)>\n]>\n",
    })
for name in ("many-open-tags", "many-quotes"):
    EXPORT[name] = XML[name]

HEAD = {"store": "s", "generation": "g", "sequence": 12}
PAGE = {
    "types": [STEPS], "origins": [["Watch", "11.3", "Watch6,2", "name:Watch"]], "id": bytes(range(32)), "seq": int64s(3, 4),
    "type": int32s(0, 0), "start": int64s(1_741_564_800_000_000, 1_741_564_860_000_000),
    "end": int64s(1_741_564_850_000_000, 1_741_564_910_000_000), "value": doubles(12.0, 0.5), "origin": int32s(0, 0),
    "flags": bytes8(0, 1), "units": ["count"], "unit": int32s(0, 0),
    "metadata": {"bytes": b'{"a":1}', "ends": int32s(7, 7)}, "uuid": bytes(range(16)) + bytes(16),
}
PART = {
    "id": "r", "part": 0, "user": "me", "device": "phone", "way": "/v1/samples", "last": True,
    "quarantined": [{"item": 2, "reason": "why", "raw": "{}"}], "deleted": bytes(16),
    "records": {key: PAGE[key] for key in ("types", "units", "origins", "type", "start", "end", "value", "unit", "origin", "flags", "metadata", "uuid")}
    | {"created": int64s(0, 5), "item": int64s(1, 1)},
}
CBOR = {
    "scalars": cbor([0, 23, 24, 255, 65536, -1, -(1 << 63), (1 << 63) - 1, 0.5, float("inf"), "\u00e9", b"x", None, True, {}]),
    "half-and-nan": b"\x83\xf9\x3c\x00\xf9\x7e\x00\xfa\x7f\xc0\x00\x01",
    "columns": cbor([int64s(1, -1), int32s(), doubles(1.5), bytes8(1, 2)]),
    "unknown-tag": b"\xc1\x1a\x00\x00\x00\x01",
    "indefinite": b"\x9f\x01\xff",
    "lies-about-length": b"\x9b\x7f\xff\xff\xff\xff\xff\xff\xff",
    "header": cbor({"from": "observer", "at": 1_741_564_800_000_000, "v": [1, 0], "new": [1]}),
    "heartbeat": cbor({
        "plugin": "steps", "phase": "ready", "pid": 12, "epoch": 3, "head": HEAD, "heads": {STEPS: 9}, "frontier": {"observer": 12},
        "memory": 1 << 20, "cpu": 100, "turns": {"count": 2, "busy": 30}, "details": {"pending": 3, "other": "x"}}),
    "sync": cbor({"head": HEAD, "released": {"base": 5, "types": {STEPS: 3}}}),
    "pull": cbor({"id": 1, "attempt": 0, "query": "samples", "types": {"include": [STEPS]}, "after": HEAD, "until": {"base": 12, "types": {}}}),
    "slice": cbor({"query": "slice", "user": "me", "types": [STEPS], "from": 0, "to": 9, "asOf": 3}),
    "changes": cbor({
        "id": 1, "attempt": 0, "producer": "p", "head": HEAD, "part": 0, "last": True, "from": 0, "through": 12,
        "rows": [{"seq": 3, "key": "figures/me/2025-04-05", "topic": "figures.steps", "user": "me", "day": 20183,
                  "body": {"figures": {"steps": 5.5}, "hourly": {"steps": [1.5, None]}}}]}),
    "samples": cbor({"id": 1, "attempt": 0, "head": HEAD, "part": 0, "last": True, "from": 0, "through": 12, "samples": PAGE}),
    "part": cbor(PART),
    "receipt": cbor({"id": "r", "part": 0, "outcomes": b"\x00\x01", "reasons": [{"row": 1, "text": "why"}]}),
    "delivery": cbor({
        "userId": "me", "deviceId": "phone", "syncedAt": 1_741_564_800_000_000, "samples": PAGE,
        "deleted": {"id": bytes(16), "seq": int64s(7)}}),
    "deep": repeated(b"", b"\x81"),
    "many-items": repeated(b"\x9a\x00\x02\x00\x00", b"\x01"),
    "many-members": repeated(b"\xba\x00\x00\xff\xff", b"\x61a\x00"),
}

JSON = {
    "numbers": b'[0,-0,1.0,1e2,-1.5E-7,123456789012345678901234567890,9007199254740993,9223372036854775807,-9223372036854775808,1e400,0.1e-400]',
    "texts": b'["", "\\u00e9\\ud83d\\ude00\\ud800x\\n\\/", "long enough for eight bytes at once \\" \\\\", "\xc3\xa9"]',
    "object": b'{"b": {"x": [1, 2, {}]}, "a": null, "ab": true, "abc": false, "": "x"}',
    "repeated-keys": b'{"k":1,"k":22,"j":{"k":3}}',
    "space": b' \t\r\n{ "a" : [ ] } \n',
    "cut": b'{"a": [1, 2, "b',
    "deep": repeated(b"", b"["),
    "deep-objects": repeated(b"", b'{"a":'),
    "many-elements": repeated(b"[1", b",1"),
    "many-members": repeated(b'{"a":1', b',"b":2'),
    "long-text": repeated(b'["', b"\\u0041"),
    "long-number": repeated(b"[1.", b"0"),
}

SAMPLE = {
    "uuid": "01977F3A-5C00-8ABC-9DEF-0123456789AB", "type": "HKQuantityTypeIdentifierDistanceWalkingRunning",
    "start": "2025-03-30T07:00:00+02:00", "end": "2025-03-30T07:10:00.250+02:00", "value": 0.129867, "unit": "km",
    "source": {"name": "Robin\u2019s Watch", "version": "11.3", "productType": "Watch6,2"}, "device": "name:Watch",
    "metadata": {"HKWasUserEntered": 1}}
SLEEP = {"type": "HKCategoryTypeIdentifierSleepAnalysis", "start": 1741564800, "end": 1741565800, "value": "asleepREM", "source": "Watch"}
RUN = {
    "type": "HKWorkoutType", "start": 1741564800, "end": 1741566600, "activity": "running", "duration": 1800,
    "distance": {"value": 5.1, "unit": "km"}, "energy": {"value": 310, "unit": "kcal"}, "source": "Watch"}
PRESSURE = {
    "type": "HKCorrelationTypeIdentifierBloodPressure", "start": 1741564800, "end": 1741564800, "source": "Cuff",
    "samples": [{"type": "HKQuantityTypeIdentifierBloodPressureSystolic", "value": 121, "unit": "mmHg", "start": 1741564800, "end": 1741564800}]}


def text(value):
    return json.dumps(value, ensure_ascii=False).encode()


def posted(**parts):
    return text({"data": parts})


WHEN = "2025-03-30 08:00:00 +0200"
PUSH = {
    "samples": text({"samples": [SAMPLE, SLEEP, RUN, PRESSURE], "deleted": [SAMPLE["uuid"], {"uuid": SAMPLE["uuid"]}], "user": "me"}),
    "lines": b"\n".join(map(text, [SAMPLE, SLEEP, {"deleted": SAMPLE["uuid"]}, 5])),
    "not-samples": text({"samples": [1, "x", None, {}, [], {"type": STEPS}], "deleted": [1, {}]}),
    "quantities": posted(metrics=[
        {"name": "step_count", "units": "count", "data": [{"qty": 120, "date": WHEN, "source": "Phone|Watch"}]},
        {"name": "heart_rate", "units": "count/min", "data": [{"Min": 50, "Avg": 61.5, "Max": 90, "date": WHEN}]},
        {"name": "blood_pressure", "units": "mmHg", "data": [{"systolic": 121, "diastolic": 79, "date": WHEN}]}]),
    "sleep": posted(metrics=[{"name": "sleep_analysis", "units": "hr", "data": [
        {"startDate": WHEN, "endDate": "2025-03-30 09:00:00 +0200", "value": "REM", "qty": 1, "source": "Watch"},
        {"date": WHEN, "asleep": 7.1, "deep": 1.2, "rem": 1.5, "core": 4.4, "awake": 0.2, "inBed": 7.6, "sleepStart": WHEN,
         "sleepEnd": "2025-03-30 15:00:00 +0200", "inBedStart": WHEN, "inBedEnd": "2025-03-30 15:00:00 +0200"}]}]),
    "workout": posted(workouts=[{
        "id": SAMPLE["uuid"], "name": "Outdoor Run", "start": WHEN, "end": "2025-03-30 08:30:00 +0200", "duration": 1800,
        "distance": {"qty": 5.1, "units": "km"}, "activeEnergyBurned": {"qty": 310, "units": "kcal"},
        "heartRateData": [{"Min": 90, "Avg": 120, "Max": 150, "date": WHEN, "units": "bpm", "source": "Watch"}],
        "route": [{"latitude": 52.5, "longitude": 13.1, "altitude": 34, "timestamp": WHEN, "speed": 2.5}]}]),
    "events": posted(
        symptoms=[{"name": "Headache", "severity": "Mild", "start": WHEN, "end": WHEN, "userEntered": True, "source": "Phone"}],
        cycleTracking=[{"name": "Menstrual Flow", "value": "Light", "start": WHEN, "end": WHEN, "isCycleStart": True}],
        ecg=[{"start": WHEN, "end": WHEN, "classification": "Sinus Rhythm", "averageHeartRate": 61, "samplingFrequency": 512,
              "numberOfVoltageMeasurements": 1, "voltageMeasurements": [{"date": WHEN, "voltage": 1.5, "units": "mcV"}]}],
        heartRateNotifications=[{"start": WHEN, "end": WHEN, "threshold": 120, "heartRate": [{"hr": 125, "units": "bpm", "timestamp": {"start": WHEN, "end": WHEN}}]}],
        stateOfMind=[{"id": SAMPLE["uuid"], "start": WHEN, "end": WHEN, "kind": "momentary_emotion", "valence": 0.3, "labels": ["calm"], "associations": []}],
        medications=[{"displayText": "x", "start": WHEN, "end": None, "scheduledDate": WHEN, "status": "Taken", "dosage": 1}]),
    "dates": posted(metrics=[{"name": "weight_body_mass", "units": "lb", "data": [
        {"qty": 150, "date": "2025-03-30 8:00:00\u202fAM +0200"}, {"qty": "150", "date": "2025-03-30T06:00:00Z"}, {"qty": 1e300, "date": ""}]}]),
    "unknown": posted(metrics=[{"name": "new_thing", "units": "x", "data": [{"qty": 1, "date": WHEN}, 5]}], news=[{"a": 1}], other=5),
    "many-samples": repeated(b'{"samples": [{}', b',{"type":"x","start":0,"end":1}'),
    "many-lines": repeated(b"", b'{"deleted": "x"}\n'),
    "many-entries": repeated(b'{"data":{"metrics":[{"name":"step_count","units":"count","data":[{}', b',{"qty":1,"date":"2025-03-30 08:00:00 +0200"}'),
    "many-metrics": repeated(b'{"data":{"metrics":[{}', b',{"name":"a","units":"b","data":[{}]}'),
    "deep": repeated(b'{"samples": ', b"["),
}


def main():
    for target, inputs in (("xml", XML), ("export", EXPORT), ("cbor", CBOR), ("json", JSON), ("push", PUSH)):
        folder = CORPUS / target
        folder.mkdir(parents=True, exist_ok=True)
        for old in folder.iterdir():
            if not old.name.startswith("found-"):
                old.unlink()
        for name, content in inputs.items():
            (folder / name).write_bytes(content)


if __name__ == "__main__":
    main()
