"""How many samples per second of an existing store are delivered to PostgreSQL."""

import json
import os
import pwd
import shutil
import subprocess
import tempfile
import time

from exports import Exports
from importing import import_command
from measure import Failed, Run, median
from stack import STORE_ALONE, Stack, free_port


def programs():
    """The folder of PostgreSQL's programs: HEALTHBUS_TEST_POSTGRES, or otherwise Debian's newest."""
    named = os.environ.get("HEALTHBUS_TEST_POSTGRES")
    if named:
        return named
    root = "/usr/lib/postgresql"
    versions = sorted(os.listdir(root), key=float) if os.path.isdir(root) else []
    if not versions:
        raise Failed("there is no PostgreSQL: run 'make test-servers', which installs it")
    return os.path.join(root, versions[-1], "bin")


class Server:
    """A separate cluster with default settings, except for its location. It doesn't run as root, which PostgreSQL
    refuses. - before: words before each of its commands, as `nice`."""

    def __init__(self, before=()):
        self.programs, self.port, self.before = programs(), free_port(), before
        self.folder = tempfile.mkdtemp(prefix="healthbus-pg-")
        self.prefix = []
        if os.geteuid() == 0:
            user = "postgres" if any(entry.pw_name == "postgres" for entry in pwd.getpwall()) else "nobody"
            shutil.chown(self.folder, user)
            self.prefix = ["runuser", "-u", user, "--"]
        try:
            self.run("initdb", "-D", self.data, "-U", "healthbus", "--auth=trust", "--encoding=UTF8", "--locale=C")
            self.run("pg_ctl", "-D", self.data, "-l", os.path.join(self.folder, "log"), "-w", "-o",
                     f"-c port={self.port} -c listen_addresses=127.0.0.1 -c unix_socket_directories={self.folder}", "start")
            self.run("createdb", "-h", "127.0.0.1", "-p", str(self.port), "-U", "healthbus", "health")
        except Failed:
            self.close()
            raise

    @property
    def data(self):
        return os.path.join(self.folder, "data")

    @property
    def url(self):
        return f"postgresql://healthbus@127.0.0.1:{self.port}/health"

    def run(self, program, *words):
        with open(os.path.join("/tmp", f"healthbus-pg-{os.getpid()}.log"), "w+") as output:
            done = subprocess.run([*self.before, *self.prefix, os.path.join(self.programs, program), *words], stdin=subprocess.DEVNULL,
                                  stdout=output, stderr=output, cwd="/")
            output.seek(0)
            said = output.read()
        os.unlink(output.name)
        if done.returncode != 0:
            raise Failed(f"{program} ended with {done.returncode}: {said.strip()[-300:]}")

    def number(self, query):
        """The single number that a query returns; 0 while its tables don't exist."""
        done = subprocess.run([os.path.join(self.programs, "psql"), "-XAtqc", query, self.url], capture_output=True, text=True)
        return int(done.stdout.strip() or 0) if done.returncode == 0 else 0

    def close(self):
        try:
            self.run("pg_ctl", "-D", self.data, "-m", "immediate", "-w", "stop")
        except Failed:
            pass
        shutil.rmtree(self.folder, ignore_errors=True)


class Postgres:
    """Hub, observer, debouncer and the destination alone, with the server on the same cores."""

    name = "postgres"

    def __init__(self, context):
        self.context, self.row, self.size = context, context.report["postgres-rate"], context.size

    def measure(self):
        try:
            self._rate()
        except (Failed, OSError) as problem:
            self.row.why = str(problem) or type(problem).__name__

    def _rate(self):
        records = self.size["records"]
        export = Exports(self.context.healthbus, os.path.join(self.context.work, "exports"), self.context.say).of(records)
        alone, config = (os.path.join(self.context.scratch, name) for name in ("alone.json", "postgres.json"))
        state = self.context.folder("postgres")
        with open(alone, "w") as file:
            json.dump(STORE_ALONE, file)
        with open(config, "w") as file:
            json.dump({"instances": {**STORE_ALONE["instances"], "postgres": {"plugin": "postgres"}}}, file)
        Run(import_command(self.context, state, export) + ["--config", alone])
        raw = []
        for number in range(self.size["rounds"]):
            self.context.say(f"delivering {records:,} to PostgreSQL, round {number + 1}")
            raw.append(self._round(state, config))
        rate = median([entry["rate"] for entry in raw])
        bytes_each = median([entry["bytes"] for entry in raw])
        self.row.set(
            rate / 1000, "healthbus up with a destination that has nothing yet", raw,
            f"{raw[0]['samples']:,} samples, from the moment that all processes are ready until the last is committed, with the server on "
            f"the same cores; {bytes_each:.0f} bytes a sample in the database")

    def _round(self, state, config):
        server = Server()
        os.environ["HEALTHBUS_POSTGRES_URL"] = server.url
        shutil.rmtree(os.path.join(state, "postgres"), ignore_errors=True)
        try:
            with Stack(self.context.healthbus, state, more=["--config", config]) as stack:
                begin = time.monotonic()
                last, changed, limit = 0, begin, begin + 900
                while last == 0 or time.monotonic() - changed < 3:
                    found = server.number("SELECT created FROM healthbus.meta")
                    if found != last:
                        last, changed = found, time.monotonic()
                    if time.monotonic() > limit:
                        raise Failed("it isn't delivered within 15 minutes")
                    time.sleep(0.05)
                self.context.seen(stack.peaks())
            size = server.number("SELECT pg_database_size('health')")
            return {"samples": last, "rate": round(last / (changed - begin)), "bytes": round(size / last)}
        finally:
            del os.environ["HEALTHBUS_POSTGRES_URL"]
            server.close()
