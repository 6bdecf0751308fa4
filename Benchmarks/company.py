#!/usr/bin/env python3
"""What all neighbours together cost the rest of the stack.

    Benchmarks/company.py <folder of the programs> [rounds]

Two stacks side by side: one as it comes, one that also delivers to PostgreSQL, to Home Assistant's MQTT broker, to a
FHIR server (Tests/FHIR/server.py) and to files, and that a third stack follows. They are fed in turn: at 2,000 samples
a second, then as fast as the door takes them. Compared are the samples per second that reach each one's own backend,
and the memory of the processes that both have. The other servers and the follower get only the processor time that is
left over, as if they were on another machine. Needs Debian's postgresql, mosquitto and mosquitto-clients. Linux only.
"""

import json
import os
import sys
import tempfile
import time

from counterparts import ELSEWHERE, TOKEN, Broker, FHIRServer, following
from door import Door
from feeding import fed
from measure import Failed, family, median, name, proportional_memory
from postgres import Server
from stack import Stack

RATE, SECONDS = 2000, 30
AT_ONCE = 100_000
NEIGHBOURS = {"healthbus-postgres", "healthbus-home-assistant", "healthbus-fhir", "healthbus-files"}
BUDGET = 5  # %


def rest_memory(stack):
    """Proportional memory of all processes that aren't neighbours, in bytes."""
    return sum(proportional_memory(pid) for pid in family(stack.process.pid) if name(pid) not in NEIGHBOURS)


def until_all_have(stack, server, follower, within=900):
    """Waits until the neighbours have what the stack's own backend has."""
    have, end = stack.stats()["samples"]["alive"], time.monotonic() + within
    while (server.number("SELECT count(*) FROM healthbus.samples WHERE NOT deleted") < have
           or follower.stats()["samples"]["alive"] < have
           or any(metric["pending"] for metric in stack.ask("status")["metrics"] if metric.get("pending"))):
        if time.monotonic() > end:
            raise Failed(f"the neighbours don't have all samples after {within} s")
        time.sleep(0.5)
    follower.until_backend_rests()


def compare(alone, full, server, follower, rounds):
    doors, first = {"alone": Door(alone), "with all": Door(full)}, 0
    stacks = {"alone": alone, "with all": full}
    for title, rate, count in ((f"{RATE:,} samples a second for {SECONDS} s", RATE, RATE * SECONDS),
                               (f"{AT_ONCE:,} samples as fast as the door takes them", 10**9, AT_ONCE)):
        rates, memory = {way: [] for way in stacks}, {way: [] for way in stacks}
        for _ in range(rounds):
            for way, stack in stacks.items():
                found, _ = fed(stack, doors[way], first, rate, count / rate)
                rates[way].append(found)
                memory[way].append(rest_memory(stack))
                stack.until_backend_rests(quiet=2)
                if way == "with all":
                    until_all_have(full, server, follower)
            first += count
        drop = (1 - median(rates["with all"]) / median(rates["alone"])) * 100
        more = (median(memory["with all"]) / median(memory["alone"]) - 1) * 100
        print(f"{title}, medians of {rounds} rounds:")
        for way in stacks:
            print(f"  {way:9} {median(rates[way]):8,.0f} a second at the backend, {median(memory[way]) / 1e6:4.0f} MB")
        print(f"  with all of them {drop:.1f} % less throughput, {more:.1f} % more memory (budget {BUDGET} each)", flush=True)


def main():
    healthbus = os.path.join(os.path.abspath(sys.argv[1]), "healthbus")
    rounds = int(sys.argv[2]) if len(sys.argv) > 2 else 3
    with tempfile.TemporaryDirectory(prefix="hbc-", dir="/tmp") as folder:
        server, broker, fhir = Server(ELSEWHERE), Broker(folder), FHIRServer()
        os.environ.update(HEALTHBUS_POSTGRES_URL=server.url, HEALTHBUS_FHIR_TOKEN=TOKEN)
        try:
            path = os.path.join(folder, "full.json")
            with open(path, "w") as file:
                json.dump({"instances": {
                    "postgres": {"plugin": "postgres"},
                    "home-assistant": {"plugin": "home-assistant", "configuration": {"broker": f"mqtt://127.0.0.1:{broker.port}"}},
                    "fhir": {"plugin": "fhir", "configuration": {"server": f"http://127.0.0.1:{fhir.port}/fhir"}},
                    "files": {"plugin": "files"}}}, file)
            with Stack(healthbus, os.path.join(folder, "alone")) as alone, \
                    Stack(healthbus, os.path.join(folder, "full"), more=["--config", path]) as full, \
                    Stack(healthbus, os.path.join(folder, "follower"), more=["--config", following(full, folder)], niceness=19) as follower:
                compare(alone, full, server, follower, rounds)
        finally:
            fhir.close()
            broker.close()
            server.close()


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    try:
        main()
    except Failed as problem:
        sys.exit(f"company: {problem}")
