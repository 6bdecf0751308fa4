#!/usr/bin/env python3
"""A backend for healthbus: keeps each element once, at its highest version, in one SQLite file.

    HEALTHBUS_BACKEND_TOKEN=secret python3 server.py [PORT] [FILE]

Nothing but Python's standard library (3.11 or later). docs/backend.md is the contract that it keeps.
"""
import hmac, json, os, secrets, sqlite3, sys, threading
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qsl, urlsplit

BODY_LIMIT = 8 << 20
KINDS = {"samples": "samples", "workouts": "workouts", "nights": "nights", "days": "days", "deletedNights": "nights"}
DELETED = {"workouts": "workouts", "daily": "days"}  # What `deleted` holds at these paths; elsewhere it is samples.
TABLES = """
PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;
CREATE TABLE IF NOT EXISTS backend(generation TEXT, sequence INTEGER);
CREATE TABLE IF NOT EXISTS elements(user TEXT, kind TEXT, id TEXT, version INTEGER, deleted INTEGER, manual TEXT, body TEXT,
    PRIMARY KEY (user, kind, id)) WITHOUT ROWID;
CREATE UNIQUE INDEX IF NOT EXISTS manual ON elements(user, manual) WHERE manual IS NOT NULL;
CREATE VIEW IF NOT EXISTS samples AS SELECT user, id, json_extract(body, '$.type') AS type,
    json_extract(body, '$.startDate') AS start, json_extract(body, '$.endDate') AS "end",
    json_extract(body, '$.value') AS value, json_extract(body, '$.unit') AS unit, json_extract(body, '$.source') AS source
    FROM elements WHERE kind = 'samples' AND NOT deleted;
"""


class Store:
    """The file. One request at a time, each in one transaction: it is answered when all of it is on disk."""

    def __init__(self, file):
        self.lock, self.db = threading.Lock(), sqlite3.connect(file, check_same_thread=False)
        self.db.executescript(TABLES)
        with self.db:
            self.db.execute("INSERT INTO backend SELECT ?, 0 WHERE NOT EXISTS (SELECT 1 FROM backend)", [secrets.token_hex(16)])

    def identity(self):
        return dict(zip(("generation", "sequence"), self.db.execute("SELECT * FROM backend").fetchone()))

    def sync(self, metric, request):
        user, verdicts = str(request.get("userId") or "me"), {"created": [], "updated": [], "known": [], "refused": []}
        lists = {name: elements for name, elements in request.items() if name in KINDS or name == "deleted"}
        if not lists or not all(isinstance(elements, list) for elements in lists.values()):
            raise ValueError  # The request as a whole: 400.
        with self.lock, self.db:
            # Deletions come first: a manual sample may replace a deleted one of the same moment.
            for name, elements in sorted(lists.items(), key=lambda one: not one[0].startswith("deleted")):
                kind = KINDS.get(name) or DELETED.get(metric, "samples")
                for index, element in enumerate(elements):
                    try:
                        id, verdict = self.keep(user, kind, element, deletes=name.startswith("deleted"))
                        verdicts[verdict].append(id)
                    except (ValueError, TypeError, LookupError, AttributeError, OverflowError):
                        id = element.get("id") if isinstance(element, dict) else None
                        reason = "a member is missing or can't be read"
                        verdicts["refused"].append({"id": id, "list": name, "index": index, "reason": reason})
            if verdicts["created"] or verdicts["updated"]:
                self.db.execute("UPDATE backend SET sequence = sequence + 1")
            return self.identity() | {"counts": {name: len(ids) for name, ids in verdicts.items()}} | verdicts

    def keep(self, user, kind, element, deletes):
        """The rule of versions: the higher version wins, and of one version the deletion."""
        id, version, manual = element.get("id") or (kind == "days" and element["date"]), element.get("version", 0), None
        rival = None
        if not isinstance(id, str) or not 0 < len(id) <= 200 or type(version) is not int:
            raise ValueError
        key = id.lower()  # iOS writes UUIDs in upper case.
        if kind == "samples" and not deletes:
            start, end = datetime.fromisoformat(element["startDate"]), datetime.fromisoformat(element["endDate"])
            if start > end or not isinstance(element["type"], str) or type(element.get("value")) not in (int, float, type(None)):
                raise ValueError
            if element.get("sourceType") == "manual":  # Of those of one type and time, the highest version stays.
                manual = f"{element['type']} {start.astimezone(UTC).isoformat()}"
                rival = self.db.execute("SELECT id, version FROM elements WHERE user = ? AND manual = ? AND id <> ?",
                    [user, manual, key]).fetchone()
        held = self.db.execute(
            "SELECT version, deleted FROM elements WHERE user = ? AND kind = ? AND id = ?", [user, kind, key]).fetchone()
        if held and (version, deletes) <= held:
            return id, "known"
        if rival and rival[1] < version:  # The other one becomes a tombstone of its own version.
            self.db.execute("UPDATE elements SET deleted = 1, manual = NULL, body = NULL WHERE user = ? AND kind = ? AND id = ?",
                [user, kind, rival[0]])
        elif rival:
            if not held:
                return id, "known"
            deletes, manual = True, None  # What is kept of this one is older still, and no longer counts either.
        body = None if deletes else json.dumps(element, ensure_ascii=False)
        self.db.execute("REPLACE INTO elements VALUES (?, ?, ?, ?, ?, ?, ?)", [user, kind, key, version, deletes, manual, body])
        return id, "updated" if held else "created"

    def stats(self, _):
        """This shows healthbus when something was lost."""
        with self.lock:
            rows = self.db.execute("SELECT kind, count(*) - sum(deleted), sum(deleted) FROM elements GROUP BY kind")
            none = {"samples": {"alive": 0, "deleted": 0}}
            return self.identity() | none | {kind: {"alive": alive, "deleted": deleted} for kind, alive, deleted in rows}

    def versions(self, query):
        """For `healthbus verify`: id and version of everything that is kept, deleted or not."""
        rows, cursor = self.page(query.get("list", "samples"), query, "TRUE")
        columns = {name: [row[place] for row in rows] for place, name in enumerate(("ids", "versions", "deleted"))}
        return self.identity() | columns | {"nextCursor": cursor}

    def elements(self, kind, query):
        rows, cursor = self.page(kind, query, "NOT deleted")
        return {kind: [json.loads(row[3]) for row in rows], "nextCursor": cursor}

    def page(self, kind, query, condition):
        limit = max(1, min(int(query.get("limit", 2000)), 20_000))
        with self.lock:
            rows = self.db.execute(
                f"SELECT id, version, deleted, body FROM elements WHERE user = ? AND kind = ? AND id > ? AND {condition} "
                "ORDER BY id LIMIT ?", [query.get("user", "me"), kind, query.get("cursor", ""), limit]).fetchall()
        return rows, rows[-1][0] if len(rows) == limit else None


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        self.serve(None)

    def do_POST(self):
        size = int(self.headers.get("Content-Length") or 0)
        if size <= BODY_LIMIT:
            return self.serve(self.rfile.read(size))
        while size > 0:  # Read and forgotten: whoever sends hears nothing before the end.
            size -= len(self.rfile.read(min(size, 1 << 16))) or size
        self.say(413, {"error": "the body is larger than 8 MiB"})

    def serve(self, body):
        url = urlsplit(self.path)
        path, query = url.path.removeprefix("/api/v1/"), dict(parse_qsl(url.query))
        if not hmac.compare_digest(self.headers.get("Authorization", "").encode(), f"Bearer {token}".encode()):
            return self.say(401, {"error": "the token is missing or wrong"})
        try:
            if body is not None and path.startswith("sync/"):
                return self.say(200, store.sync(path.removeprefix("sync/"), json.loads(body)))
            if body is None and path in ("stats", "versions"):
                return self.say(200, getattr(store, path)(query))
            if body is None and path in KINDS.values():
                return self.say(200, store.elements(path, query))
            self.say(404, {"error": "there is no such path"})
        except (ValueError, AttributeError, RecursionError):
            self.say(400, {"error": "the request can't be read"})
        except sqlite3.Error:
            self.say(503, {"error": "the database can't be used"})

    def say(self, status, value):
        body = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        """Says nothing: requests are health data."""


if __name__ == "__main__":
    token = os.environ.get("HEALTHBUS_BACKEND_TOKEN") or sys.exit("set HEALTHBUS_BACKEND_TOKEN")
    port, file = sys.argv[1:2] or [8790], sys.argv[2:3] or ["health.db"]
    os.umask(0o077)  # The file is for its owner alone.
    store = Store(file[0])
    server = ThreadingHTTPServer(("127.0.0.1", int(port[0])), Handler)
    print(f"listening on http://127.0.0.1:{server.server_port}, writing to {file[0]}", flush=True)
    try:
        server.serve_forever()
    except KeyboardInterrupt:
        server.server_close()
