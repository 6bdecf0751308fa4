"""A stack that runs during a measurement, and the content of its backend."""

import http.client
import json
import os
import re
import signal
import socket
import subprocess
import threading
import time

from measure import Failed, family, memory_peak, name, processor_seconds, proportional_memory, thread_times, use

ZONE = "Europe/Berlin"
STORE_ALONE = {  # only the instances that import into the store, none that read it
    "instances": dict.fromkeys(
        ["backend", "steps", "heart-rate", "sleep", "energy", "workouts", "body", "hydration", "generic", "consolidator",
         "uploader", "dashboard"])
}


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def environment(port):
    """The environment of every command of one stack: its own backend's port, and nothing from the user's own stack."""
    return {"HEALTHBUS_BACKEND_PORT": str(port), "HEALTHBUS_INGEST_PORT": "0", "HEALTHBUS_DASHBOARD_PORT": "0", "HEALTHBUS_CONFIG": "",
            "HEALTHBUS_LOG_LEVEL": "info"}


def disk_bytes(state, instance):
    """The size of an instance's database, including its log; 0 without one."""
    folder = os.path.join(state, instance)
    if not os.path.isdir(folder):
        return 0
    return sum(os.path.getsize(os.path.join(folder, file)) for file in os.listdir(folder) if file.startswith("state.sqlite"))


class Stack:
    """`healthbus up` on a state folder, from the start until `close`. - ready: seconds from the start until it reports that it is ready.
    - niceness: how far all its processes yield to others, as if they were on another machine."""

    def __init__(self, healthbus, state, within=60, more=(), niceness=0):
        self.healthbus, self.state = healthbus, state
        self.port = free_port()
        self.environment = {**os.environ, **environment(self.port)}
        self.lines = []
        begin = time.monotonic()
        self.process = subprocess.Popen(
            ["nice", "-n", str(niceness), healthbus, "up", "--state", state, "--zone", ZONE, *more], env=self.environment, stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        self.ready = None
        is_ready = threading.Event()

        def read():
            for line in self.process.stderr:
                if self.ready is None and re.match(r"all \d+ processes are ready", line):
                    self.ready = time.monotonic() - begin
                    is_ready.set()
                self.lines = self.lines[-20:] + [line.rstrip()]
            is_ready.set()

        self.connection = None
        self.reader = threading.Thread(target=read, daemon=True)
        self.reader.start()
        is_ready.wait(within)
        if self.ready is None:
            self.close()
            raise Failed(f"the stack wasn't ready within {within} s: {' '.join(self.lines[-3:])}")
    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            try:
                self.process.wait(60)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
        self.reader.join(5)
        self.process.stderr.close()

    def command(self, *words):
        """Starts a command for this stack, whose output is one JSON value."""
        return subprocess.Popen(
            [self.healthbus, words[0], "--state", self.state, "--json", *words[1:]], env=self.environment,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def result(self, process):
        output, errors = process.communicate()
        if process.returncode != 0:
            raise Failed(f"'healthbus {process.args[1]}' ended with {process.returncode}: {errors.strip()}")
        return json.loads(output)

    def ask(self, *words):
        return self.result(self.command(*words))

    # The backend

    def stats(self, user=None, again=False):
        """`/api/v1/stats` of all users or of one, over a persistent connection."""
        if self.connection is None:
            with open(os.path.join(self.state, "secrets", "backend-token")) as file:
                self.headers = {"Authorization": "Bearer " + file.read().strip()}
            self.connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        try:
            self.connection.request("GET", "/api/v1/stats" + (f"?user={user}" if user else ""), headers=self.headers)
            response = self.connection.getresponse()
            body = response.read()
        except (OSError, http.client.HTTPException) as problem:
            self.connection.close()
            self.connection = None
            # The backend closes a connection that has been idle for 30 s.
            if isinstance(problem, http.client.RemoteDisconnected) and not again:
                return self.stats(user, again=True)
            raise
        if response.status != 200:
            raise Failed(f"the backend answers {response.status}")
        return json.loads(body)

    def until_backend_has(self, samples, within, every=0.002):
        """The (monotonic) time at which the backend is first seen to have this many samples."""
        end = time.monotonic() + within
        while True:
            alive = self.stats()["samples"]["alive"]
            now = time.monotonic()
            if alive >= samples:
                return now
            if now > end:
                raise Failed(f"the backend has {alive} of {samples} samples after {within} s")
            time.sleep(every)

    def until_backend_rests(self, quiet=4.0, within=600, every=0.02):
        """The (monotonic) time of the last change, followed by `quiet` seconds without one, and what the backend has
        then."""
        last, changed, end = None, time.monotonic(), time.monotonic() + within
        while time.monotonic() - changed < quiet:
            stats = self.stats()
            kept = {key: stats[key] for key in ("sequence", "samples", "days", "workouts", "nights")}
            if kept != last:
                last, changed = kept, time.monotonic()
            if changed > end:
                raise Failed(f"the backend still changes after {within} s")
            time.sleep(every)
        return changed, last

    # The machine's resources that the stack uses

    def rest(self, settle, seconds):
        """The resources that all processes use while nothing happens, measured over `seconds` after `settle`: share of
        a core in percent, wakes per second, and proportional memory in bytes; also by program."""
        time.sleep(settle)
        pids = family(self.process.pid)
        before = {pid: use(pid) for pid in pids}
        begin = time.monotonic()
        time.sleep(seconds)
        passed = time.monotonic() - begin
        programs = []
        for pid in pids:
            now = use(pid)
            programs.append({
                "program": name(pid),
                "share": (now[0] - before[pid][0]) / 1e9 / passed * 100,
                "wakes": (now[1] - before[pid][1]) / passed,
                "memory": proportional_memory(pid),
            })
        total = {key: sum(program[key] for program in programs) for key in ("share", "wakes", "memory")}
        return {**total, "programs": programs}

    def processor(self):
        """Processor seconds so far by program; in ticks of 10 ms, including threads that have ended."""
        return {name(pid): processor_seconds(pid) for pid in family(self.process.pid)}

    def threads(self):
        """Nanoseconds so far by thread, of existing threads: finer, for short work."""
        return {task: time for pid in family(self.process.pid) for task, time in thread_times(pid).items()}

    def peaks(self):
        """High-water marks of memory by program."""
        return {name(pid): memory_peak(pid) for pid in family(self.process.pid)}
