"""Runs a command and reports the resources it used; reads about processes in /proc. Linux only."""

import os
import resource
import statistics
import subprocess
import threading
import time

median = statistics.median


class Failed(Exception):
    """A measurement couldn't be made; the message says why."""


def percentile(values, share):
    """The percentile: the lowest value that `share` percent of all values don't exceed."""
    ordered = sorted(values)
    return ordered[max(0, -(-len(ordered) * share // 100) - 1)]


def family(pid):
    """A process and all its descendants that still exist."""
    pids = [pid]
    try:
        for task in os.listdir(f"/proc/{pid}/task"):
            with open(f"/proc/{pid}/task/{task}/children") as children:
                for child in children.read().split():
                    pids += family(int(child))
    except (FileNotFoundError, ProcessLookupError):
        pass
    return pids


def name(pid):
    """A program's full name, as it was called."""
    with open(f"/proc/{pid}/cmdline") as file:
        return os.path.basename(file.read().split("\0")[0])


def use(pid):
    """Nanoseconds of processor time, and voluntary switches, of all existing threads."""
    switches = 0
    for task in os.listdir(f"/proc/{pid}/task"):
        with open(f"/proc/{pid}/task/{task}/status") as file:
            switches += next(int(line.split()[1]) for line in file if line.startswith("voluntary"))
    return sum(thread_times(pid).values()), switches


def thread_times(pid):
    """Nanoseconds of processor time by thread, of existing threads."""
    times = {}
    for task in os.listdir(f"/proc/{pid}/task"):
        with open(f"/proc/{pid}/task/{task}/schedstat") as file:
            times[task] = int(file.read().split()[0])
    return times


def processor_seconds(pid):
    """Processor seconds of a process, including threads that have ended."""
    with open(f"/proc/{pid}/stat") as file:
        fields = file.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def proportional_memory(pid):
    with open(f"/proc/{pid}/smaps_rollup") as file:
        return next(int(line.split()[1]) for line in file if line.startswith("Pss:")) * 1024


def memory_peak(pid):
    with open(f"/proc/{pid}/status") as file:
        return next(int(line.split()[1]) for line in file if line.startswith("VmHWM:")) * 1024


class Peaks(threading.Thread):
    """High-water marks of memory, by program, of a process and all its descendants, while they run."""

    def __init__(self, pid):
        super().__init__(daemon=True)
        self.pid = pid
        self.bytes = {}
        self.over = threading.Event()

    def run(self):
        while not self.over.wait(0.1):
            self.look()

    def look(self):
        for pid in family(self.pid):
            try:
                program = name(pid)
                self.bytes[program] = max(self.bytes.get(program, 0), memory_peak(pid))
            except (FileNotFoundError, ProcessLookupError, StopIteration):
                continue  # it has ended


class Run:
    """The resources a command used: `seconds` by the clock, `processor` seconds (including its descendants), and
    `peaks` of memory; and its output."""

    def __init__(self, words, environment=None, folder=None):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        begin = time.monotonic()
        process = subprocess.Popen(
            words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            env={**os.environ, **(environment or {})}, cwd=folder)
        peaks = Peaks(process.pid)
        peaks.start()
        try:
            self.output, errors = process.communicate()
        except BaseException:
            process.terminate()
            process.wait()
            raise
        finally:
            peaks.over.set()
            peaks.join()
        self.seconds = time.monotonic() - begin
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        self.processor = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        self.peaks = peaks.bytes
        if process.returncode != 0:
            last = (errors.strip().splitlines() or ["it says nothing"])[-1]
            raise Failed(f"{os.path.basename(words[0])} ended with {process.returncode}: {last}")

    @property
    def raw(self):
        return {"seconds": round(self.seconds, 4), "processor": round(self.processor, 4)}
