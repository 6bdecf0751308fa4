"""Samples pushed over HTTP: how many per second are accepted and stored, and how soon one reaches the backend."""

import http.client
import json
import os
import time

from door import Door, body
from live import WINDOW
from measure import Failed, median, percentile
from stack import STORE_ALONE, Stack

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
