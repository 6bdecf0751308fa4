#!/usr/bin/env python3
"""Tries a running stack's ingest, backend and changes against their OpenAPI documents: run.py <folder of the programs>."""

import os
import pathlib
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
SECRET = "contract-0123456789abcdef"
# For paths that take elements, the answer names an invalid element without failing the others. A body that breaks the
# schema may therefore be accepted, and one that fits it may contain only invalid elements.
BRINGS = ["--exclude-checks", "negative_data_rejection,positive_data_acceptance"]
# Once an address has shown no token, or a wrong one, twenty times, only valid tokens from it are considered. The paths
# above use up those tries, so these can't be tried without a token; but all share the code that refuses such requests.
OWN = ["--exclude-checks", "negative_data_rejection,positive_data_acceptance,ignored_auth,missing_required_header",
       "--include-path-regex", "^/v1/(events|types|life-dashboard|lines)|^/api/"]
# Paths that answer queries. No schema can require that a zone is a name in the tz database. Also, these two ignore
# unknown parameters, since a newer healthbus may ask an older backend for more.
ASKS = """
[parameters]
zone = "Europe/Berlin"

[[operations]]
include-path-regex = "/(versions|stats)$"
checks.negative_data_rejection.enabled = false
"""
# No schema can require that a cursor came from the store, or know who owns a token. Also, a newer stack may send
# parameters that this one doesn't know.
FOLLOWS = ["--exclude-checks", "negative_data_rejection,positive_data_acceptance"]
EXAMPLES = os.environ.get("HEALTHBUS_CONTRACT_EXAMPLES", "40")


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def hold(document, port, token, folder, configuration, *more):
    """Starts comparing a port's answers with an OpenAPI document; returns the process and the file for its output."""
    tester = pathlib.Path(sys.executable).parent / "schemathesis"
    os.makedirs(folder)
    with open(os.path.join(folder, "schemathesis.toml"), "w") as file:
        file.write(configuration)
    # Only one worker: CPython 3.11's parser sometimes fails when there are several threads.
    command = [
        str(tester), "run", str(ROOT / "docs" / document), "--url", f"http://127.0.0.1:{port}",
        "--header", f"Authorization: Bearer {token}", "--checks", "all", "--max-examples", EXAMPLES,
        "--phases", "examples,coverage,fuzzing", "--workers", "1", "--generation-deterministic", "--no-color", *more]
    said = open(os.path.join(folder, "said"), "w+")
    return subprocess.Popen(command, cwd=folder, stdin=subprocess.DEVNULL, stdout=said, stderr=said), said


def finish(trials):
    """Waits for the trials, and prints what they say; returns 0 if none has failed."""
    failed = 0
    for trial, said in trials:
        failed |= trial.wait()
        said.seek(0)
        print(said.read(), flush=True)
    return failed


def main(programs):
    healthbus = os.path.join(programs, "healthbus")
    # A short path, because the bus's sockets are in this folder.
    folder = tempfile.mkdtemp(prefix="hbc-", dir="/tmp")
    state = os.path.join(folder, "s")
    ingest, backend, dashboard = free_port(), free_port(), free_port()
    environment = dict(
        os.environ, HEALTHBUS_BACKEND_PORT=str(backend), HEALTHBUS_BACKEND_TOKEN=SECRET, HEALTHBUS_INGEST_PORT=str(ingest),
        HEALTHBUS_DASHBOARD_PORT=str(dashboard),
        HEALTHBUS_CONFIG="", HEALTHBUS_STATE=state)
    configuration = os.path.join(folder, "contract.json")
    with open(configuration, "w") as file:
        file.write(
            '{ "instances": { "ingest": { "configuration": { "requestsPerMinute": 1000000 } },'
            ' "dashboard": { "configuration": { "open": false } } } }')
    trials = []
    with open(os.path.join(folder, "up.log"), "w+") as log:
        stack = subprocess.Popen(
            [healthbus, "up", "--config", configuration, "--zone", "Europe/Berlin"], env=environment, stdin=subprocess.DEVNULL,
            stdout=log, stderr=log)
        try:
            deadline = time.monotonic() + 60
            while "processes are ready" not in pathlib.Path(log.name).read_text():
                if stack.poll() is not None or time.monotonic() > deadline:
                    sys.exit("the stack doesn't start:\n" + pathlib.Path(log.name).read_text()[-3000:])
                time.sleep(0.05)
            token = subprocess.run(
                [healthbus, "token", "new", "--scope", "admin"], env=environment, check=True, capture_output=True,
                text=True).stdout.strip()
            reads = subprocess.run(
                [healthbus, "token", "new", "--scope", "read", "--user", "me"], env=environment, check=True, capture_output=True,
                text=True).stdout.strip()
            trials = [
                hold("openapi-changes.json", dashboard, reads, os.path.join(folder, "changes"), "", *FOLLOWS),
                hold("openapi-ingest.json", ingest, token, os.path.join(folder, "ingest"), "", *BRINGS, "--exclude-path-regex", OWN[-1]),
                hold(
                    "openapi.json", backend, SECRET, os.path.join(folder, "sync"), "", *BRINGS, "--include-path-regex", "/sync/"),
                hold(
                    "openapi.json", backend, SECRET, os.path.join(folder, "copy"), "", *FOLLOWS, "--include-path-regex",
                    "/changes$"),
                hold(
                    "openapi.json", backend, SECRET, os.path.join(folder, "questions"), ASKS, "--exclude-path-regex",
                    "/(sync/|changes$)")]
            failed = finish(trials)
            trials = [hold("openapi-ingest.json", ingest, token, os.path.join(folder, "own"), "", *OWN)]
            failed |= finish(trials)
            if stack.poll() is not None:
                sys.exit("the stack has ended:\n" + pathlib.Path(log.name).read_text()[-3000:])
        finally:
            for trial, said in trials:
                trial.kill()
                trial.wait()
                said.close()
            stack.send_signal(signal.SIGINT)
            try:
                stack.wait(30)
            except subprocess.TimeoutExpired:
                stack.kill()
            shutil.rmtree(folder, ignore_errors=True)
    sys.exit(failed)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(sys.argv[1])
