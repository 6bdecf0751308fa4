#!/usr/bin/env python3
"""What one sample costs that comes alone, beyond what the stack uses at rest.

    Benchmarks/lone.py <folder of the programs> [rounds]

Starts a stack on a new state folder, and pushes one heart rate a round. Prints, by program: milliseconds of processor
time and wake-ups from the push until 15 s later, less those at rest; and the messages of one more round. Linux only: it
reads /proc.
"""

import collections
import json
import os
import subprocess
import sys
import tempfile
import time

import floors
from door import NOON_AFTER, Door, body
from measure import Failed, Run, family, median, name, use
from parts import attempt
from stack import Stack

SETTLED = 20  # seconds without movement before the clock starts
LENGTH = 15  # seconds that count
STEP = 3  # of three samples in a row, one is a heart rate


class Lone:
    def __init__(self, stack):
        self.stack, self.door = stack, Door(stack)
        self.next = 1

    def push(self):
        connection = self.door.connect()
        answer = self.door.push(connection, body(self.next, 1, NOON_AFTER))
        connection.close()
        self.next += STEP
        if b'"added":1,' not in answer:
            raise Failed("a sample that should be new was known")

    def used(self, action):
        """Nanoseconds and wake-ups by program from before `action` until `LENGTH` seconds later."""
        pids = family(self.stack.process.pid)
        before = {pid: use(pid) for pid in pids}
        begin = time.monotonic()
        action()
        time.sleep(LENGTH - (time.monotonic() - begin))
        return {name(pid): [now - then for now, then in zip(use(pid), before[pid])] for pid in pids}

    def cost(self, rounds, report=lambda number: None):
        """For each program, the medians of milliseconds and wake-ups of one sample."""
        self.push()
        time.sleep(SETTLED)
        rest = [self.used(lambda: None) for _ in range(2)]
        moved = []
        for number in range(rounds):
            report(number)
            moved.append(self.used(self.push))
            time.sleep(max(0, SETTLED - LENGTH))
        return {
            program: [median([part[program][kind] for part in moved]) - median([part[program][kind] for part in rest])
                      for kind in (0, 1)] for program in moved[0]}

    def messages(self):
        """Counts of one sample's messages, by the first word of the topic."""
        counts = collections.Counter()
        # A pipe that nobody reads meanwhile would fill up, and stop the tap.
        with tempfile.TemporaryFile("w+") as output:
            tap = subprocess.Popen(
                [self.stack.healthbus, "tap", "--state", self.stack.state, "--json", "--heartbeats"],
                env=self.stack.environment, stdout=output, stderr=subprocess.DEVNULL)
            time.sleep(SETTLED)
            begin = time.time()
            self.push()
            time.sleep(LENGTH)
            tap.terminate()
            tap.wait()
            output.seek(0)
            for line in output:
                heard = json.loads(line)
                if "topic" in heard and heard["header"]["at"] >= begin * 1e6:
                    counts[heard["topic"].split(".")[0]] += 1
        return counts


class LoneSample:
    """One sample that comes alone, compared with what its messages and commits cost without a stack."""

    name = "lone"
    #: By `LoneSampleTests` and `messages`; a message is heard by two to three processes.
    COMMITS, LISTENERS = 15, 2

    def __init__(self, context):
        self.context, self.report, self.size = context, context.report, context.size

    def measure(self):
        rows = [self.report["lone"], self.report["lone-floor"]]
        attempt(rows, lambda: self._measure(*rows))

    def _measure(self, row, ratio):
        program = floors.build(os.path.join(self.context.work, "floors"))["round"]
        with Stack(self.context.healthbus, self.context.folder("lone")) as stack:
            lone = Lone(stack)
            cost = lone.cost(self.size["lone"], lambda number: self.context.say(f"a lone sample, {number + 1} of {self.size['lone']}"))
            count = sum(lone.messages().values())
        used = sum(entry[0] for entry in cost.values()) / 1e6
        most = sorted(cost.items(), key=lambda entry: -entry[1][0])[:5]
        row.set(used, "POST /v1/samples", [{name: round(entry[0] / 1e6, 2) for name, entry in cost.items()}],
                f"{count} messages; " + ", ".join(f"{name.removeprefix('healthbus-')} {entry[0] / 1e6:.1f}" for name, entry in most))
        folder = self.context.folder("lone-floor")
        os.mkdir(folder)
        words = [program, folder, str(count), str(self.LISTENERS), str(self.COMMITS), "3"]
        floor = median([float(Run(words).output) for _ in range(3)])
        ratio.set(used / floor, words, note=f"{used:.1f} ms of {floor:.1f} ms")


def main():
    healthbus = os.path.join(os.path.abspath(sys.argv[1]), "healthbus")
    rounds = int(sys.argv[2]) if len(sys.argv) > 2 else 3
    with tempfile.TemporaryDirectory() as state, Stack(healthbus, state) as stack:
        lone = Lone(stack)
        cost = lone.cost(rounds)
        show(cost)
        messages = lone.messages()
    print(f"{sum(messages.values())} messages: " + ", ".join(f"{kind} {count}" for kind, count in messages.most_common()))


def show(cost):
    for program, (nanoseconds, wakes) in sorted(cost.items(), key=lambda entry: -entry[1][0]):
        print(f"{program:26} {nanoseconds / 1e6:6.1f} ms  {wakes:6.0f} wakes")
    print(f"{'all':26} {sum(entry[0] for entry in cost.values()) / 1e6:6.1f} ms  {sum(entry[1] for entry in cost.values()):6.0f} wakes")


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    try:
        main()
    except Failed as problem:
        sys.exit(f"lone: {problem}")
