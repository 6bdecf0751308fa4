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
import sys
import tempfile
import time

from counterparts import TOKEN, Broker, FHIRServer, following
from door import Door
from exports import Exports
from measure import Failed, median
from postgres import Server
from stack import Stack

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


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
    second = following(a, folder)
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
