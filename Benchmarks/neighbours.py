#!/usr/bin/env python3
"""How soon one corrected sample is corrected everywhere, and what else is sent.

    Benchmarks/neighbours.py <folder of the programs> [records] [rounds]

A store of ten years (3,650,000 records) delivers to the backend, to PostgreSQL, to an MQTT broker as Home Assistant's figures and to a small FHIR
server (Tests/FHIR/server.py; only what is dated in the last two weeks, because that server holds everything in memory), and a second stack follows
it. Then a sample of yesterday is corrected again and again, and each place is watched. Times are from the request's start and include the debouncer's
windows: one each. Needs Debian's postgresql, mosquitto and mosquitto-clients. Linux only.
"""

import datetime
import http.client
import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time

from door import Door
from exports import Exports
from measure import Failed, median
from postgres import Server
from stack import Stack, free_port

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
TOKEN = "a-token-of-this-measurement"


class Broker:
    """A broker of its own, and everything that arrives on our topics."""

    def __init__(self, folder):
        self.port, self.messages = free_port(), []
        config = os.path.join(folder, "mosquitto.conf")
        with open(config, "w") as file:
            file.write(f"listener {self.port} 127.0.0.1\nallow_anonymous true\nuser root\n")
        program = shutil.which("mosquitto") or "/usr/sbin/mosquitto"
        self.server = subprocess.Popen([program, "-c", config], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(0.5)
        self.client = subprocess.Popen(
            ["mosquitto_sub", "-p", str(self.port), "-v", "-t", "healthbus/#", "-t", "homeassistant/#"], stdout=subprocess.PIPE, text=True)
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self):
        for line in self.client.stdout:
            self.messages.append((time.monotonic(), line))

    def close(self):
        self.client.terminate()
        self.server.terminate()


class FHIRServer:
    def __init__(self):
        self.port = free_port()
        self.process = subprocess.Popen(
            [sys.executable, "-B", os.path.join(ROOT, "Tests", "FHIR", "server.py"), str(self.port), "1"],
            env={**os.environ, "HEALTHBUS_FHIR_TOKEN": TOKEN}, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def log(self, start=0):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        connection.request("GET", f"/log?from={start}")
        found = json.loads(connection.getresponse().read())
        connection.close()
        return found

    def close(self):
        self.process.kill()


def until(what, check, within=600, every=0.01):
    end = time.monotonic() + within
    while not (found := check()):
        if time.monotonic() > end:
            raise Failed(f"it doesn't come within {within} s: {what}")
        time.sleep(every)
    return found


def entry(door, token, method, path, content, headers=None):
    connection = http.client.HTTPConnection("127.0.0.1", door.port, timeout=60)
    connection.request(method, path, json.dumps(content), {
        "Authorization": "Bearer " + token, "Content-Type": "application/json", **(headers or {})})
    response = connection.getresponse()
    answer = response.read()
    connection.close()
    if response.status not in (200, 201):
        raise Failed(f"{method} {path}: {response.status} {answer[:300].decode(errors='replace')}")


def main():
    healthbus = os.path.join(os.path.abspath(sys.argv[1]), "healthbus")
    records = int(sys.argv[2]) if len(sys.argv) > 2 else 3_650_000
    rounds = int(sys.argv[3]) if len(sys.argv) > 3 else 20
    yesterday = datetime.date.today() - datetime.timedelta(days=1)
    exports = Exports(healthbus, os.path.join(ROOT, ".build", "bench", "exports"), lambda text: print(text, file=sys.stderr))
    export = exports.made(f"neighbours-{records}-{yesterday}", records, max(30, records // 1000), end=str(yesterday))
    with tempfile.TemporaryDirectory() as folder:
        server, broker, fhir = Server(), Broker(folder), FHIRServer()
        os.environ.update(HEALTHBUS_POSTGRES_URL=server.url, HEALTHBUS_FHIR_TOKEN=TOKEN)
        try:
            first = os.path.join(folder, "first.json")
            with open(first, "w") as file:
                json.dump({"instances": {
                    "postgres": {"plugin": "postgres"},
                    "home-assistant": {"plugin": "home-assistant", "configuration": {"broker": f"mqtt://127.0.0.1:{broker.port}"}},
                    "fhir": {"plugin": "fhir", "configuration": {
                        "server": f"http://127.0.0.1:{fhir.port}/fhir",
                        "deliverSince": str(yesterday - datetime.timedelta(days=14))}}}}, file)
            with Stack(healthbus, os.path.join(folder, "a"), more=["--config", first]) as a:
                watch(a, folder, healthbus, export, yesterday, server, broker, fhir, rounds)
        finally:
            fhir.close()
            broker.close()
            server.close()


def watch(a, folder, healthbus, export, yesterday, server, broker, fhir, rounds):
    begin = time.monotonic()
    a.ask("import", "--mix-made-up", export)
    a.until_backend_rests(within=1800)
    have = a.stats()["samples"]["alive"]
    until("PostgreSQL has it all", lambda: server.number("SELECT count(*) FROM healthbus.samples WHERE NOT deleted") >= have, 1800, 1)
    print(f"{have:,} samples everywhere after {time.monotonic() - begin:.0f} s")
    token = os.path.join(folder, "follow-token")
    with open(os.open(token, os.O_CREAT | os.O_WRONLY, 0o600), "w") as file:
        file.write(a.ask("token", "new", "--scope", "read")["token"])
    page = a.ask("status")["dashboard"]["port"] if "dashboard" in a.ask("status") else None
    if page is None:
        raise Failed("the status doesn't say where the dashboard is")
    second = os.path.join(folder, "second.json")
    with open(second, "w") as file:
        json.dump({"instances": {"ingest": {"configuration": {
            "followUrl": f"http://127.0.0.1:{page}", "followTokenFile": token}}}}, file)
    begin = time.monotonic()
    with Stack(healthbus, os.path.join(folder, "b"), more=["--config", second]) as b:
        until("the follower has it all", lambda: b.stats()["samples"]["alive"] >= have, 1800, 0.5)
        print(f"the follower has them after {time.monotonic() - begin:.0f} s")
        b.until_backend_rests(quiet=15, within=1800)
        door = Door(a)
        admin = a.ask("token", "new", "--scope", "admin")["token"]
        at = f"{yesterday}T11:00:00Z"
        entry(door, admin, "POST", "/v1/events", {
            "id": "corrected", "type": "HKQuantityTypeIdentifierDietaryWater", "start": at, "value": 100, "unit": "mL"})
        time.sleep(15)
        found = {"backend": [], "PostgreSQL": [], "MQTT": [], "FHIR": [], "follower": []}
        sent = {"PostgreSQL": set(), "MQTT": set(), "FHIR": set()}
        for number in range(rounds):
            value = 101 + number
            top = server.number("SELECT greatest((SELECT max(version) FROM healthbus.samples), 0)")
            days = server.number("SELECT count(*) FROM healthbus.documents")
            mark, log, sequence = len(broker.messages), len(fhir.log()), a.stats()["sequence"]
            begin = time.monotonic()
            entry(door, admin, "PATCH", "/v1/events/corrected", {"value": value}, {"If-Match": "*"})
            until("backend", lambda: a.stats()["sequence"] > sequence)
            found["backend"].append(time.monotonic() - begin)
            until("PostgreSQL", lambda: server.number(f"SELECT count(*) FROM healthbus.samples WHERE version > {top}"))
            found["PostgreSQL"].append(time.monotonic() - begin)
            until("FHIR", lambda: len(fhir.log(log)))
            found["FHIR"].append(time.monotonic() - begin)
            until("MQTT", lambda: any("/yesterday " in line for _, line in broker.messages[mark:]))
            found["MQTT"].append(broker.messages[mark][0] - begin)
            until("follower", lambda: b.ask(
                "days", "--from", str(yesterday), "--to", str(yesterday))[0].get("waterMilliliters") == value, every=0.05)
            found["follower"].append(time.monotonic() - begin)
            time.sleep(3)
            sent["PostgreSQL"].add((
                server.number(f"SELECT count(*) FROM healthbus.samples WHERE version > {top}"),
                server.number("SELECT count(*) FROM healthbus.documents") - days))
            sent["MQTT"].add(len(broker.messages) - mark)
            sent["FHIR"].add(tuple(sorted(" ".join(row[:2]) for row in fhir.log(log))))
        for place, times in found.items():
            print(f"{place:11} median {median(times):.2f} s, worst {max(times):.2f} s")
        for place, what in sent.items():
            print(f"sent to {place}: {sorted(what)}")


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    try:
        main()
    except Failed as problem:
        sys.exit(f"neighbours: {problem}")
