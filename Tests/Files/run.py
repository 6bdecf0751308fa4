#!/usr/bin/env python3
"""Reads a stack's files unchanged with DuckDB and pandas, and compares them with the stack's own figures:
run.py <folder of the programs>."""

import glob
import hashlib
import json
import os
import pathlib
import shutil
import socket
import subprocess
import sys
import tempfile

import duckdb
import pandas

ROOT = pathlib.Path(__file__).resolve().parents[2]
STEPS = "HKQuantityTypeIdentifierStepCount"
# The figures in the summaries, and the columns for them.
FIGURES = {
    ("steps",): "steps", ("distanceMeters",): "distance_meters", ("heartRate", "average"): "heart_rate_average",
    ("heartRate", "resting"): "heart_rate_resting", ("sleep", "asleepMinutes"): "sleep_asleep_minutes",
    ("bodyMassKilograms",): "body_mass_kilograms", ("activeEnergyKilocalories",): "active_energy_kilocalories",
}


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return str(probe.getsockname()[1])


def same(what, found, wanted):
    if found is None or abs(found - wanted) > 1e-6 * max(1, abs(wanted)):
        sys.exit(f"{what}: {found}, but it is {wanted}")
    print(f"{what}: {found}")


def figure(day, path):
    for name in path:
        day = (day or {}).get(name)
    return day or 0


def listed(lake):
    """The manifest; checks that its checksums are those of the files."""
    manifest = json.loads(pathlib.Path(lake, "manifest.json").read_text())
    if not manifest["complete"]:
        sys.exit("the manifest isn't complete")
    for entry in manifest["files"]:
        if hashlib.sha256(pathlib.Path(lake, entry["path"]).read_bytes()).hexdigest() != entry["sha256"]:
            sys.exit(f"{entry['path']} isn't as the manifest says")
    return manifest


def read(lake, suffix, days, samples):
    """Runs the same queries in both programs, without declaring the columns' types."""
    manifest = listed(lake)
    same(f"{suffix}: samples by the manifest", sum(e["rows"] for e in manifest["files"] if "/samples/" in e["path"]), samples)
    database = duckdb.connect()

    def ask(query):
        return database.sql(query).fetchall()[0]

    all_samples = f"'{lake}/user=*/samples/*/*.{suffix}'"
    count, total = ask(f"SELECT count(*), sum(value) FROM {all_samples}")
    same(f"{suffix}: samples in DuckDB", count, samples)
    frames = {"csv": lambda path, **more: pandas.read_csv(path, **more), "ndjson": lambda path, **_: pandas.read_json(path, lines=True)}
    every = pandas.concat(frames[suffix](path) for path in glob.glob(f"{lake}/user=*/samples/*/*.{suffix}"))
    same(f"{suffix}: samples in pandas", len(every), samples)
    same(f"{suffix}: sum of all values in both", float(every["value"].sum()), float(total))
    steps = ask(f"SELECT sum(value) FROM '{lake}/user=*/samples/type={STEPS}/*.{suffix}'")[0]
    same(f"{suffix}: steps of all sources in both", float(every[every["type"] == STEPS]["value"].sum()), float(steps))
    first = ask(f"SELECT min(start_date) = min(CAST(start_date AS TIMESTAMPTZ)) FROM {all_samples}")[0]
    if not first:
        sys.exit("dates aren't read as moments")
    if suffix == "csv":
        table = pandas.concat(pandas.read_csv(path) for path in glob.glob(f"{lake}/user=*/days/*.csv"))
        same("csv: days", len(table), len(days))
        for path, column in FIGURES.items():
            wanted = sum(figure(day, path) for day in days)
            same(f"csv: {column} in pandas", float(table[column].sum()), wanted)
            same(f"csv: {column} in DuckDB", float(ask(f"SELECT sum({column}) FROM '{lake}/user=*/days/*.csv'")[0]), wanted)
    else:
        wanted = sum(figure(day, ("steps",)) for day in days)
        same("ndjson: steps of the days", float(ask(f"SELECT sum(steps) FROM '{lake}/user=*/days/*.ndjson'")[0]), wanted)


def main(programs):
    healthbus = os.path.join(programs, "healthbus")
    # A short path, because the bus's sockets are in this folder.
    folder = tempfile.mkdtemp(prefix="hbf-", dir="/tmp")
    try:
        state = os.path.join(folder, "s")
        environment = dict(
            os.environ, HEALTHBUS_BACKEND_PORT=free_port(), HEALTHBUS_INGEST_PORT=free_port(), HEALTHBUS_DASHBOARD_PORT="0", HEALTHBUS_CONFIG="",
            HEALTHBUS_STATE=state, HEALTHBUS_FILES_FOLDER="")
        configuration = os.path.join(folder, "stack.json")
        lines = {"plugin": "files", "configuration": {"format": "ndjson", "by": "day", "folder": os.path.join(folder, "lines")}}
        with open(configuration, "w") as file:
            json.dump({"instances": {"files": {"plugin": "files"}, "lines": lines}}, file)

        def run(*words):
            ended = subprocess.run([healthbus, *words], env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True)
            if ended.returncode != 0:
                sys.exit(f"healthbus {' '.join(words)}: {ended.stderr[-3000:]}")
            return ended.stdout

        export = os.path.join(folder, "export.zip")
        run("generate", "-o", export, "--days", "45", "--seed", "7")
        run("up", "--config", configuration, "--zone", "Europe/Berlin", "--import", export, "--until-idle")
        days = json.loads(run("days", "--json", "--from", "1990-01-01"))
        types = json.loads(run("types", "--json"))
        samples = sum(each["samples"] for each in types if each["type"] != "HKWorkoutTypeIdentifier")
        read(os.path.join(state, "files", "data"), "csv", days, samples)
        read(os.path.join(folder, "lines"), "ndjson", days, samples)
        print("DuckDB and pandas read the files as they are.")
    finally:
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(sys.argv[1])
