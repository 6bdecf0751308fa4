#!/usr/bin/env python3
"""Tries a running stack's ingest against docs/openapi-ingest.json: run.py <folder of the programs>."""

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
# Beside what is checked by itself: an item that isn't one is kept apart and answered 200, so a body that isn't as described may be taken.
LEFT_OUT = "negative_data_rejection,positive_data_acceptance"


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def main(programs):
    healthbus = os.path.join(programs, "healthbus")
    tester = pathlib.Path(sys.executable).parent / "schemathesis"
    # Short: the bus's sockets lie in it.
    folder = tempfile.mkdtemp(prefix="hbc-", dir="/tmp")
    state = os.path.join(folder, "s")
    port = free_port()
    environment = dict(
        os.environ, HEALTHBUS_BACKEND_PORT=str(free_port()), HEALTHBUS_INGEST_PORT=str(port), HEALTHBUS_CONFIG="",
        HEALTHBUS_STATE=state)
    configuration = os.path.join(folder, "contract.json")
    with open(configuration, "w") as file:
        file.write('{ "instances": { "ingest": { "configuration": { "requestsPerMinute": 1000000 } } } }')
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
                [healthbus, "token", "new"], env=environment, check=True, capture_output=True, text=True).stdout.strip()
            command = [
                str(tester), "run", str(ROOT / "docs/openapi-ingest.json"), "--url", f"http://127.0.0.1:{port}",
                "--header", f"Authorization: Bearer {token}", "--checks", "all", "--exclude-checks", LEFT_OUT,
                "--max-examples", os.environ.get("HEALTHBUS_CONTRACT_EXAMPLES", "40"), "--phases", "examples,coverage,fuzzing",
                "--workers", "2", "--generation-deterministic", "--no-color"]
            failed = subprocess.run(command, cwd=folder, stdin=subprocess.DEVNULL).returncode
            if stack.poll() is not None:
                sys.exit("the stack has ended:\n" + pathlib.Path(log.name).read_text()[-3000:])
        finally:
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
