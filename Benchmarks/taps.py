#!/usr/bin/env python3
"""What taps cost: exports of about RATE samples are imported each second for SECONDS, without a tap, with one that is stopped, and with twenty
that run; by when the backend has them, and the hub's greatest memory.

    taps.py <folder of the built programs> [rate] [seconds]
"""
import json, os, shutil, signal, sqlite3, subprocess, sys, tempfile, threading, time

programs = sys.argv[1]
rate = int(sys.argv[2]) if len(sys.argv) > 2 else 2000
seconds = int(sys.argv[3]) if len(sys.argv) > 3 else 20
healthbus = os.path.join(programs, "healthbus")


def run(*words, **more):
    done = subprocess.run([healthbus, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **more)
    if done.returncode != 0:
        sys.exit(f"healthbus {' '.join(words)}: exit code {done.returncode}\n{done.stderr}")
    return done


def memory(pid):
    """High-water mark of the resident set, MB."""
    with open(f"/proc/{pid}/status") as file:
        return next(int(line.split()[1]) * 1024 / 1e6 for line in file if line.startswith("VmHWM"))


def delivered(state):
    with sqlite3.connect(f"file:{state}/uploader/state.sqlite?mode=ro", uri=True) as database:
        return database.execute("SELECT coalesce(sum(count), 0) FROM deliveries").fetchone()[0]


def measure(name, exports, taps, stopped):
    folder = tempfile.mkdtemp(prefix="taps-")
    state = folder + "/s"
    up = subprocess.Popen([healthbus, "up", "--state", state, "--zone", "Europe/Berlin"], stderr=subprocess.DEVNULL)
    clients = []
    try:
        while True:
            beats = json.loads(run("top", "--once", "--json", "--interval", "0.2", "--state", state).stdout)
            if all(process["state"] == "ready" for process in beats["processes"]):
                break
        with open(f"{state}/hub/lock") as file:
            hub = json.load(file)["pid"]
        for _ in range(taps):
            clients.append(subprocess.Popen([healthbus, "tap", "--json", "--state", state], stdout=subprocess.DEVNULL,
                                            stderr=subprocess.DEVNULL))
        time.sleep(1)
        if stopped:
            for client in clients:
                client.send_signal(signal.SIGSTOP)
        began = time.monotonic()
        added = 0
        for index, export in enumerate(exports):
            time.sleep(max(0, began + index - time.monotonic()))
            report = json.loads(run("import", "--json", "--state", state, export).stdout)
            added += report["files"][0]["added"]
        settled, last = time.monotonic(), -1
        while time.monotonic() - settled < 3:
            count = delivered(state)
            if count != last:
                settled, last = time.monotonic(), count
            time.sleep(0.05)
        took = settled - began
        print(f"{name:16} {added:8} samples  {took:6.2f} s  {added / took:8.0f} samples/s  hub {memory(hub):5.1f} MB", flush=True)
    finally:
        for client in clients:
            client.kill()
            client.wait()
        up.send_signal(signal.SIGTERM)
        up.wait(30)
        shutil.rmtree(folder, ignore_errors=True)


with tempfile.TemporaryDirectory(prefix="exports-") as folder:
    exports = []
    for index in range(seconds):
        exports.append(f"{folder}/{index}.zip")
        run("generate", "--days", "3", "--records", str(rate), "--seed", str(index + 1), "-o", exports[-1])
    measure("no tap", exports, 0, False)
    measure("a stopped tap", exports, 1, True)
    measure("twenty taps", exports, 20, False)
