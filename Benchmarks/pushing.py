"""Samples that are pushed over HTTP: how many a second are taken in and stored, and how soon one is at the backend."""

import http.client
import json
import os
import queue
import subprocess
import threading
import time

from live import WINDOW
from measure import Failed, median, percentile
from stack import STORE_ALONE, Stack

START = 1_741_564_800  # a Monday in March 2025


def body(first, count):
    """A request with samples that no other has: each a second of its own, values and types in turn."""
    kinds = [("HKQuantityTypeIdentifierStepCount", "count"), ("HKQuantityTypeIdentifierHeartRate", "count/min"),
             ("HKQuantityTypeIdentifierActiveEnergyBurned", "kcal")]
    samples = []
    for number in range(first, first + count):
        kind, unit = kinds[number % len(kinds)]
        samples.append({
            "uuid": f"01020304-0506-8708-9000-{number:012X}", "type": kind, "start": START + number, "end": START + number + 1,
            "value": 40 + number % 60, "unit": unit, "source": {"name": "Bench", "version": "1", "productType": "Watch6,2"}})
    return json.dumps({"samples": samples}).encode()


class Door:
    """The ingest of a stack that runs, and a token for it."""

    def __init__(self, stack):
        self.port = stack.ask("status")["ingest"]["port"]
        told = subprocess.run(
            [stack.healthbus, "token", "new", "--state", stack.state], env=stack.environment, capture_output=True, text=True)
        if told.returncode != 0:
            raise Failed(f"'healthbus token new' ended with {told.returncode}: {told.stderr.strip()}")
        self.headers = {"Authorization": "Bearer " + told.stdout.strip(), "Content-Type": "application/json"}

    def connect(self):
        return http.client.HTTPConnection("127.0.0.1", self.port, timeout=120)

    def push(self, connection, content):
        connection.request("POST", "/v1/samples", content, self.headers)
        response = connection.getresponse()
        answer = response.read()
        if response.status != 200:
            raise Failed(f"the ingest answers {response.status}: {answer[:200].decode(errors='replace')}")
        return answer

    def rate(self, bodies, count, clients):
        """Samples a second: all bodies, over so many connections that are kept; each is sent when the one before it is answered."""
        waiting, problems = queue.SimpleQueue(), []
        for content in bodies:
            waiting.put(content)

        def send():
            connection = self.connect()
            try:
                while True:
                    answer = self.push(connection, waiting.get_nowait())
                    if b'"added":%d,' % count not in answer:
                        raise Failed("samples that should be new were not")
            except queue.Empty:
                pass
            except (Failed, OSError, http.client.HTTPException) as problem:
                problems.append(problem)
            finally:
                connection.close()

        threads = [threading.Thread(target=send) for _ in range(clients)]
        begin = time.monotonic()
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        seconds = time.monotonic() - begin
        if problems:
            raise problems[0]
        return len(bodies) * count / seconds


class Pushed:
    """The ingest alone with the store, and a whole stack."""

    name = "push"
    SHAPES = [(1000, 4), (1000, 20), (5000, 4), (5000, 20)]  # samples a request, clients

    def __init__(self, context):
        self.context, self.report, self.size = context, context.report, context.size

    def measure(self):
        for row, part in ((self.report["ingest-rate"], self._rate), (self.report["ingest-one"], self._one)):
            try:
                part()
            except (Failed, OSError, http.client.HTTPException) as problem:
                row.why = str(problem) or type(problem).__name__

    def _rate(self):
        config = os.path.join(self.context.scratch, "store-alone.json")
        raw, sent = {}, 0
        instances = {**STORE_ALONE["instances"], "ingest": {"configuration": {"requestsPerMinute": 1_000_000}}}
        with open(config, "w") as file:
            json.dump({"instances": instances}, file)
        with Stack(self.context.healthbus, self.context.folder("pushed"), more=["--config", config]) as stack:
            door = Door(stack)
            for count, clients in self.SHAPES:
                rates = []
                for number in range(self.size["rounds"]):
                    self.context.say(f"pushing by {clients} clients, {count} samples a request, round {number + 1}")
                    requests = max(clients, self.size["pushed"] // count)
                    bodies = [body(sent + request * count, count) for request in range(requests)]
                    sent += requests * count
                    rates.append(round(door.rate(bodies, count, clients)))
                raw[f"{count} by {clients}"] = rates
            self.context.seen(stack.peaks())
        rates = {shape: median(found) for shape, found in raw.items()}
        slowest = min(rates, key=rates.get)
        self.report["ingest-rate"].set(
            rates[slowest] / 1000, "POST /v1/samples", raw,
            f"acknowledged, with ingest, hub and observer alone; the slowest of samples a request by clients: {slowest}; "
            + ", ".join(f"{shape}: {rate:,.0f}/s" for shape, rate in rates.items()))

    def _one(self):
        raw = []
        with Stack(self.context.healthbus, self.context.folder("pushed-one")) as stack:
            door = Door(stack)
            stack.until_backend_rests(quiet=2)
            connection = door.connect()
            for number in range(self.size["samples"]):
                self.context.say(f"pushed sample {number + 1} of {self.size['samples']}")
                begin = time.monotonic()
                door.push(connection, body(number * 60, 1))
                answered = time.monotonic()
                seen = stack.until_backend_has(number + 1, within=30)
                raw.append({"beyond": round(seen - begin - WINDOW, 4), "answered": round(answered - begin, 4)})
            connection.close()
            self.context.seen(stack.peaks())
        worst = {key: percentile([entry[key] for entry in raw], 99) * 1000 for key in ("beyond", "answered")}
        middle = {key: median([entry[key] for entry in raw]) * 1000 for key in ("beyond", "answered")}
        self.report["ingest-one"].set(
            worst["beyond"], "POST /v1/samples", raw,
            f"{len(raw)} samples; median {middle['beyond']:.0f}; acknowledged after {middle['answered']:.1f} ms, p99 {worst['answered']:.1f}",
            median=middle["beyond"])
