#!/usr/bin/env python3
"""Where the processor time goes: by process, thread and library, and the top functions of each process.

    Benchmarks/profiling.py <folder of the programs> import|again|idle

`import` profiles a whole stack that imports an export and delivers everything, `again` the import of the next day's
export on the resulting state, and `idle` an idle stack. RECORDS (200000) is the size of the export, and SECONDS (20) is
how long an idle stack is profiled. Shares are of all perf samples in which the stack ran; a thread is shown by its
name, and the main one as `main`. Linux's perf takes the samples; its data stay in .build/bench
for `perf report`.
"""

import collections
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time

from exports import Exports
from importing import import_command
from measure import Failed, Run, family
from stack import Stack, environment, free_port

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
FREQUENCY = {"import": "999", "again": "999", "idle": "9999"}  # an idle stack is awake for only a hundred microseconds at a time
SETTLED = 12  # seconds: heartbeats are quiet after 10
PARANOID = "/proc/sys/kernel/perf_event_paranoid"


class Stacks:
    """A context with only the members that importing.import_command needs."""

    def __init__(self, healthbus):
        self.healthbus = healthbus


def perf():
    """The path of perf. - Throws: Failed, with what to do, if it isn't installed or isn't permitted to record."""
    program = shutil.which("perf")
    if program is None:
        raise Failed("perf isn't there: install Debian's package linux-perf, or run 'make profile', which does")
    with tempfile.NamedTemporaryFile() as file:
        done = subprocess.run([program, "record", "-q", "-o", file.name, "-F", "999", "--", "true"], capture_output=True, text=True)
    if done.returncode != 0:
        with open(PARANOID) as setting:
            level = setting.read().strip()
        raise Failed(f"perf may not record here ({PARANOID} is {level}): allow it until the next start with 'sudo sysctl "
                     f"kernel.perf_event_paranoid=1', or run as root; in a container it needs the capability PERFMON. perf says: "
                     f"{(done.stderr.strip().splitlines() or ['nothing'])[-1]}")
    return program


def record(program, data, frequency, words, variables):
    """- words: the command to profile, including everything that it starts; or perf's own options, and a command to
    wait for."""
    done = subprocess.run([program, "record", "-q", "-o", data, "-F", frequency, *words], env={**os.environ, **variables},
                          stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    if done.returncode != 0:
        raise Failed(f"what was to be looked at failed: {(done.stderr.strip().splitlines() or ['no reason was given'])[-1]}")


SAMPLE = re.compile(r"\s*(?P<thread>.+?)\s+(?P<pid>\d+)/(?P<tid>\d+)\s+[0-9a-f]+\s+(?P<function>.*?)\s+\((?P<library>[^)]*)\)$")
NAMED = re.compile(r".*PERF_RECORD_COMM(?: exec)?: (?P<name>.+):(?P<pid>\d+)/(?P<tid>\d+)$")


def samples(program, data, programs):
    """For each sample (process, thread, library, function).
    - programs: the full names of all programs, since the kernel keeps only 15 characters."""
    text = subprocess.run([program, "script", "-i", data, "--show-task-events", "-F", "comm,pid,tid,ip,sym,dso"], check=True, capture_output=True,
                          text=True).stdout
    names, found = {}, []
    for line in text.splitlines():
        if match := NAMED.match(line):
            if match["pid"] == match["tid"]:
                names[match["pid"]] = match["name"]
        elif match := SAMPLE.match(line):
            if match["pid"] == match["tid"]:
                names.setdefault(match["pid"], match["thread"])
            if match["pid"] != "0":
                found.append(match.groupdict())
    whole = {name[:15]: name for name in programs}
    result = []
    for sample in found:
        name = names.get(sample["pid"], sample["thread"])
        process = whole.get(name, name)
        thread = "main" if sample["pid"] == sample["tid"] else sample["thread"]
        # A thread without a name of its own has the program's name.
        result.append((process, f"thread {sample['tid']}" if thread == name else thread, os.path.basename(sample["library"]),
                       sample["function"]))
    return result


def readable(functions):
    """The names of functions: Swift's are demangled, and others are left unchanged."""
    swift = shlex.split(os.environ.get("SWIFT", "swift"))
    try:
        done = subprocess.run([*swift, "demangle", "--compact", "--simplified"], input="\n".join(functions), capture_output=True, text=True)
    except OSError:
        return list(functions)
    lines = done.stdout.split("\n")[:len(functions)]
    return lines if done.returncode == 0 and len(lines) == len(functions) else list(functions)


def show(found, frequency, processes=8, functions=12):
    if not found:
        raise Failed("perf has no sample of the stack")
    total = len(found)
    names = sorted({function for *_, function in found})
    plain = dict(zip(names, readable(names)))

    def table(title, counted, most):
        print(f"\n{title}")
        for key, count in counted.most_common(most):
            if count / total < 0.001:
                break
            print(f"{100 * count / total:6.2f} %  {'  '.join(key) if isinstance(key, tuple) else key}"[:160])

    print(f"{total} samples in which the stack ran, {frequency} a second and core")
    by_process = collections.Counter(process for process, *_ in found)
    table("process", by_process, 20)
    table("process and thread", collections.Counter((process, thread) for process, thread, *_ in found), 30)
    table("library", collections.Counter(library for _, _, library, _ in found), 20)
    for process, _ in by_process.most_common(processes):
        own = collections.Counter((library, plain[function]) for name, _, library, function in found if name == process)
        table(f"{process}: library and function", own, functions)


def main():
    what = sys.argv[2] if len(sys.argv) > 2 else ""
    if len(sys.argv) != 3 or what not in ("import", "again", "idle"):
        sys.exit(__doc__)
    programs = os.path.abspath(sys.argv[1])
    healthbus, work = os.path.join(programs, "healthbus"), os.path.join(ROOT, ".build", "bench")
    program, records = perf(), int(os.environ.get("RECORDS", "200000"))
    exports = Exports(healthbus, os.path.join(work, "exports"), lambda text: print(text, file=sys.stderr))
    data = os.path.join(work, f"perf-{what}.data")
    with tempfile.TemporaryDirectory(prefix="profile-", dir=work) as state:
        variables = environment(free_port())
        if what == "import":
            record(program, data, FREQUENCY[what], ["--", *import_command(Stacks(healthbus), state, exports.of(records))], variables)
        else:
            Run(import_command(Stacks(healthbus), state, exports.of(records)), variables)
        if what == "again":
            record(program, data, FREQUENCY[what], ["--", *import_command(Stacks(healthbus), state, exports.later(records))], variables)
        if what == "idle":
            with Stack(healthbus, state) as stack:
                time.sleep(SETTLED)
                pids = ",".join(map(str, family(stack.process.pid)))
                record(program, data, FREQUENCY[what], ["-p", pids, "--", "sleep", os.environ.get("SECONDS", "20")], {})
    names = [name for name in os.listdir(programs) if os.access(os.path.join(programs, name), os.X_OK) and "." not in name]
    show(samples(program, data, names), FREQUENCY[what])
    print(f"\n{os.path.relpath(data)}")


if __name__ == "__main__":
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    try:
        main()
    except Failed as problem:
        sys.exit(f"profile: {problem}")
    except KeyboardInterrupt:
        sys.exit(130)
