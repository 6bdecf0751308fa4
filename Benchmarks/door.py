"""Pushes samples to a stack's ingest, as a phone does."""

import http.client
import json
import queue
import threading
import time

from measure import Failed

START = 1_741_564_800  # a Monday in March 2025
NOON_AFTER = 1_743_933_600  # on the day after the exports' last


def body(first, count, start=START):
    """A request with samples that no other request has: each at its own second, with alternating values and types.
    - start: when sample 0 begins, in seconds since 1970."""
    kinds = [("HKQuantityTypeIdentifierStepCount", "count"), ("HKQuantityTypeIdentifierHeartRate", "count/min"),
             ("HKQuantityTypeIdentifierActiveEnergyBurned", "kcal")]
    samples = []
    for number in range(first, first + count):
        kind, unit = kinds[number % len(kinds)]
        samples.append({
            "uuid": f"01020304-0506-8708-9000-{number:012X}", "type": kind, "start": start + number, "end": start + number + 1,
            "value": 40 + number % 60, "unit": unit, "source": {"name": "Bench", "version": "1", "productType": "Watch6,2"}})
    return json.dumps({"samples": samples}).encode()


class Door:
    """The ingest of a running stack, and tokens for it."""

    def __init__(self, stack):
        self.stack, self.port, self.tokens = stack, stack.ask("status")["ingest"]["port"], {}

    def token(self, user=None):
        """A user's token, created once; None means the user that imports go to."""
        if user not in self.tokens:
            words = ["--user", user] if user else []
            self.tokens[user] = self.stack.ask("token", "new", *words)["token"]
        return self.tokens[user]

    def connect(self):
        return http.client.HTTPConnection("127.0.0.1", self.port, timeout=120)

    def push(self, connection, content, user=None):
        headers = {"Authorization": "Bearer " + self.token(user), "Content-Type": "application/json"}
        connection.request("POST", "/v1/samples", content, headers)
        response = connection.getresponse()
        answer = response.read()
        if response.status != 200:
            raise Failed(f"the ingest answers {response.status}: {answer[:200].decode(errors='replace')}")
        return answer

    def rate(self, bodies, count, clients):
        """Samples per second: sends all bodies over this many persistent connections, each once the one before it is answered."""
        self.token()
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
