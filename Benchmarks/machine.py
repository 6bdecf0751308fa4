"""What a result depends on besides the code: the machine, versions, the commit."""

import ctypes
import ctypes.util
import os
import platform
import re
import shlex
import sqlite3
import subprocess
import sys


def _said(*words, folder=None):
    """A command's output, or None if it can't be run."""
    try:
        done = subprocess.run(words, capture_output=True, text=True, cwd=folder, timeout=60)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.strip() if done.returncode == 0 else None


def _file_system(folder):
    """The type of the file system that contains `folder`, and its device."""
    best = ("", "unknown", "")
    path = os.path.realpath(folder)
    with open("/proc/mounts") as mounts:
        for line in mounts:
            device, place, kind = line.split()[:3]
            place = place.replace("\\040", " ")
            if (path == place or path.startswith(place.rstrip("/") + "/")) and len(place) >= len(best[0]):
                best = (place, kind, device)
    return f"{best[1]} ({best[2]})"


def _libzmq():
    path = ctypes.util.find_library("zmq")
    if path is None:
        return None
    numbers = [ctypes.c_int() for _ in range(3)]
    ctypes.CDLL(path).zmq_version(*map(ctypes.byref, numbers))
    return ".".join(str(number.value) for number in numbers)


def _sqlite():
    """The version of the library that the programs are linked with; Python's own may differ."""
    path = ctypes.util.find_library("sqlite3")
    if path is None:
        return sqlite3.sqlite_version
    library = ctypes.CDLL(path)
    library.sqlite3_libversion.restype = ctypes.c_char_p
    return library.sqlite3_libversion().decode()


def facts(root, state):
    """- root: the checkout. - state: the folder in which state folders are created."""
    with open("/proc/cpuinfo") as file:
        model = re.search(r"(?m)^model name\s*:\s*(.*)$", file.read())
    with open("/proc/meminfo") as file:
        memory = int(file.readline().split()[1]) * 1024
    swift = re.search(r"Swift version (\S+)", _said(*shlex.split(os.environ.get("SWIFT", "swift")), "--version") or "")
    changes = _said("git", "status", "--porcelain", folder=root)
    return {
        "machine": {
            "processor": model.group(1) if model else platform.machine(),
            "cores": len(os.sched_getaffinity(0)),
            "memoryMB": round(memory / 1e6),
            "kernel": platform.release(),
            "fileSystem": _file_system(state),
            "load": os.getloadavg()[0],
        },
        "versions": {
            "swift": swift.group(1) if swift else None,
            "sqlite": _sqlite(),
            "libxml2": _said("xml2-config", "--version"),
            "libzmq": _libzmq(),
            "python": platform.python_version(),
        },
        "commit": _said("git", "rev-parse", "HEAD", folder=root),
        # Changed result files don't count as changes to the measured code.
        "dirty": None if changes is None else any(
            not line[3:].startswith("Benchmarks/results/") for line in changes.splitlines()),
    }


if __name__ == "__main__":
    import json
    print(json.dumps(facts(*sys.argv[1:]), indent=2))
