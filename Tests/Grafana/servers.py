"""A test's own servers: PostgreSQL, Prometheus and a stack. They never affect those that the machine runs."""

import csv
import io
import json
import os
import pathlib
import pwd
import random
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.parse
import urllib.request

CHECKOUT = pathlib.Path(__file__).resolve().parent.parent.parent
# How a query's NULL is printed.
NULL = "\x01"


def free_port():
    """A free port below those that the system uses for outgoing connections, of which these servers open many."""
    while True:
        port = random.randrange(15000, 32000)
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
                return str(port)
            except OSError:
                continue


def until(what, holds, seconds=60):
    deadline = time.monotonic() + seconds
    while True:
        found = holds()
        if found:
            return found
        if time.monotonic() > deadline:
            sys.exit(f"wrong: after {seconds} s it still isn't so: {what}")
        time.sleep(0.05)


class Wrong(Exception):
    """A server's error about a query."""


class Postgres:
    """A server with the roles of docs/postgres.md: the stack's own, and one that only reads."""

    def __init__(self, folder):
        found = sorted(pathlib.Path("/usr/lib/postgresql").glob("*/bin/initdb"), key=lambda path: int(path.parent.parent.name))
        self.programs = os.environ.get("HEALTHBUS_TEST_POSTGRES") or (str(found[-1].parent) if found else sys.exit("there is no PostgreSQL: make test-grafana"))
        self.folder = os.path.join(folder, "pg")
        self.port = free_port()
        os.mkdir(self.folder, 0o700)
        # PostgreSQL refuses to run as root.
        self.user = None
        if os.geteuid() == 0:
            self.user = "postgres" if "postgres" in [entry.pw_name for entry in pwd.getpwall()] else "nobody"
            os.chmod(folder, 0o711)
            shutil.chown(self.folder, self.user)

    def start(self):
        self.run("initdb", "-D", f"{self.folder}/data", "-U", "admin", "--auth=trust", "--encoding=UTF8", "--locale=C", "--no-sync")
        # A zone that doesn't occur in the data, so that any dependence on the session's zone is noticed.
        options = f"-c unix_socket_directories={self.folder} -c port={self.port} -c listen_addresses=127.0.0.1 -c timezone=Asia/Tokyo -c fsync=off"
        self.run("pg_ctl", "-D", f"{self.folder}/data", "-l", f"{self.folder}/log", "-w", "-t", "60", "-o", options, "start")
        self.run("createdb", "-h", "127.0.0.1", "-p", self.port, "-U", "admin", "health")
        page = (CHECKOUT / "docs/postgres.md").read_text().split("\n## Roles\n")[1].split("\n## ")[0]
        blocks = re.findall(r"```sql\n(.*?)```", page, re.DOTALL)
        if len(blocks) != 2:
            sys.exit("wrong: docs/postgres.md has other roles")
        for block in blocks:
            self.psql(block, "admin")

    def run(self, program, *arguments):
        command = [f"{self.programs}/{program}", *arguments]
        if self.user:
            command = ["/usr/sbin/runuser", "-u", self.user, "--", *command]
        # The output goes to a file, because the server would keep a pipe open.
        with open(f"{self.folder}-output", "w+") as output:
            if subprocess.run(command, cwd="/", stdin=subprocess.DEVNULL, stdout=output, stderr=output).returncode != 0:
                output.seek(0)
                sys.exit(f"{program}: {output.read()[-2000:]}")

    def url(self, user="health"):
        return f"postgresql://{user}@127.0.0.1:{self.port}/health"

    def psql(self, text, user="reader"):
        ended = subprocess.run(
            [f"{self.programs}/psql", "-X", "-q", "--csv", "-v", "ON_ERROR_STOP=1", "-P", f"null={NULL}", self.url(user)],
            input=text, capture_output=True, text=True)
        if ended.returncode != 0:
            raise Wrong(ended.stderr.strip()[-1500:])
        return ended.stdout

    def ask(self, query):
        """Rows, as dictionaries; None is NULL."""
        rows = csv.DictReader(io.StringIO(self.psql(query)))
        return [{name: None if value == NULL else value for name, value in row.items()} for row in rows]

    def columns(self, query):
        """Types by name, in order."""
        return {row["Column"]: row["Type"] for row in csv.DictReader(io.StringIO(self.psql(query + " \\gdesc")))}

    def stop(self):
        if os.path.exists(f"{self.folder}/data/postmaster.pid"):
            self.run("pg_ctl", "-D", f"{self.folder}/data", "-m", "immediate", "-w", "stop")


class Prometheus:
    """A server with the scrape job and the rules of grafana/prometheus, only faster."""

    def __init__(self, folder, target):
        home = os.path.join(folder, "prometheus")
        shutil.copytree(CHECKOUT / "grafana/prometheus", home)
        path = os.path.join(home, "prometheus.yml")
        text = pathlib.Path(path).read_text()
        for old, new in (("127.0.0.1:9464", f"127.0.0.1:{target}"), ("scrape_interval: 15s", "scrape_interval: 1s"), ("evaluation_interval: 15s", "evaluation_interval: 1s")):
            if old not in text:
                sys.exit(f"wrong: prometheus.yml has no {old}")
            text = text.replace(old, new)
        pathlib.Path(path).write_text(text)
        self.base = f"http://127.0.0.1:{free_port()}"
        self.log = open(os.path.join(folder, "prometheus.log"), "w+")
        self.process = subprocess.Popen(
            ["prometheus", f"--config.file={path}", f"--storage.tsdb.path={home}/data", f"--web.listen-address={self.base[7:]}", "--log.level=warn"],
            stdin=subprocess.DEVNULL, stdout=self.log, stderr=self.log)

    def api(self, path, **parameters):
        try:
            with urllib.request.urlopen(f"{self.base}/api/v1/{path}?{urllib.parse.urlencode(parameters)}", timeout=30) as answer:
                return json.load(answer)["data"]
        except urllib.error.HTTPError as error:
            raise Wrong(error.read().decode()) from error

    def now(self, expression):
        return self.api("query", query=expression)["result"]

    def is_up(self):
        if self.process.poll() is not None:
            self.log.seek(0)
            sys.exit(f"prometheus: {self.log.read()[-2000:]}")
        try:
            return self.now("healthbus_build_info")
        except (urllib.error.URLError, Wrong):
            return False

    def stop(self):
        self.process.kill()
        self.process.wait()
        self.log.close()


class Stack:
    """A stack that delivers to PostgreSQL as well as its backend, and can be watched."""

    def __init__(self, programs, folder, database):
        self.healthbus = os.path.join(programs, "healthbus")
        self.metrics = free_port()
        with open(os.path.join(folder, "url"), "w") as file:
            file.write(database + "\n")
        configuration = os.path.join(folder, "stack.json")
        instances = {
            "postgres": {"plugin": "postgres", "configuration": {"urlFile": file.name}},
            "debouncer": {"configuration": {"windowSeconds": 0}}}
        with open(configuration, "w") as file:
            json.dump({"instances": instances}, file)
        self.environment = dict(
            os.environ, HEALTHBUS_BACKEND_PORT=free_port(), HEALTHBUS_INGEST_PORT=free_port(), HEALTHBUS_DASHBOARD_PORT="0",
            HEALTHBUS_CONFIG=configuration, HEALTHBUS_STATE=os.path.join(folder, "s"), HEALTHBUS_FILES_FOLDER="")
        self.log = open(os.path.join(folder, "up.log"), "w+")
        self.process = subprocess.Popen(
            [self.healthbus, "up", "--config", configuration, "--zone", "Europe/Berlin", "--metrics", self.metrics],
            env=self.environment, stdin=subprocess.DEVNULL, stdout=self.log, stderr=self.log)

    def said(self):
        text = pathlib.Path(self.log.name).read_text()
        if self.process.poll() is not None:
            sys.exit(f"healthbus up: {text[-3000:]}")
        return text

    def run(self, *words):
        ended = subprocess.run([self.healthbus, *words], env=self.environment, stdin=subprocess.DEVNULL, capture_output=True, text=True)
        if ended.returncode != 0:
            sys.exit(f"healthbus {' '.join(words)}: {ended.stdout[-1000:]}{ended.stderr[-3000:]}")
        return ended.stdout

    def scrape(self):
        with urllib.request.urlopen(f"http://127.0.0.1:{self.metrics}/metrics", timeout=30) as answer:
            return answer.read().decode()

    def stop(self):
        self.process.send_signal(signal.SIGINT)
        try:
            self.process.wait(60)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.log.close()
