"""Samples sent to the reference backend as the uploader does: how many per second it accepts, as JSON and in
columns."""

import http.client
import json
import os
import queue
import signal
import struct
import subprocess
import threading
import time

from measure import Failed, median
from stack import environment, free_port

START = 1_741_564_800  # a Monday in March 2025
TOKEN = "a-token-of-the-benchmark"
TYPES = [("HKQuantityTypeIdentifierStepCount", "count"), ("HKQuantityTypeIdentifierHeartRate", "count/min"),
         ("HKQuantityTypeIdentifierActiveEnergyBurned", "kcal")]
METADATA = '{"HKMetadataKeyHeartRateMotionContext":1}'
AT_ONCE = 2  # requests, like the uploader


def sample_id(number):
    """An id in healthbus's form: the sample's time comes first, so that neighbours are stored together."""
    return struct.pack(">QQ", (START + number) * 1000 << 16 | 0x8ABC, 0x8000_0000_0000_0000 | number * 2654435761 % 2**62)


def text(id):
    digits = id.hex()
    return "-".join((digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:]))


def as_json(first, count):
    """A request as described in docs/backend.md, with every member."""
    def date(second):
        return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(second))
    samples = []
    for number in range(first, first + count):
        kind, unit = TYPES[number % 3]
        samples.append({
            "id": text(sample_id(number)), "healthkitUUID": None, "version": number + 1, "type": kind, "startDate": date(START + number),
            "endDate": date(START + number + 1), "value": 40 + number % 60, "unit": unit, "source": "Anna’s Apple Watch",
            "sourceType": "healthkit", "metadata": json.loads(METADATA) if number % 3 == 1 else None})
    return json.dumps({"userId": "bench", "deviceId": "bench", "syncedAt": date(START), "samples": samples, "deleted": []},
                      separators=(",", ":"), ensure_ascii=False).encode()


class CBOR:
    """The part of RFC 8949 and RFC 8746 that columns need."""

    @staticmethod
    def head(kind, number):
        for size, extra in ((">B", 24), (">H", 25), (">I", 26), (">Q", 27)):
            if number < 24:
                return bytes([kind << 5 | number])
            if number < 1 << 8 * struct.calcsize(size):
                return bytes([kind << 5 | extra]) + struct.pack(size, number)
        raise ValueError(number)

    @classmethod
    def of(cls, value):
        if isinstance(value, bytes):
            return cls.head(2, len(value)) + value
        if isinstance(value, str):
            return cls.head(3, len(value.encode())) + value.encode()
        if isinstance(value, int):
            return cls.head(0, value)
        if isinstance(value, list):
            return cls.head(4, len(value)) + b"".join(map(cls.of, value))
        if isinstance(value, dict):
            return cls.head(5, len(value)) + b"".join(cls.of(name) + cls.of(entry) for name, entry in value.items())
        tag, form, numbers = value
        return cls.head(6, tag) + cls.of(struct.pack(f"<{len(numbers)}{form}", *numbers))


def as_columns(first, count):
    """The same samples, in the form described in `Samples in columns`."""
    numbers = range(first, first + count)
    texts = [METADATA if number % 3 == 1 else "" for number in numbers]
    ends, end = [], 0
    for entry in texts:
        end += len(entry)
        ends.append(end)
    samples = {
        "types": [kind for kind, _ in TYPES], "units": [unit for _, unit in TYPES], "origins": [["Anna’s Apple Watch", "", "", ""]],
        "id": b"".join(map(sample_id, numbers)), "seq": (79, "q", [number + 1 for number in numbers]),
        "start": (79, "q", [(START + number) * 1_000_000 for number in numbers]),
        "end": (79, "q", [(START + number + 1) * 1_000_000 for number in numbers]),
        "value": (86, "d", [40 + number % 60 for number in numbers]), "type": (78, "i", [number % 3 for number in numbers]),
        "unit": (78, "i", [number % 3 for number in numbers]), "origin": (78, "i", [0] * count), "flags": (64, "B", [0] * count),
        "metadata": {"bytes": "".join(texts).encode(), "ends": (78, "i", ends)}}
    return CBOR.of({"userId": "bench", "deviceId": "bench", "syncedAt": START * 1_000_000, "samples": samples})


class Backend:
    """`healthbus run backend` on its own state folder."""

    def __init__(self, healthbus, state):
        self.port = free_port()
        self.process = subprocess.Popen(
            [healthbus, "run", "backend", "--state", state],
            env={**os.environ, **environment(self.port), "HEALTHBUS_BACKEND_TOKEN": TOKEN}, stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def __enter__(self):
        deadline = time.monotonic() + 30
        while True:
            try:
                self.ask("GET", "/api/v1/stats", None, "application/json", self.connect())
                return self
            except OSError:
                if self.process.poll() is not None or time.monotonic() > deadline:
                    self.__exit__()
                    raise Failed("the backend doesn't answer")
                time.sleep(0.02)

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        self.process.wait(30)

    def connect(self):
        return http.client.HTTPConnection("127.0.0.1", self.port, timeout=120)

    def ask(self, method, path, content, kind, connection):
        connection.request(method, path, content, {"Authorization": "Bearer " + TOKEN, "Content-Type": kind})
        response = connection.getresponse()
        answer = response.read()
        if response.status != 200:
            raise Failed(f"the backend answers {response.status}: {answer[:200].decode(errors='replace')}")
        return json.loads(answer)

    def rate(self, bodies, kind, count):
        """Samples per second: sends all bodies, two at a time; the next is sent once one is answered, which means that
        it is on disk."""
        waiting, problems = queue.SimpleQueue(), []
        for content in bodies:
            waiting.put(content)

        def send():
            connection = self.connect()
            try:
                while True:
                    answer = self.ask("POST", "/api/v1/sync/other", waiting.get_nowait(), kind, connection)
                    if answer["counts"]["created"] != count:
                        raise Failed("samples that should be new were not")
            except queue.Empty:
                pass
            except (Failed, OSError, http.client.HTTPException) as problem:
                problems.append(problem)
            finally:
                connection.close()

        threads = [threading.Thread(target=send) for _ in range(AT_ONCE)]
        begin = time.monotonic()
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        seconds = time.monotonic() - begin
        if problems:
            raise problems[0]
        return len(bodies) * count / seconds


class Received:
    """The reference backend alone."""

    name = "receive"
    FORMS = {"backend-rate": (as_json, "application/json", [500, 4096]),
             "backend-columns": (as_columns, "application/vnd.healthbus.columns+cbor", [500, 4096, 20_000])}

    def __init__(self, context):
        self.context, self.report, self.size = context, context.report, context.size

    def measure(self):
        for id, form in self.FORMS.items():
            row = self.report[id]
            try:
                self._rate(row, *form)
            except (Failed, OSError, http.client.HTTPException) as problem:
                row.why = str(problem) or type(problem).__name__

    def _rate(self, row, encode, kind, shapes):
        raw = {}
        for count in shapes:
            rates = []
            for number in range(self.size["rounds"]):
                self.context.say(f"sending {count} samples a request as {kind}, round {number + 1}")
                requests = max(2 * AT_ONCE, self.size["pushed"] // count)
                bodies = [encode(request * count, count) for request in range(requests)]
                with Backend(self.context.healthbus, self.context.folder("received")) as backend:
                    rates.append(round(backend.rate(bodies, kind, count)))
            raw[f"{count} a request"] = rates
        rates = {shape: median(found) for shape, found in raw.items()}
        slowest = min(rates, key=rates.get)
        row.set(
            rates[slowest] / 1000, "POST /api/v1/sync/other", raw,
            f"{AT_ONCE} requests at a time, each answered when it is on the disk; the slowest of " + ", ".join(
                f"{shape}: {rate:,.0f}/s" for shape, rate in rates.items()))
