#!/usr/bin/env python3
"""What taps cost: exports of about RATE samples are imported each second for SECONDS, without a tap, with one that is
stopped, and with twenty that run; reports when the backend has everything, and the hub's peak memory.

    taps.py <folder of the built programs> [rate] [seconds]
"""

import os
import signal
import subprocess
import sys
import tempfile
import time

from exports import Exports
from measure import Failed
from stack import Stack


def measure(healthbus, name, exports, taps, stopped):
    with tempfile.TemporaryDirectory(prefix="taps-") as state, Stack(healthbus, state) as stack:
        clients = []
        try:
            for _ in range(taps):
                clients.append(subprocess.Popen(
                    [healthbus, "tap", "--json", "--heartbeats", "--state", state], env=stack.environment, stdin=subprocess.DEVNULL,
                    stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL))
            time.sleep(1)
            if stopped:
                for client in clients:
                    client.send_signal(signal.SIGSTOP)
            began = time.monotonic()
            added = 0
            for index, export in enumerate(exports):
                time.sleep(max(0, began + index - time.monotonic()))
                added += stack.ask("import", export)["files"][0]["added"]
            settled, _ = stack.until_backend_rests(quiet=3)
            took = settled - began
            hub = stack.peaks()["healthbus-hub"] / 1e6
            print(f"{name:16} {added:8} samples  {took:6.2f} s  {added / took:8.0f} samples/s  hub {hub:5.1f} MB", flush=True)
        finally:
            for client in clients:
                client.kill()
                client.wait()


def main():
    healthbus = os.path.join(os.path.abspath(sys.argv[1]), "healthbus")
    rate = int(sys.argv[2]) if len(sys.argv) > 2 else 2000
    seconds = int(sys.argv[3]) if len(sys.argv) > 3 else 20
    with tempfile.TemporaryDirectory(prefix="exports-") as folder:
        maker = Exports(healthbus, folder, lambda _: None)
        exports = [maker.made(str(index), rate, 3, seed=str(index + 1)) for index in range(seconds)]
        measure(healthbus, "no tap", exports, 0, False)
        measure(healthbus, "a stopped tap", exports, 1, True)
        measure(healthbus, "twenty taps", exports, 20, False)


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    try:
        main()
    except Failed as problem:
        sys.exit(f"taps: {problem}")
