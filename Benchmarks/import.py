#!/usr/bin/env python3
"""What an import takes, against the floor: a bare parser that does nothing with what it reads (xml-floor.c).

    Benchmarks/import.py <folder of the programs> [records] [rounds]

Generates an export, then in each round, interleaved: the floor over the same XML; a whole stack on a new state folder until everything is computed, delivered and
final; the same file once more on that state. Prints medians, ratios to the floor, processor time, and the highest memory of any process. Needs cc and libxml2's
headers (libxml2-dev). Linux only: it reads /proc.
"""

import os
import resource
import statistics
import subprocess
import sys
import tempfile
import threading
import time
import zipfile

HERE = os.path.dirname(os.path.abspath(__file__))


def floor_program(folder):
    def flags(option):
        return subprocess.run(["xml2-config", option], check=True, capture_output=True, text=True).stdout.split()

    program = os.path.join(folder, "xml-floor")
    source = os.path.join(HERE, "xml-floor.c")
    subprocess.run(["cc", "-O2", *flags("--cflags"), source, "-o", program, *flags("--libs")], check=True)
    return program


def family(pid):
    """A process and all below it, as far as they are still there."""
    pids = [pid]
    try:
        for task in os.listdir(f"/proc/{pid}/task"):
            with open(f"/proc/{pid}/task/{task}/children") as children:
                for child in children.read().split():
                    pids += family(int(child))
    except (FileNotFoundError, ProcessLookupError):
        pass
    return pids


class Peaks(threading.Thread):
    """High-water marks of memory, by program, while a stack runs."""

    def __init__(self, pid):
        super().__init__(daemon=True)
        self.pid = pid
        self.bytes = {}
        self.over = threading.Event()

    def run(self):
        while not self.over.wait(0.2):
            for pid in family(self.pid):
                try:
                    with open(f"/proc/{pid}/status") as status:
                        fields = dict(line.split(":", 1) for line in status)
                    peak = int(fields["VmHWM"].split()[0]) * 1024
                except (FileNotFoundError, ProcessLookupError, KeyError):
                    continue
                name = fields["Name"].strip()
                self.bytes[name] = max(self.bytes.get(name, 0), peak)


def timed(words):
    """Seconds by the clock, seconds of processor time, and the peaks of memory."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    begin = time.monotonic()
    process = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    peaks = Peaks(process.pid)
    peaks.start()
    if process.wait() != 0:
        sys.exit(f"{' '.join(words)} ended with {process.returncode}")
    seconds = time.monotonic() - begin
    peaks.over.set()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return seconds, used, peaks.bytes


def main():
    programs = os.path.abspath(sys.argv[1])
    records = sys.argv[2] if len(sys.argv) > 2 else "200000"
    rounds = int(sys.argv[3]) if len(sys.argv) > 3 else 3
    healthbus = os.path.join(programs, "healthbus")
    with tempfile.TemporaryDirectory() as folder:
        export, xml = os.path.join(folder, "export.zip"), os.path.join(folder, "export.xml")
        days = str(max(30, int(records) // 1000))
        subprocess.run([healthbus, "generate", "--records", records, "--days", days, "-o", export], check=True, capture_output=True)
        with zipfile.ZipFile(export) as archive, open(xml, "wb") as file:
            file.write(archive.read("apple_health_export/export.xml"))
        floor = floor_program(folder)
        rows = {"floor": [], "everything": [], "again": []}
        memory = {}
        for number in range(rounds):
            state = os.path.join(folder, f"state-{number}")
            up = [healthbus, "up", "--state", state, "--import", export, "--zone", "Europe/Berlin", "--until-idle"]
            for name, words in [("floor", [floor, xml]), ("everything", up), ("again", up)]:
                seconds, used, peaks = timed(words)
                rows[name].append((seconds, used))
                if name != "floor":
                    memory = {key: max(memory.get(key, 0), peaks.get(key, 0)) for key in memory | peaks}
        base = statistics.median(seconds for seconds, _ in rows["floor"])
        print(f"{records} records, {os.path.getsize(xml) / 1e6:.0f} MB of XML, median of {rounds}")
        for name, measured in rows.items():
            seconds = statistics.median(seconds for seconds, _ in measured)
            used = statistics.median(used for _, used in measured)
            print(f"{name:12} {seconds:7.2f} s  {seconds / base:6.2f} x floor  {used:7.2f} s of processor")
        highest = max(memory, key=memory.get)
        print(f"highest memory of any process: {memory[highest] / 1e6:.0f} MB ({highest})")


if __name__ == "__main__":
    main()
