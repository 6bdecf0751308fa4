#!/usr/bin/env python3
"""A backend for healthbus: keeps each element once, at its highest version, in one SQLite file.

    HEALTHBUS_BACKEND_TOKEN=secret python3 server.py [PORT] [FILE]

Nothing but Python's standard library (3.11 or later). docs/backend.md is the contract that it keeps; the README lists
what it leaves out.
"""
import hmac, json, os, re, secrets, sqlite3, sys, threading, zlib
from datetime import UTC, date, datetime, time, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qsl, urlsplit
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

BODY_LIMIT, ELEMENT_LIMIT, PAGE_LIMIT = 8 << 20, 20_000, 2 << 20
# What the lists of a request hold, by metric; any other metric is a family of samples.
LISTS = {
    "workouts": {"workouts": "workouts", "deleted": "workouts"},
    "daily": {"days": "days", "deleted": "days"},
    "sleep": {"samples": "samples", "nights": "nights", "deleted": "samples", "deletedNights": "nights"},
}
FAMILY = {"samples": "samples", "deleted": "samples"}
KINDS = ("samples", "workouts", "nights", "days")
ALL_LISTS = {*KINDS, "deleted", "deletedNights"}
TEXT, ANY = (str, type(None)), object
# The members of a sample that are kept, besides its id and version.
SAMPLE = {
    "type": str, "startDate": str, "endDate": str, "value": (int, float, type(None)), "unit": TEXT, "source": TEXT,
    "sourceType": TEXT, "healthkitUUID": TEXT, "metadata": (dict, type(None)), "payload": ANY}
UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)
TABLES = """
PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;
CREATE TABLE IF NOT EXISTS backend(generation TEXT, sequence INTEGER);
CREATE TABLE IF NOT EXISTS elements(user TEXT, kind TEXT, id TEXT, version INTEGER, deleted INTEGER, manual TEXT, body TEXT,
    changed INTEGER, PRIMARY KEY (user, kind, id)) WITHOUT ROWID;
CREATE UNIQUE INDEX IF NOT EXISTS manual ON elements(user, manual) WHERE manual IS NOT NULL;
CREATE UNIQUE INDEX IF NOT EXISTS changes ON elements(user, kind, changed);
CREATE VIEW IF NOT EXISTS samples AS SELECT user, id, json_extract(body, '$.type') AS type,
    json_extract(body, '$.startDate') AS start, json_extract(body, '$.endDate') AS "end",
    json_extract(body, '$.value') AS value, json_extract(body, '$.unit') AS unit, json_extract(body, '$.source') AS source
    FROM elements WHERE kind = 'samples' AND NOT deleted;
"""


class Refusal(Exception):
    """The request as a whole is refused: nothing of it is kept."""

    def __init__(self, status, error, hint, **headers):
        self.status, self.answer, self.headers = status, {"error": error, "hint": hint}, headers


def malformed(error, hint="see docs/backend.md"):
    return Refusal(400, error, hint)


def moment(text):
    """A time with its offset, in UTC."""
    parsed = datetime.fromisoformat(text)
    if parsed.tzinfo is None:
        raise ValueError
    return parsed.astimezone(UTC)


def iso(moment):
    return moment.isoformat().replace("+00:00", "Z")


def seconds(text):
    """For SQL: a stored time in seconds since 1970; NULL for anything else."""
    try:
        return moment(text).timestamp()
    except (ValueError, TypeError, OverflowError):
        return None


def integer(version):
    """A version: 0 if it is absent."""
    if version is None:
        return 0
    if type(version) is not int or not -(2**63) <= version < 2**63:
        raise ValueError
    return version


def refuse(_):
    raise ValueError  # NaN and Infinity aren't JSON.


class Store:
    """The file. One request at a time, each in one transaction: it is answered when all of it is on disk."""

    def __init__(self, file):
        self.lock, self.db = threading.Lock(), sqlite3.connect(file, check_same_thread=False)
        self.upgrade()
        self.db.executescript(TABLES)
        self.db.create_function("seconds", 1, seconds, deterministic=True)
        with self.db:
            self.db.execute("INSERT INTO backend SELECT ?, 0 WHERE NOT EXISTS (SELECT 1 FROM backend)", [secrets.token_hex(16)])

    def upgrade(self):
        """A file that was made before elements were numbered by their latest change."""
        columns = [row[1] for row in self.db.execute("PRAGMA table_info(elements)")]
        if columns and "changed" not in columns:
            self.db.executescript("""BEGIN; ALTER TABLE elements ADD COLUMN changed INTEGER;
                UPDATE elements SET changed = number FROM (SELECT user AS u, kind AS k, id AS i, row_number()
                    OVER (PARTITION BY user, kind ORDER BY id) AS number FROM elements)
                WHERE (user, kind, id) = (u, k, i); COMMIT""")

    def identity(self):
        return dict(zip(("generation", "sequence"), self.db.execute("SELECT * FROM backend").fetchone()))

    def sync(self, metric, request, seen=None):
        if not isinstance(request, dict):
            raise malformed("the body isn't a JSON object")
        kinds = LISTS.get(metric, FAMILY)
        lists = {name: elements for name, elements in request.items() if name in ALL_LISTS}
        if not lists or not all(isinstance(elements, list) for elements in lists.values()):
            raise malformed("there is no list of elements")
        if not lists.keys() <= kinds.keys():
            raise malformed("a list belongs to another metric", "send it to its own path")
        if sum(len(elements) for elements in lists.values()) > ELEMENT_LIMIT:
            raise Refusal(413, f"more than {ELEMENT_LIMIT} elements", "send them in halves")
        user = request.get("userId")
        user = "me" if user is None else user
        if not isinstance(user, str) or not 0 < len(user.encode()) <= 200:
            raise malformed("userId isn't text of 1 to 200 bytes")
        verdicts, held = {"created": [], "updated": [], "known": [], "refused": []}, {}
        with self.lock, self.db:
            self.begin_again(seen)
            # Deletions come first: a manual sample may replace a deleted one of the same moment.
            for name, elements in sorted(lists.items(), key=lambda one: not one[0].startswith("deleted")):
                for index, element in enumerate(elements):
                    try:
                        id, verdict, kept = self.keep(user, kinds[name], element, deletes=name.startswith("deleted"))
                        verdicts[verdict].append(id)
                        if kept is not None:
                            held[id] = kept
                    except (ValueError, TypeError, LookupError, AttributeError, OverflowError):
                        id = element.get("id") if isinstance(element, dict) else None
                        verdicts["refused"].append({
                            "id": id if isinstance(id, str) else None, "list": name, "index": index,
                            "reason": "a member is missing or can't be read"})
            if verdicts["created"] or verdicts["updated"]:
                self.db.execute("UPDATE backend SET sequence = sequence + 1")
            counts = {name: len(ids) for name, ids in verdicts.items()}
            return self.identity() | {"serverTime": now(), "counts": counts} | verdicts | {"held": held}

    def begin_again(self, seen):
        """The sender has seen a higher sequence of this database: it is an older copy, and so has a new identity."""
        generation, _, sequence = (seen or "").partition(" ")
        held = self.identity()
        if generation != held["generation"] or not re.fullmatch("[0-9]{1,16}", sequence):
            return
        if held["sequence"] < int(sequence) <= 2**53:
            self.db.execute("UPDATE backend SET generation = ?, sequence = ?", [secrets.token_hex(16), int(sequence)])

    def keep(self, user, kind, element, deletes):
        """The rule of versions: the higher version wins, and of one version the deletion.

        Returns the id as it was sent, what became of it, and the version that is kept if that is another one."""
        id, version, manual = self.key(kind, element), integer(element.get("version")), None
        key = id.lower() if UUID.fullmatch(id) else id  # iOS writes UUIDs in upper case.
        if kind == "days" and key != date.fromisoformat(key).isoformat():
            raise ValueError
        if kind == "workouts" and not deletes:
            moment(element["startDate"])
            if not isinstance(element["type"], str):
                raise ValueError
        body, rival = element, None
        if kind == "samples" and not deletes:
            body = {"id": key, "version": version} | self.sample(element)
            if body.get("sourceType") == "manual":  # Of those of one type and time, the highest version stays.
                manual = f"{body['type']} {moment(body['startDate']).isoformat()}"
                rival = self.db.execute("SELECT id, version, body FROM elements WHERE user = ? AND manual = ? AND id <> ?",
                    [user, manual, key]).fetchone()
        held = self.db.execute(
            "SELECT version, deleted, body FROM elements WHERE user = ? AND kind = ? AND id = ?", [user, kind, key]).fetchone()
        if held and (version, deletes) <= held[:2]:
            return id, "known", None if version == held[0] else held[0]
        if rival and rival[1] >= version:
            if not held:
                return id, "known", None
            deletes, manual, rival = True, None, None  # What is kept of this one is older still, and no longer counts either.
        # Encoded before anything is written: an element that can't be is refused, and changes nothing.
        text = self.tombstone(held and held[2]) if deletes else json.dumps(body, ensure_ascii=False, allow_nan=False)
        text.encode()
        if rival:  # The other one becomes a tombstone of its own version.
            self.db.execute(
                "UPDATE elements SET deleted = 1, manual = NULL, body = ?, changed = ? WHERE user = ? AND kind = ? AND id = ?",
                [self.tombstone(rival[2]), self.last(user, kind) + 1, user, kind, rival[0]])
        self.db.execute("REPLACE INTO elements VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            [user, kind, key, version, deletes, manual, text, self.last(user, kind) + 1])
        return id, "updated" if held else "created", None

    def last(self, user, kind):
        """The number of the latest change of a user's list."""
        return self.db.execute("SELECT max(changed) FROM elements WHERE user = ? AND kind = ?", [user, kind]).fetchone()[0] or 0

    def tombstone(self, body):
        """What is kept of a deleted element: what it was and when, but nothing else."""
        old = json.loads(body) if body else {}
        return json.dumps({name: old[name] for name in ("type", "startDate", "endDate", "start", "end", "date") if name in old})

    def key(self, kind, element):
        """A day's key is its date, which its deletion may call `id`."""
        id = element.get("date") if kind == "days" else None
        id = element.get("id") if id is None else id
        if not isinstance(id, str) or not 0 < len(id.encode()) <= 200:
            raise ValueError
        return id

    def sample(self, element):
        """A sample's known members, with its times in UTC."""
        body = {name: element[name] for name in SAMPLE if name in element}
        if not all(isinstance(value, SAMPLE[name]) and type(value) is not bool for name, value in body.items() if name != "payload"):
            raise ValueError
        start, end = moment(body["startDate"]), moment(body["endDate"])
        if start > end or not 0 < len(body["type"].encode()) <= 200:
            raise ValueError
        if body.get("sourceType") not in ("healthkit", "manual", None):
            raise ValueError
        return body | {"startDate": iso(start), "endDate": iso(end)}

    def stats(self, query):
        """This shows healthbus when something was lost."""
        with self.lock:
            rows = self.db.execute(
                "SELECT kind, count(*) - sum(deleted), sum(deleted) FROM elements WHERE ?1 IS NULL OR user = ?1 GROUP BY kind",
                [query.get("user")])
            kept = {kind: {"alive": alive, "deleted": deleted} for kind, alive, deleted in rows}
            return self.identity() | {"serverTime": now()} | {kind: {"alive": 0, "deleted": 0} for kind in KINDS} | kept

    def versions(self, query):
        """For `healthbus verify`: id and version of everything that is kept, deleted or not."""
        if query.get("list") not in KINDS:
            raise malformed("list isn't one of " + ", ".join(KINDS))
        with self.lock:
            rows, cursor = self.page(query["list"], query, "TRUE", "NULL", most=20_000)
            columns = {name: [row[place] for row in rows] for place, name in enumerate(("ids", "versions", "deleted"))}
            return self.identity() | columns | {"nextCursor": cursor}

    def changes(self, query):
        """What changed since a cursor, oldest change first: each element has the number of its latest change."""
        kind = query.get("list", "samples")
        if kind not in KINDS or not query.keys() <= {"user", "list", "limit", "cursor", "since"}:
            raise malformed("a parameter isn't known here", "use user, list (samples, workouts, nights, days), limit, cursor")
        limit = self.limit(query, 20_000, usual=2000)
        with self.lock:
            user = self.user(query)
            mine = f"{self.identity()['generation']}.{zlib.crc32(f'{kind} {user}'.encode()):08x}."
            cursor = query.get("cursor", query.get("since", mine + "0"))
            if not re.fullmatch(r"[0-9a-f]{32}\.[0-9a-f]{8}\.[0-9]{1,18}", cursor):
                raise malformed("cursor isn't from an earlier answer's next")
            place, last = int(cursor.rpartition(".")[2]), self.last(user, kind)
            if not cursor.startswith(mine) or place > last:
                raise Refusal(410, "the cursor is from another history, user or list",
                    "begin again without 'cursor', and drop what that doesn't bring")
            changes, size = [], 0
            for id, version, deleted, body, number in self.db.execute(
                    "SELECT id, version, deleted, body, changed FROM elements WHERE user = ? AND kind = ? AND changed > ? "
                    "ORDER BY changed LIMIT ?", [user, kind, place, limit]):
                size += len(body)
                if changes and size > PAGE_LIMIT:
                    break
                place, body = number, json.loads(body)
                if kind != "samples":
                    body = {"type": kind[:-1]} | ({} if deleted else {"payload": body})
                elif deleted:
                    body = {"type": None, "startDate": None, "endDate": None} | body
                changes.append(body | {"id": id, "version": version, "deleted": bool(deleted)})
            return {"user": user, "serverTime": now(), "next": f"{mine}{place}", "hasMore": place < last,
                "zones": None, "characteristics": None, "changes": changes}

    def elements(self, kind, query):
        known = ["user", "from", "to", "zone", "limit", "cursor"] + (["type"] if kind == "samples" else [])
        # A misspelt `from` would ask for everything.
        if not query.keys() <= set(known):
            raise malformed("a parameter isn't known here", f"use {', '.join(known)}")
        with self.lock:
            rows, cursor = self.page(kind, query, "NOT deleted", "body", most=2000)
            return {kind: [json.loads(row[3]) for row in rows], "nextCursor": cursor}

    def page(self, kind, query, condition, content, most):
        limit = self.limit(query, most, usual=most)
        found, values = self.range(kind, query)
        if "type" in query and kind == "samples":
            found, values = found + " AND json_extract(body, '$.type') = ?", values + [query["type"]]
        rows, size = [], 0
        for row in self.db.execute(
                f"SELECT id, version, deleted, {content} FROM elements WHERE user = ? AND kind = ? AND id > ? AND {condition}{found} "
                "ORDER BY id LIMIT ?", [self.user(query), kind, query.get("cursor", ""), *values, limit + 1]):
            size += len(row[3] or "")
            if rows and (len(rows) == limit or size > PAGE_LIMIT):
                return rows, rows[-1][0]
            rows.append(row)
        return rows, None

    def limit(self, query, most, usual):
        limit = query.get("limit", str(usual))
        if not re.fullmatch("[0-9]{1,6}", limit) or not 1 <= int(limit) <= most:
            raise malformed(f"limit isn't a number from 1 to {most}")
        return int(limit)

    def user(self, query):
        """Without `user`: the only one or, of several, the one for elements without `userId`."""
        if "user" in query:
            return query["user"]
        first, last = self.db.execute("SELECT (SELECT min(user) FROM elements), (SELECT max(user) FROM elements)").fetchone()
        return first if first == last and first is not None else "me"

    def range(self, kind, query):
        """`from` and `to`, both inclusive: samples and workouts by overlap, days and nights by their local date."""
        try:
            zone = ZoneInfo(query["zone"]) if "zone" in query else UTC
        except (ValueError, ZoneInfoNotFoundError, OSError):
            raise malformed("zone isn't a name such as Europe/Berlin") from None
        found, values = "", []
        for name, sign, side in (("from", ">=", "endDate"), ("to", "<", "startDate")):
            if name not in query:
                continue
            day, edge = self.bound(query[name], name, zone)
            if kind in ("days", "nights"):
                one, value = f"json_extract(body, '$.date') {'>=' if name == 'from' else '<='} ?", day.isoformat()
            else:
                one, value = f"seconds(json_extract(body, '$.{side}')) {sign} ?", edge
            # A tombstone of something that never came has no times: it is in every range.
            found, values = f"{found} AND coalesce({one}, deleted)", values + [value]
        return found, values

    def bound(self, text, name, zone):
        """The date, and the first second in the range or, for `to`, the first one after it."""
        try:
            if re.fullmatch(r"\d{4}-\d\d-\d\d", text):
                day = date.fromisoformat(text)
                edge = datetime.combine(day + timedelta(days=name == "to"), time(), zone)
                return day, edge.timestamp()
            at = moment(text)
            return at.astimezone(zone).date(), at.timestamp() + (1e-6 if name == "to" else 0)
        except (ValueError, OverflowError):
            raise malformed(f"{name} is neither a date (2025-03-30) nor an ISO 8601 time") from None


def now():
    return iso(datetime.now(UTC))


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        try:
            body = self.body()
            if not hmac.compare_digest(self.headers.get("Authorization", "").encode(), f"Bearer {token}".encode()):
                raise Refusal(401, "the token is missing or wrong", "send Authorization: Bearer <token>", WWW_Authenticate="Bearer")
            self.answer(body)
        except Refusal as refusal:
            self.say(refusal.status, refusal.answer, **refusal.headers)
        except (ValueError, AttributeError, RecursionError):
            self.say(400, {"error": "the request can't be read", "hint": "send well-formed JSON in UTF-8"})
        except sqlite3.Error:
            self.say(503, {"error": "the database can't be used", "hint": "nothing was kept; send it again later"}, Retry_After="10")

    do_HEAD = do_POST = do_PUT = do_PATCH = do_DELETE = do_OPTIONS = do_GET

    def body(self):
        """All of it is read before anything is answered: whoever sends hears nothing before the end."""
        lengths = self.headers.get_all("Content-Length", ["0"])
        if "Transfer-Encoding" in self.headers:
            self.close_connection = True  # What follows can't be distinguished from the next request.
            raise Refusal(411, "the length of the body isn't known", "send it with Content-Length")
        if len(lengths) > 1 or not re.fullmatch("[0-9]{1,15}", lengths[0]):
            self.close_connection = True
            raise malformed("Content-Length isn't a number")
        left = int(lengths[0])
        if left <= BODY_LIMIT:
            body = self.rfile.read(left)
            if len(body) < left:
                self.close_connection = True
                raise malformed("the body ends early")
            return body
        while left > 0:
            left -= len(self.rfile.read(min(left, 1 << 16))) or left
        raise Refusal(413, "the body is larger than 8 MiB", "send it in halves")

    def answer(self, body):
        url = urlsplit(self.path)
        path, query = url.path.removeprefix("/api/v1/"), dict(parse_qsl(url.query, keep_blank_values=True))
        metric = re.fullmatch(r"sync/([a-z0-9-]{1,64})", path)
        if not url.path.startswith("/api/v1/") or not metric and path not in ("stats", "versions", "changes", *KINDS):
            raise Refusal(404, "there is no such path", "see docs/backend.md for the paths")
        methods = ["POST"] if metric else ["GET", "HEAD"]
        if self.command not in methods:
            raise Refusal(405, "this path doesn't support that method", f"use {methods[0]}", Allow=", ".join(methods))
        if metric:
            if self.headers.get_content_type() != "application/json" and "Content-Type" in self.headers:
                raise Refusal(415, "the body isn't JSON", "send application/json")
            request = json.loads(body.decode("utf-8"), parse_constant=refuse)
            answer = store.sync(metric[1], request, self.headers.get("Healthbus-Seen"))
            counts = answer["counts"]
            return self.say(422 if counts["refused"] and counts["refused"] == sum(counts.values()) else 200, answer)
        if path == "stats":
            return self.say(200, store.stats(query))
        # Valid until a request changes something.
        with store.lock:
            tag = '"{generation}-{sequence}"'.format(**store.identity())
        if tag in self.headers.get("If-None-Match", ""):
            return self.say(304, None, ETag=tag)
        asked = {"versions": store.versions, "changes": store.changes}.get(path, lambda query: store.elements(path, query))
        self.say(200, asked(query), ETag=tag)

    def say(self, status, value, **headers):
        body = b"" if value is None else json.dumps(value).encode()
        self.send_response(status)
        for name, text in headers.items():
            self.send_header(name.replace("_", "-"), text)
        if self.close_connection:
            self.send_header("Connection", "close")
        if value is not None:
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
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
