"""Small servers of the kinds that neighbours deliver to, and a second stack's configuration. They listen on loopback."""

import http.client
import json
import os
import shutil
import subprocess
import sys
import threading
import time

from measure import Failed
from stack import free_port

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
TOKEN = "a-token-of-this-measurement"


# Programs started with this prefix take no resources away from a busy stack, like servers on another machine.
ELSEWHERE = ["nice", "-n", "19"]


class Broker:
    """A broker of its own, and everything that arrives on our topics."""

    def __init__(self, folder):
        self.port, self.messages = free_port(), []
        config = os.path.join(folder, "mosquitto.conf")
        with open(config, "w") as file:
            file.write(f"listener {self.port} 127.0.0.1\nallow_anonymous true\nuser root\n")
        program = shutil.which("mosquitto") or "/usr/sbin/mosquitto"
        self.server = subprocess.Popen([*ELSEWHERE, program, "-c", config], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(0.5)
        self.client = subprocess.Popen(
            [*ELSEWHERE, "mosquitto_sub", "-p", str(self.port), "-v", "-t", "healthbus/#", "-t", "homeassistant/#"], stdout=subprocess.PIPE, text=True)
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self):
        for line in self.client.stdout:
            self.messages.append((time.monotonic(), line))

    def close(self):
        self.client.terminate()
        self.server.terminate()


class FHIRServer:
    def __init__(self):
        self.port = free_port()
        self.process = subprocess.Popen(
            [*ELSEWHERE, sys.executable, "-B", os.path.join(ROOT, "Tests", "FHIR", "server.py"), str(self.port), "1"],
            env={**os.environ, "HEALTHBUS_FHIR_TOKEN": TOKEN}, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def log(self, start=0):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        connection.request("GET", f"/log?from={start}")
        found = json.loads(connection.getresponse().read())
        connection.close()
        return found

    def close(self):
        self.process.kill()


def following(stack, folder):
    """The path of a configuration with which a second stack follows this one."""
    token, path = os.path.join(folder, "follow-token"), os.path.join(folder, "second.json")
    with open(os.open(token, os.O_CREAT | os.O_WRONLY, 0o600), "w") as file:
        file.write(stack.ask("token", "new", "--scope", "read")["token"])
    status = stack.ask("status")
    if "dashboard" not in status:
        raise Failed("the status doesn't say where the dashboard is")
    with open(path, "w") as file:
        json.dump({"instances": {"ingest": {"configuration": {
            "followUrl": f"http://127.0.0.1:{status['dashboard']['port']}", "followTokenFile": token}}}}, file)
    return path
