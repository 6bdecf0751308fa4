#!/usr/bin/env python3
"""A backend that misbehaves as planned: server.py PORT FILE SEED [--plain]

Keeps rows as examples/backend-python does, whose code it uses, and answers requests for `stats`, `versions` and
elements honestly. What happens to the n-th request with elements follows from SEED and n: it is dropped before or after
its commit, delayed beyond the sender's patience, committed twice, half answered, or answered with any status and any
form of body. Elements with certain ids are refused for good, in every form that refusals have.

--plain: it never identifies its database, so it has to be trusted; then it never claims to have kept anything that it hasn't.
HEALTHBUS_BACKEND_TOKEN is the token. GET /api/v1/faults returns how often it did what, by name.
"""
import json, os, random, socket, sys, threading, time
from collections import Counter
from email.utils import formatdate
from http.server import ThreadingHTTPServer
from pathlib import Path
from urllib.parse import urlsplit

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "examples" / "backend-python"))
import server as example

# : One out of this many ids is refused for good.
POISON = 997
# : The number of requests after which the server behaves, except for refusals and a fault in one out of ten requests,
# so that the test ends.
WILD = int(os.environ.get("HEALTHBUS_FAULT_REQUESTS", "120"))
PATIENCE = float(os.environ.get("HEALTHBUS_FAULT_DELAY", "1.5"))
# : Statuses that stop delivery for 30 s, or until a person asks for it; each occurs a few times.
STOPS = [301, 302, 307, 308, 403, 404, 405, 410]


def is_poison(id):
    return isinstance(id, str) and int(id.replace("-", "")[-8:], 16) % POISON == 0


class Faulty(example.Handler):
    done, lock, number, last, deck = Counter(), threading.Lock(), 0, None, []

    def do_GET(self):
        if urlsplit(self.path).path == "/api/v1/faults":
            with Faulty.lock:
                return self.say(200, dict(Faulty.done))
        if plain and urlsplit(self.path).path == "/api/v1/stats":
            return self.say(404, {"error": "there is no such path"})
        super().do_GET()

    def do_POST(self):
        size = int(self.headers.get("Content-Length") or 0)
        fault, chance = self.draw()
        if fault == "cut-request":
            self.rfile.read(size // 2)
            return self.drop()
        body = self.rfile.read(size)
        if self.headers.get("Authorization") != f"Bearer {example.token}":
            return self.say(401, {"error": "the token is missing or wrong"})
        try:
            getattr(self, fault.replace("-", "_"))(body, chance)
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True

    def draw(self):
        with Faulty.lock:
            Faulty.number += 1
            chance, fault = random.Random(f"{seed} {Faulty.number}"), "well"
            if chance.random() < (0.6 if Faulty.number <= WILD else 0.1):
                # Each fault occurs once before any is repeated.
                Faulty.deck = Faulty.deck or chance.sample(faults, len(faults))
                fault = Faulty.deck.pop()
            # Two such answers in a row would count as a refused token, and delivery would wait until a person acts.
            if fault == "unauthorized" and Faulty.last == fault:
                fault = "well"
            Faulty.last = fault
            Faulty.done[fault] += 1
            return fault, chance

    # What the server does with the elements that it receives.

    def keep(self, body):
        """Stores a request's rows, except for the poison; returns the answer, and what is refused."""
        request, refused = json.loads(body), []
        for name, elements in request.items():
            if isinstance(elements, list):
                refused += [{"id": element["id"], "list": name, "index": index, "reason": "poison"}
                            for index, element in enumerate(elements) if is_poison(element.get("id"))]
                request[name] = [element for element in elements if not is_poison(element.get("id"))]
        answer = example.store.sync(urlsplit(self.path).path.removeprefix("/api/v1/sync/"), request)
        answer["refused"] += refused
        answer["counts"]["refused"] += len(refused)
        if plain:
            del answer["generation"], answer["sequence"]
        return answer, refused

    def drop(self):
        self.close_connection = True
        self.connection.shutdown(socket.SHUT_RDWR)

    def raw(self, status, text, kind="application/json", **headers):
        body = text.encode()
        self.send_response(status)
        for name, value in ({"Content-Type": kind, "Content-Length": str(len(body))} | headers).items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        self.wfile.write(body)

    # Correct answers, with refusals in any form that the uploader understands.

    def well(self, body, chance):
        answer, refused = self.keep(body)
        if refused:
            with Faulty.lock:
                Faulty.done["refused"] += 1
            form = chance.choice(["id", "bare", "place", "upper"])
            answer["refused"] = [
                {"id": {"id": one["id"], "reason": "poison"}, "bare": one["id"], "upper": {"id": one["id"].upper()},
                 "place": {"list": one["list"], "index": one["index"], "reason": "poison"}}[form] for one in refused]
        self.say(200, answer)

    def twice(self, body, chance):
        self.keep(body)
        self.well(body, chance)

    def late(self, body, chance):
        answer, _ = self.keep(body)
        time.sleep(PATIENCE)
        self.say(200, answer)

    def slow(self, body, chance):
        time.sleep(0.2)
        self.well(body, chance)

    # Nothing is kept.

    def drop_before(self, body, chance):
        self.drop()

    def later(self, body, chance):
        self.raw(chance.choice([408, 409, 425, 429, 500, 502, 503, 504, 599]), "<html>Bad gateway</html>", "text/html")

    def asks_to_wait(self, body, chance):
        wait = chance.choice(["0", "1", "soon", formatdate(time.time() + 1, usegmt=True), formatdate(0, usegmt=True)])
        self.raw(chance.choice([429, 503]), '{"error": "too busy"}', Retry_After=wait)

    def unauthorized(self, body, chance):
        self.say(401, {"error": "the token has ended"})

    def too_large(self, body, chance):
        self.say(413, {"error": "too large"})

    def refuses_all(self, body, chance):
        self.say(chance.choice([400, 422]), chance.choice([{"error": "no"}, {}, {"errors": ["no"]}]))

    def stops(self, body, chance):
        with Faulty.lock:
            if Faulty.done["stopped"] >= 2:
                status = 503
            else:
                Faulty.done["stopped"] += 1
                status = chance.choice(STOPS)
        self.raw(status, "<html>Moved</html>", "text/html", Location="https://example.org/elsewhere")

    # Some elements are stored, but the answer reports little or nothing about them.

    def drop_after(self, body, chance):
        self.keep(body)
        self.drop()

    def half(self, body, chance):
        answer, _ = self.keep(body)
        text = json.dumps(answer)
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text[:chance.randrange(len(text))].encode())
        self.drop()

    def cut_json(self, body, chance):
        answer, _ = self.keep(body)
        text = json.dumps(answer)
        self.raw(200, text[:chance.randrange(1, len(text))])

    def names_and_refuses(self, body, chance):
        """Like a server that checks everything before it keeps anything: 400 or 422 with the ids, and nothing is
        kept."""
        request = json.loads(body)
        refused = [{"id": element["id"], "reason": "poison"} for elements in request.values() if isinstance(elements, list)
                   for element in elements if is_poison(element.get("id"))]
        if not refused:
            return self.well(body, chance)
        with Faulty.lock:
            Faulty.done["named"] += 1
        self.say(chance.choice([400, 422]), {"error": "some are bad", "refused": refused})

    def only_refused(self, body, chance):
        """The good ones are kept, and the answer names only the bad ones."""
        _, refused = self.keep(body)
        self.say(200, {"refused": [{"id": one["id"], "reason": "poison"} for one in refused]})

    def refuses_strangers(self, body, chance):
        answer, _ = self.keep(body)
        answer["refused"].append({"id": "00000000-0000-8000-8000-000000000000", "reason": "never sent"})
        self.say(200, answer)

    def unreadable(self, body, chance):
        answer, _ = self.keep(body)
        answer["refused"] = chance.choice([3, "some", {"a": 1}, [7], [{"key": "x"}], [["x"]], True])
        self.say(200, answer)

    def page(self, body, chance):
        self.raw(200, "<!DOCTYPE html><html><body>Please log in</body></html>", chance.choice(["text/html", "text/plain"]))

    def error_in_200(self, body, chance):
        self.say(200, {"error": "the disk is full"})

    def bare(self, body, chance):
        self.raw(200, chance.choice(['"ok"', "1", "null", "ok"]))

    def wrong_counts(self, body, chance):
        answer, _ = self.keep(body)
        name = chance.choice(["created", "updated", "known", "refused"])
        answer["counts"][name] = chance.choice([answer["counts"][name] + 1, -1, 2**62, "many", 0.5])
        self.say(200, answer)

    # The server claims to have accepted what it hasn't stored, in ways that can be detected.

    def empty_lie(self, body, chance):
        self.raw(chance.choice([200, 201, 202, 204]), "")

    def friendly_lie(self, body, chance):
        self.say(200, chance.choice([{}, [], {"status": "accepted"}, {"counts": {"created": 1}}]))

    def stranger(self, body, chance):
        """Like a different server at the address, which accepts everything."""
        count = sum(len(elements) for elements in json.loads(body).values() if isinstance(elements, list))
        self.say(200, {"counts": {"created": count, "updated": 0, "known": 0, "refused": 0}})


FAULTS = [
    "twice", "late", "slow", "cut-request", "drop-before", "later", "later", "asks-to-wait", "unauthorized", "too-large", "refuses-all",
    "stops", "drop-after", "half", "cut-json", "names-and-refuses", "names-and-refuses", "refuses-strangers", "unreadable", "page",
    "error-in-200", "bare", "wrong-counts", "only-refused"]
LIES = ["empty-lie", "friendly-lie", "stranger"]

if __name__ == "__main__":
    plain = "--plain" in sys.argv
    faults = FAULTS if plain else FAULTS + LIES
    port, file, seed = [word for word in sys.argv[1:] if word != "--plain"]
    example.token = os.environ["HEALTHBUS_BACKEND_TOKEN"]
    os.umask(0o077)
    example.store = example.Store(file)
    server = ThreadingHTTPServer(("127.0.0.1", int(port)), Faulty)
    server.daemon_threads = True
    print(f"listening on http://127.0.0.1:{server.server_port}", flush=True)
    server.serve_forever()
