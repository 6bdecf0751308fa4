#!/usr/bin/env python3
"""A small FHIR R4 server that misbehaves as planned: server.py PORT SEED [--poison] [--search] [--strict] [--wild N]

It takes transactions of updates and deletions, by identifier or by id, and conditional creations, as far as the plugin fhir sends them, and holds
them in memory. What happens to the n-th transaction follows from SEED and n, for the first N of them (0): its answer is lost before or after it took
effect, it is answered by 429, 500, 503, half a bundle, a bundle of another type, half of its bytes or a page for people, or only after the sender's
patience; or some of what it creates by identifier is created twice, as by a server that is given a transaction again while it is still at work: from
then on it refuses (412) to update or delete that by its identifier. With --poison, resources whose identifier says so are refused for good. With
--strict, the models of fhir.resources read each transaction, and each answer. A header X-Doubles says how many resources to create twice.

It searches for an identifier; with --search also for the system of identifiers, or for everything, a page at a time.

HEALTHBUS_FHIR_TOKEN is the token; empty for none. Besides FHIR it answers, for tests: GET /held (each resource with its version), GET /log?from=N
(methods and identifiers of what took effect), GET /last (the last transaction), GET /twins (how many resources too many) and GET /faults.
"""
import json, os, random, re, socket, sys, threading, time
from collections import Counter
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, quote, urlsplit

FAULTS = ["drop_before", "drop_after", "refuse_429", "fail_500", "fail_503", "half", "other_type", "cut", "page", "late", "twice"]
PATIENCE = float(os.environ.get("HEALTHBUS_FAULT_DELAY", "1.5"))
# The most that a page of search results has.
PAGE = 50
# : With --poison, one out of this many samples is refused for good.
POISON = 997


class Refusal(Exception):
    """The whole transaction is refused: status, and the code of an OperationOutcome's issue."""

    def __init__(self, status, code):
        self.status, self.code = status, code


def is_poison(identifier):
    system, value = identifier
    return poison and system.endswith(":sample") and int(value.replace("-", "")[-8:], 16) % POISON == 0


def parameters(query, allowed):
    """A query's parameters, each of which may be there once."""
    try:
        found = parse_qs(query, keep_blank_values=True, strict_parsing=bool(query))
    except ValueError:
        raise Refusal(400, "invalid")
    if not set(found) <= set(allowed) or any(len(values) != 1 for values in found.values()):
        raise Refusal(400, "invalid")
    return {name: values[0] for name, values in found.items()}


def identifier(text):
    """`system|value`, as an FHIR server reads it."""
    parts = re.split(r"(?<!\\)\|", text)
    if len(parts) != 2:
        raise Refusal(400, "invalid")
    return tuple(re.sub(r"\\(.)", r"\1", part) for part in parts)


def identifier_of(query):
    """`identifier=system|value`."""
    return identifier(parameters(query, ["identifier"]).get("identifier", ""))


def model(resource):
    """With --strict, raises ValueError for what R4B doesn't allow."""
    if strict:
        models[resource["resourceType"]].model_validate(resource)


class Store:
    """Resources by type and identifier: id, version and content. Deleted ones leave nothing but their place in the log."""

    def __init__(self):
        self.lock, self.held, self.log, self.made, self.last = threading.Lock(), {}, [], 0, None
        # Other resources that have the same identifier, by id.
        self.twins = {}

    def with_id(self, kind, id):
        return next((key for key, (other, _, _) in self.held.items() if key[0] == kind and other == id), None)

    def found(self, key):
        """Every resource with an identifier: id and content."""
        own = [(self.held[key][0], self.held[key][2])] if key in self.held else []
        return own + list(self.twins.get(key, {}).items())

    def search(self, query):
        """A page of the Observations that a search finds, in the order of their ids. An identifier without a value stands for all of its system."""
        wanted = parameters(query, ["identifier", "_count", "_after"])
        if not searches and (set(wanted) != {"identifier"} or not identifier(wanted["identifier"])[1]):
            raise Refusal(400, "not-supported")
        system, value = identifier(wanted["identifier"]) if "identifier" in wanted else (None, None)
        if not re.fullmatch("[0-9]{1,9}", wanted.get("_count", "50")):
            raise Refusal(400, "invalid")
        count = max(1, min(int(wanted.get("_count", PAGE)), PAGE))
        found = sorted(
            (id, resource) for key in self.held if key[0] == "Observation" and (system is None or key[1][0] == system) and value in (None, "", key[1][1])
            for id, resource in self.found(key))
        rows = [row for row in found if row[0] > wanted.get("_after", "")]
        bundle = {"resourceType": "Bundle", "type": "searchset", "total": len(found)}
        if rows:
            bundle["entry"] = [{"resource": dict(resource, id=id), "search": {"mode": "match"}} for id, resource in rows[:count]]
        if len(rows) > count:
            own = "identifier=" + quote(wanted["identifier"], safe="") + "&" if "identifier" in wanted else ""
            bundle["link"] = [{"relation": "next", "url": f"?{own}_count={count}&_after={rows[count - 1][0]}"}]
        return bundle

    def delete(self, kind, id):
        """A single resource, as by DELETE Observation/<id>; one of several with its identifier leaves the others."""
        for key, twins in self.twins.items():
            if key[0] == kind and twins.pop(id, None) is not None:
                return
        key = self.with_id(kind, id)
        if key and self.twins.get(key):
            other, resource = self.twins[key].popitem()
            self.held[key] = (other, self.held[key][1], resource)
        elif key:
            self.log.append(["DELETE", *key[1]])
            del self.held[key]

    def transaction(self, bundle, doubles=0):
        """- doubles: how many of the resources that it creates by identifier are there twice afterwards."""
        if not isinstance(bundle, dict) or bundle.get("resourceType") != "Bundle" or bundle.get("type") != "transaction" or not bundle.get("entry"):
            raise Refusal(400, "invalid")
        try:
            model(bundle)
        except ValueError:
            raise Refusal(422, "required")
        with self.lock:
            # All or nothing: the changes are made in a copy of the resources that they affect.
            self.numbered = self.made
            new, answers, log, seen, patients, twins = {}, [], [], set(), {}, {}
            for entry in bundle["entry"]:
                request = entry["request"]
                if request["method"] == "POST":
                    key = ("Patient", identifier_of(request["ifNoneExist"]))
                    isNew = key not in self.held and key not in new
                    if isNew:
                        new[key] = self.next(key, entry["resource"])
                        log.append(["POST", *key[1]])
                    patients[entry["fullUrl"]] = "Patient/" + (new.get(key) or self.held[key])[0]
                    answers.append("201 Created" if isNew else "200 OK")
                    continue
                kind, place = re.fullmatch(r"(\w+)([?/].+)", request["url"]).groups()
                isByID = place[0] == "/"
                if not isByID:
                    key = (kind, identifier_of(place[1:]))
                elif request["method"] == "DELETE":
                    key = self.with_id(kind, place[1:])
                    if key is None:
                        answers.append("204 No Content")
                        continue
                else:
                    own = entry["resource"].get("identifier", [{}])[0]
                    key = (kind, (own.get("system"), own.get("value")))
                    if entry["resource"].get("id") != place[1:] or (key in self.held and self.held[key][0] != place[1:]):
                        raise Refusal(400, "invalid")
                if key in seen or kind != "Observation":
                    raise Refusal(400, "duplicate")
                seen.add(key)
                if not isByID and len(self.found(key)) > 1:
                    raise Refusal(412, "multiple-matches")
                if is_poison(key[1]):
                    raise Refusal(422, "invariant")
                if request["method"] == "DELETE":
                    if "resource" in entry:
                        raise Refusal(400, "invalid")
                    if key in self.held:
                        log.append(["DELETE", *key[1]])
                    new[key] = None
                    answers.append("204 No Content")
                else:
                    resource = self.checked(entry["resource"], key, patients)
                    old = self.held.get(key)
                    # As in most servers, identical content doesn't create a new version.
                    if old and old[2] == resource:
                        answers.append("200 OK")
                        continue
                    new[key] = self.next(key, resource, place[1:] if isByID else None)
                    if not old and not isByID and doubles > 0:
                        twins[key] = {f"twin-{new[key][0]}": dict(resource)}
                        doubles -= 1
                    log.append(["PUT", *key[1]])
                    answers.append("200 OK" if old else "201 Created")
            for key, value in new.items():
                if value is None:
                    self.held.pop(key, None)
                else:
                    self.held[key] = value
            self.twins.update(twins)
            self.log, self.last, self.made = self.log + log, bundle, self.numbered
            return answers

    def next(self, key, resource, id=None):
        old = self.held.get(key)
        if not old and not id:
            self.numbered += 1
        return (id or (old[0] if old else str(self.numbered)), (old[1] if old else 0) + 1, resource)

    @staticmethod
    def checked(resource, key, patients):
        """The resource as it is stored; checks that it has the identifier it was found by, and that its references
        exist."""
        own = [(each["system"], each["value"]) for each in resource.get("identifier", [])]
        if resource.get("resourceType") != key[0] or key[1] not in own or "code" not in resource or "status" not in resource:
            raise Refusal(422, "required")
        reference = resource["subject"].get("reference")
        if reference is not None:
            if reference not in patients:
                raise Refusal(400, "not-found")
            resource = dict(resource, subject=dict(resource["subject"], reference=patients[reference]))
        return resource


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    lock, number, done, deck = threading.Lock(), 0, Counter(), []

    def log_message(self, *words):
        pass

    def say(self, status, answer, kind="application/fhir+json", **headers):
        if isinstance(answer, dict) and "resourceType" in answer:
            model(answer)
        body = answer.encode() if isinstance(answer, str) else json.dumps(answer).encode()
        self.send_response(status)
        for name, value in ({"Content-Type": kind, "Content-Length": str(len(body))} | headers).items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        self.wfile.write(body)

    def outcome(self, status, code, **headers):
        self.say(status, {"resourceType": "OperationOutcome", "issue": [{"severity": "error", "code": code}]}, **headers)

    def drop(self):
        self.close_connection = True
        self.connection.shutdown(socket.SHUT_RDWR)

    def do_GET(self):
        url = urlsplit(self.path)
        with store.lock:
            if url.path == "/fhir/metadata":
                return self.say(200, {
                    "resourceType": "CapabilityStatement", "fhirVersion": "4.0.1", "status": "active", "kind": "instance", "date": "2025-03-30",
                    "format": ["json"]})
            if url.path == "/fhir/Observation":
                if token and self.headers.get("Authorization") != f"Bearer {token}":
                    return self.outcome(401, "login")
                try:
                    return self.say(200, store.search(url.query))
                except Refusal as refusal:
                    return self.outcome(refusal.status, refusal.code)
            if url.path == "/twins":
                return self.say(200, sum(len(twins) for twins in store.twins.values()))
            if url.path == "/held":
                rows = [{"type": kind, "system": system, "value": value, "version": version, "resource": resource}
                        for (kind, (system, value)), (_, version, resource) in store.held.items()]
                return self.say(200, rows)
            if url.path == "/log":
                first = int(parse_qs(url.query).get("from", ["0"])[0])
                return self.say(200, store.log[first:])
            if url.path == "/last":
                return self.say(200, store.last)
            if url.path == "/faults":
                return self.say(200, dict(Handler.done))
        self.outcome(404, "not-found")

    def do_DELETE(self):
        found = re.fullmatch(r"/fhir/(\w+)/([\w.-]+)", urlsplit(self.path).path)
        if not found:
            return self.outcome(404, "not-found")
        if token and self.headers.get("Authorization") != f"Bearer {token}":
            return self.outcome(401, "login")
        with store.lock:
            store.delete(*found.groups())
        self.send_response(204)
        self.end_headers()

    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        if token and self.headers.get("Authorization") != f"Bearer {token}":
            return self.outcome(401, "login")
        if self.path != "/fhir" or self.headers.get("Content-Type") != "application/fhir+json":
            return self.outcome(404, "not-found")
        with Handler.lock:
            Handler.number += 1
            chance, fault = random.Random(f"{seed} {Handler.number}"), "well"
            if Handler.number <= wild and chance.random() < 0.6:
                # Each fault occurs once before any is repeated.
                Handler.deck = Handler.deck or chance.sample(FAULTS, len(FAULTS))
                fault = Handler.deck.pop()
            Handler.done[fault] += 1
        try:
            self.take(body, fault, chance)
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True

    def take(self, body, fault, chance):
        if fault == "drop_before":
            return self.drop()
        if fault == "refuse_429":
            return self.outcome(429, "throttled", Retry_After=chance.choice(["0", "1", "soon"]))
        if fault == "fail_500":
            return self.say(500, "<html>Internal error</html>", "text/html")
        if fault == "fail_503":
            return self.outcome(503, "transient")
        if fault == "page":
            return self.say(200, "<!DOCTYPE html><html><body>Please log in</body></html>", "text/html")
        try:
            doubles = int(self.headers.get("X-Doubles", 3 if fault == "twice" else 0))
            answers = store.transaction(json.loads(body), doubles)
        except Refusal as refusal:
            with Handler.lock:
                Handler.done["refused"] += 1
            return self.outcome(refusal.status, refusal.code)
        answer = {"resourceType": "Bundle", "type": "transaction-response", "entry": [{"response": {"status": each}} for each in answers]}
        if fault in ("drop_after", "twice"):
            return self.drop()
        if fault == "late":
            time.sleep(PATIENCE)
        if fault == "half":
            answer["entry"] = answer["entry"][:len(answers) // 2]
        if fault == "other_type":
            answer["type"] = "batch-response"
        if fault == "cut":
            text = json.dumps(answer)
            return self.say(200, text[:chance.randrange(1, len(text))])
        self.say(200, answer)


if __name__ == "__main__":
    words = sys.argv[1:]
    poison, searches, strict = ("--" + word in words for word in ["poison", "search", "strict"])
    if strict:
        from fhir.resources.R4B.bundle import Bundle
        from fhir.resources.R4B.capabilitystatement import CapabilityStatement
        from fhir.resources.R4B.operationoutcome import OperationOutcome

        models = {"Bundle": Bundle, "CapabilityStatement": CapabilityStatement, "OperationOutcome": OperationOutcome}
    wild = int(words[words.index("--wild") + 1]) if "--wild" in words else 0
    port, seed = words[0], words[1]
    token = os.environ.get("HEALTHBUS_FHIR_TOKEN", "")
    store = Store()
    server = ThreadingHTTPServer(("127.0.0.1", int(port)), Handler)
    server.daemon_threads = True
    print(f"listening on http://127.0.0.1:{server.server_port}/fhir", flush=True)
    server.serve_forever()
