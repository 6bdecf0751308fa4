"""The hub compared with libzmq's own proxy in its place: how many messages per second pass through."""

import os
import re
import signal
import subprocess
import tempfile
import time

from measure import Failed, Run, processor_seconds
from stack import environment, free_port

SIZES = {"hub-small": 1024, "hub-large": 50_000}


class Bus:
    """- programs: from floors.py. - bench: the program `healthbus-bench`. - folder: for messages."""

    def __init__(self, healthbus, bench, programs, folder):
        self.healthbus, self.programs = healthbus, programs
        self.messages = {}
        for row, size in SIZES.items():
            self.messages[row] = os.path.join(folder, f"message-{size}")
            with open(self.messages[row], "wb") as file:
                subprocess.run([bench, "message", str(size)], stdout=file, check=True)

    def measure(self, row, hub, seconds):
        """One round: messages per second, and microseconds of the forwarder's processor time per message.
        - hub: false for the floor."""
        with tempfile.TemporaryDirectory(prefix="bus-") as folder:
            ends = [f"ipc://{folder}/run/pub", f"ipc://{folder}/run/sub"]
            os.mkdir(f"{folder}/run", 0o700)
            os.chmod(folder, 0o700)
            words = [self.healthbus, "run", "hub", "--state", folder] if hub else [self.programs["proxy"], *ends]
            process = subprocess.Popen(
                words, env={**os.environ, **environment(free_port())}, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL)
            try:
                self._await(process, [end.removeprefix("ipc://") for end in ends])
                before = processor_seconds(process.pid)
                load = Run([self.programs["load"], *ends, self.messages[row], str(seconds)])
                used = processor_seconds(process.pid) - before
            finally:
                process.send_signal(signal.SIGTERM)
                process.wait()
        messages, size, took, lost = re.fullmatch(r"(\d+) messages, (\d+) bytes, ([\d.]+) s, (\d+) lost\n", load.output).groups()
        rate = int(messages) / float(took)
        return {"messagesPerSecond": round(rate), "bytes": int(size), "lost": int(lost),
                "microsecondsPerMessage": round(used * 1e6 / int(messages), 3)}

    @staticmethod
    def _await(process, paths):
        for _ in range(1000):
            if all(map(os.path.exists, paths)):
                return
            if process.poll() is not None:
                raise Failed(f"'{' '.join(process.args)}' ended with {process.returncode}")
            time.sleep(0.01)
        raise Failed(f"'{' '.join(process.args)}' doesn't listen")
