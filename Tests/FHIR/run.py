#!/usr/bin/env python3
"""Validates a made-up person's FHIR resources and Open mHealth data points, and what a faulty FHIR server holds in the
end: run.py <folder of the programs>.

The resources are read by the models of fhir.resources; the server is Tests/FHIR/server.py.
"""

import glob
import json
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
import zipfile

from fhir.resources.R4B.bundle import Bundle
from fhir.resources.R4B.observation import Observation

HERE = pathlib.Path(__file__).resolve().parent
WEIGHT = "HKQuantityTypeIdentifierBodyMass"
# What each Open mHealth schema requires of a body, and the units that it allows.
REQUIRED = {
    "step-count": ("step_count", {"steps"}, "interval"), "heart-rate": ("heart_rate", {"beats/min"}, "any"),
    "body-weight": ("body_weight", {"kg", "g", "lb"}, "any"), "body-height": ("body_height", {"m", "cm"}, "any"),
    "body-mass-index": ("body_mass_index", {"kg/m^2"}, "any"), "body-fat-percentage": ("body_fat_percentage", {"%"}, "any"),
    "oxygen-saturation": ("oxygen_saturation", {"%"}, "any"), "respiratory-rate": ("respiratory_rate", {"breaths/min"}, "any"),
    "body-temperature": ("body_temperature", {"C", "F", "K"}, "any"), "blood-glucose": ("blood_glucose", {"mg/dL", "mmol/L"}, "any"),
    "calories-burned": ("kcal_burned", {"kcal"}, "interval"), "sleep-duration": ("sleep_duration", {"sec", "min", "h"}, "interval"),
    "blood-pressure": ("systolic_blood_pressure", {"mmHg"}, "any"), "sleep-episode": (None, None, "interval"), "physical-activity": ("activity_name", None, "any"),
}
UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
MOMENT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z")


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return str(probe.getsockname()[1])


def check(holds, what):
    if not holds:
        sys.exit(f"wrong: {what}")
    print(f"  {what}")


def lines(folder, suffix):
    for path in sorted(glob.glob(f"{folder}/user=*/**/*.{suffix}", recursive=True)):
        for number, line in enumerate(pathlib.Path(path).read_text().splitlines(), 1):
            yield f"{path}:{number}", line


def key(resource):
    identifier = resource["identifier"][0]
    return identifier["system"], identifier["value"]


def validated(folder):
    """The resources in the files, by identifier; checks that the models of R4B allow each."""
    found = {}
    for place, line in lines(folder, "fhir.ndjson"):
        try:
            Observation.model_validate_json(line)
        except ValueError as error:
            sys.exit(f"wrong: {place}: {error}")
        resource = json.loads(line)
        if key(resource) in found:
            sys.exit(f"wrong: {place}: its identifier is used twice")
        found[key(resource)] = resource
    return found


def point_problem(point):
    """What an Open mHealth data point lacks; None if it is complete."""
    header, body = point.get("header", {}), point.get("body", {})
    schema = header.get("schema_id", {})
    if not UUID.fullmatch(header.get("id", "")) or not MOMENT.fullmatch(header.get("creation_date_time", "")):
        return "its header has no UUID, or no time"
    if schema.get("namespace") != "omh" or schema.get("name") not in REQUIRED or not re.fullmatch(r"\d+\.\d+", schema.get("version", "")):
        return f"it has no known schema: {schema}"
    if not header.get("acquisition_provenance", {}).get("source_name"):
        return "its provenance has no source"
    member, units, time_form = REQUIRED[schema["name"]]
    if member and member not in body:
        return f"its body has no {member}"
    if units and (body[member].get("unit") not in units or not isinstance(body[member].get("value"), (int, float))):
        return f"{member} is {body[member]}"
    frame = body.get("effective_time_frame", {})
    interval = frame.get("time_interval", {})
    is_interval = all(MOMENT.fullmatch(interval.get(name, "")) for name in ["start_date_time", "end_date_time"])
    if is_interval and interval["start_date_time"][:19] > interval["end_date_time"][:19]:
        return "it ends before it starts"
    if not is_interval and (time_form == "interval" or not MOMENT.fullmatch(frame.get("date_time", ""))):
        return f"its time is {frame}"
    return None


def points(folder):
    kinds, ids = {}, set()
    for place, line in lines(folder, "omh.ndjson"):
        point = json.loads(line)
        problem = point_problem(point)
        if problem:
            sys.exit(f"wrong: {place}: {problem}")
        if point["header"]["id"] in ids:
            sys.exit(f"wrong: {place}: its id is used twice")
        ids.add(point["header"]["id"])
        name = point["header"]["schema_id"]["name"]
        kinds[name] = kinds.get(name, 0) + 1
    return kinds


class Server:
    """The faulty server, as a separate process."""

    def __init__(self, folder, seed):
        self.port = free_port()
        environment = dict(os.environ, HEALTHBUS_FHIR_TOKEN="secret")
        self.errors = open(os.path.join(folder, f"server-{seed}.log"), "w")
        self.process = subprocess.Popen(
            [sys.executable, "-B", str(HERE / "server.py"), self.port, str(seed), "--wild", "60"], env=environment, stdout=subprocess.PIPE,
            stderr=self.errors, text=True)
        if "listening" not in self.process.stdout.readline():
            sys.exit("the FHIR server doesn't start")

    def get(self, path):
        with urllib.request.urlopen(f"http://127.0.0.1:{self.port}{path}", timeout=60) as answer:
            return json.load(answer)

    def observations(self):
        """By identifier, without the references to their Patient, and ids."""
        found = {}
        for each, row in self.held().items():
            if row["type"] == "Observation":
                resource = json.loads(json.dumps(row["resource"]))
                resource["subject"].pop("reference", None)
                found[each] = (resource.pop("id", None), resource)
        return found

    def held(self):
        return {(row["system"], row["value"]): row for row in self.get("/held")}

    def stop(self):
        self.process.kill()
        self.process.wait()
        self.errors.close()


def corrected(export, target):
    """Writes a later export in which one weight is different; returns its local date."""
    with zipfile.ZipFile(export) as old:
        name = next(name for name in old.namelist() if name.endswith("/export.xml"))
        text = old.read(name).decode()
        rest = {other: old.read(other) for other in old.namelist() if other != name and not other.endswith("/")}
    text = re.sub(r'<ExportDate value="[^"]*"', '<ExportDate value="2025-06-01 09:00:00 +0200"', text)
    records = [match for match in re.finditer(rf'<Record type="{WEIGHT}"[^>]*>', text) if re.search(r'startDate="\S+ (0[4-9]|1\d)', match.group())]
    record = records[len(records) // 2]
    value = re.search(r' value="([0-9.]+)"', record.group())
    new = record.group().replace(value.group(), f' value="{float(value.group(1)) + 1.5:.2f}"')
    text = text[:record.start()] + new + text[record.end():]
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as made:
        made.writestr(name, text)
        for other, content in rest.items():
            made.writestr(other, content)
    return re.search(r'startDate="(\S+) ', new).group(1)


def enriched(export):
    """Adds samples whose meaning is in their payload, in the form of an export."""
    def element(name, minute, attributes, inner=""):
        dates = " ".join(f'{member}="2025-03-10 08:{minute:02}:00 +0200"' for member in ["creationDate", "startDate", "endDate"])
        return f'<{name} sourceName="Health" {dates} {attributes}>{inner}</{name}>'

    added = [
        element("MedicationDoseEvent", 1, 'logStatus="taken" doseQuantity="1" displayText="Pill"'),
        element("MedicationDoseEvent", 2, 'logStatus="skipped" doseQuantity="1" displayText="Pill"'),
        element("MedicationDoseEvent", 3, 'doseQuantity="1"'),
        element("StateOfMind", 4, 'kind="dailyMood" valence="-0.4"', '<Label name="calm"/>'),
        element("Correlation", 5, 'type="HKCorrelationTypeIdentifierBloodPressure"', "".join(
            element("Record", 5, f'type="HKQuantityTypeIdentifierBloodPressure{name}" unit="mmHg" value="{value}"')
            for name, value in [("Systolic", 121), ("Diastolic", 79)])),
    ]
    with zipfile.ZipFile(export) as old:
        content = {name: old.read(name) for name in old.namelist() if not name.endswith("/")}
    with zipfile.ZipFile(export, "w", zipfile.ZIP_DEFLATED) as made:
        for name, bytes_ in content.items():
            if name.endswith("/export.xml"):
                bytes_ = bytes_.decode().replace("</HealthData>", "".join(added) + "</HealthData>").encode()
            made.writestr(name, bytes_)


def check_meanings(resources):
    """A skipped dose isn't a final one, and a blood pressure is one panel."""
    def coded(code):
        return [one for one in resources.values() if any(each["code"] == code for each in one["code"]["coding"])]

    doses = coded("HKMedicationDoseEventTypeIdentifierMedicationDoseEvent")
    check(sorted(one["status"] for one in doses) == ["cancelled", "final", "unknown"], "doses by what happened to them")
    check(sum(one["valueQuantity"]["value"] for one in doses if one["status"] == "final") == 1, "one dose was taken")
    check(len(coded("85354-9")) > 0 and not coded("8480-6") and not coded("8462-4"), "blood pressures are panels")


def compare(server, resources):
    """The server holds exactly the resources in the files; its Patient was created once, and they refer to it."""
    held = server.held()
    patients = {each: row for each, row in held.items() if row["type"] == "Patient"}
    check(list(patients) == [("https://clinic.example/mrn", "12")], "one Patient")
    observations = {each: row["resource"] for each, row in held.items() if row["type"] == "Observation"}
    check(server.get("/twins") == 0, "nothing is there twice, though the server made some so")
    check(set(observations) == set(resources), f"the server holds the {len(resources)} resources of the files")
    for each, resource in resources.items():
        own = json.loads(json.dumps(observations[each]))
        if not own["subject"].pop("reference").startswith("Patient/"):
            sys.exit(f"wrong: {each} refers to nobody")
        if own != resource:
            sys.exit(f"wrong: {each} is {own}, but in the file {resource}")
    print("  each as in its file")


def try_server(server, run, healthbus, configuration, environment, folder, export, resources):
    kinds = {system.rsplit(":", 1)[1] for system, _ in resources}
    check(kinds == {"sample", "day", "night", "workout"}, "samples, days, nights and workouts")
    compare(server, resources)
    faults = server.get("/faults")
    check(len(faults) > 10, f"the server misbehaved: {faults}")
    Bundle.model_validate(server.get("/last"))
    print("  a transaction is what R4B allows")
    up = subprocess.Popen(
        [healthbus, "up", "--config", configuration, "--zone", "Europe/Berlin"], env=environment, stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL, stderr=open(os.path.join(folder, "up.log"), "w"))
    try:
        log = pathlib.Path(folder, "up.log")
        deadline = time.monotonic() + 120
        while "processes are ready" not in log.read_text():
            if up.poll() is not None or time.monotonic() > deadline:
                sys.exit(f"healthbus up: {log.read_text()[-3000:]}")
            time.sleep(0.05)
        before = len(server.get("/log"))
        versions = {each: row["version"] for each, row in server.held().items()}
        first = min(value.split("/")[-1] for system, value in resources if system.endswith(":day"))
        run("replay", "fhir", "--from", first)
        run("sync")
        check(len(server.get("/log")) == before, "a repeat of everything changes nothing")
        check({each: row["version"] for each, row in server.held().items()} == versions, "and makes no version")

        newer = os.path.join(folder, "newer.zip")
        day = corrected(export, newer)
        begun = time.monotonic()
        run("import", "--complete", newer)
        while not any(entry[1].endswith(":day") for entry in server.get(f"/log?from={before}")):
            if time.monotonic() > begun + 120:
                sys.exit("the corrected sample's day didn't arrive")
            time.sleep(0.02)
        print(f"  the corrected day arrived {time.monotonic() - begun:.2f} s after the import began")
        run("sync")
        news = server.get(f"/log?from={before}")
        print(f"  {news}")
        samples = [entry for entry in news if entry[1].endswith(":sample")]
        days = {entry[2] for entry in news if entry[1].endswith(":day")}
        check(len(samples) + sum(entry[1].endswith(":day") for entry in news) == len(news), "nothing but samples and days")
        check([value.split("/")[1] for value in days] == [day] and all(value.startswith("12:") for value in days), f"only {day}")
        check(1 <= len(samples) <= 2 and [entry[0] for entry in samples].count("PUT") == 1, "only the corrected sample")
        deleted = [entry for entry in samples if entry[0] == "DELETE"]
        check(all(tuple(entry[1:]) not in server.held() for entry in deleted), "what it replaces is gone")
    finally:
        up.send_signal(signal.SIGINT)
        up.wait(60)


def main(programs):
    healthbus = os.path.join(programs, "healthbus")
    # A short path, because the bus's sockets are in this folder.
    folder = tempfile.mkdtemp(prefix="hbr-", dir="/tmp")
    server, byID = Server(folder, 3), Server(folder, 4)
    try:
        environment = dict(
            os.environ, HEALTHBUS_BACKEND_PORT=free_port(), HEALTHBUS_INGEST_PORT=free_port(), HEALTHBUS_DASHBOARD_PORT="0", HEALTHBUS_CONFIG="",
            HEALTHBUS_STATE=os.path.join(folder, "s"), HEALTHBUS_FILES_FOLDER="", HEALTHBUS_FHIR_TOKEN="secret", HEALTHBUS_FHIR_SERVER="")
        patients = {"me": "https://clinic.example/mrn|12"}

        def files(form, **more):
            return {"plugin": "files", "configuration": {"format": form, "folder": os.path.join(folder, form), **more}}

        configuration = os.path.join(folder, "stack.json")
        to_server = {
            "server": f"http://127.0.0.1:{server.port}/fhir", "patients": patients, "createPatients": True, "timeoutSeconds": 1,
            "retryBaseSeconds": 0.02, "retryCapSeconds": 0.2, "retryAfterCapSeconds": 1}
        # Another server for the same person, where the ids of resources come from healthbus.
        to_other = dict(to_server, server=f"http://127.0.0.1:{byID.port}/fhir", createPatients=False, ids="client")
        instances = {
            "resources": files("fhir", patients=patients), "points": files("open-mhealth"),
            "fhir": {"plugin": "fhir", "configuration": to_server}, "by-id": {"plugin": "fhir", "configuration": to_other}}
        with open(configuration, "w") as file:
            json.dump({"instances": instances}, file)
        # Commands and `up` must read the same configuration.
        environment["HEALTHBUS_CONFIG"] = configuration

        def run(*words):
            ended = subprocess.run([healthbus, *words], env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True)
            if ended.returncode != 0:
                sys.exit(f"healthbus {' '.join(words)}: {ended.stdout[-1000:]}{ended.stderr[-3000:]}")
            return ended.stdout

        export = os.path.join(folder, "export.zip")
        run("generate", "--unmarked", "-o", export, "--days", "30", "--seed", "7")
        enriched(export)
        run("up", "--config", configuration, "--zone", "Europe/Berlin", "--import", export, "--until-idle")
        resources = validated(os.path.join(folder, "fhir"))
        check(len(resources) > 1000, f"{len(resources)} resources are what R4B allows")
        check_meanings(resources)
        kinds = points(os.path.join(folder, "open-mhealth"))
        check({"step-count", "heart-rate", "body-weight", "blood-pressure", "sleep-episode", "physical-activity"} <= set(kinds), f"data points: {kinds}")
        held = byID.observations()
        check(all(UUID.fullmatch(id) for id, _ in held.values()), "with ids of healthbus: UUIDs")
        check({each: resource for each, (_, resource) in held.items()} == resources, "and the same resources")
        check(byID.get("/twins") == 0 and len(byID.get("/faults")) > 10, f"that server misbehaved too: {byID.get('/faults')}")
        try_server(server, run, healthbus, configuration, environment, folder, export, resources)
        print("The resources are FHIR's, and the server holds each once.")
    finally:
        server.stop()
        byID.stop()
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(sys.argv[1])
