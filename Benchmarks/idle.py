#!/usr/bin/env python3
"""What a resting stack takes of the machine.

    Benchmarks/idle.py <folder of the programs> [seconds] [export]

Starts a stack on a new state folder (with an export, if one is named), waits until it rests, and prints per process its share of one core and how often
it was woken a second, then both for all, and proportional memory. Linux only: it reads /proc.
"""

import os
import subprocess
import sys
import tempfile
import time

SETTLED = 20  # seconds without movement before the clock starts: heartbeats are quiet after 10


def family(pid):
    pids = [pid]
    for task in os.listdir(f"/proc/{pid}/task"):
        with open(f"/proc/{pid}/task/{task}/children") as children:
            for child in children.read().split():
                pids += family(int(child))
    return pids


def use(pid):
    """Nanoseconds of processor time and voluntary switches, of all threads."""
    time_used = switches = 0
    for task in os.listdir(f"/proc/{pid}/task"):
        with open(f"/proc/{pid}/task/{task}/schedstat") as file:
            time_used += int(file.read().split()[0])
        with open(f"/proc/{pid}/task/{task}/status") as file:
            switches += next(int(line.split()[1]) for line in file if line.startswith("voluntary"))
    return time_used, switches


def proportional_memory(pid):
    with open(f"/proc/{pid}/smaps_rollup") as file:
        return next(int(line.split()[1]) for line in file if line.startswith("Pss:")) * 1024


def name(pid):
    with open(f"/proc/{pid}/cmdline") as file:
        return os.path.basename(file.read().split("\0")[0])


def main():
    programs = os.path.abspath(sys.argv[1])
    seconds = float(sys.argv[2]) if len(sys.argv) > 2 else 40
    more = ["--import", sys.argv[3]] if len(sys.argv) > 3 else []
    with tempfile.TemporaryDirectory() as state:
        healthbus = [os.path.join(programs, "healthbus")]
        stack = subprocess.Popen(healthbus + ["up", "--state", state] + more, stderr=subprocess.DEVNULL)
        try:
            subprocess.run(healthbus + ["ready", "--state", state, "--within", "60"], check=True, stdout=subprocess.DEVNULL)
            time.sleep(SETTLED)
            pids = family(stack.pid)
            before = {pid: use(pid) for pid in pids}
            begin = time.monotonic()
            time.sleep(seconds)
            passed = time.monotonic() - begin
            share = wakes = 0
            for pid in pids:
                now = use(pid)
                own_share = (now[0] - before[pid][0]) / 1e9 / passed * 100
                own_wakes = (now[1] - before[pid][1]) / passed
                share += own_share
                wakes += own_wakes
                print(f"{name(pid):26} {own_share:6.3f} %  {own_wakes:6.1f} wakes/s")
            memory = sum(proportional_memory(pid) for pid in pids)
            print(f"{len(pids)} processes: {share:.3f} % of a core, {wakes:.1f} wakes/s, {memory / 1e6:.0f} MB proportional")
        finally:
            stack.terminate()
            stack.wait()


if __name__ == "__main__":
    main()
