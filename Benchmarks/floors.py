"""The C programs that show how long the libraries alone take: built once, with Debian's libraries."""

import os
import shutil
import subprocess

from measure import Failed

SOURCES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "floors")
LIBRARIES = {"xml": None, "unzip": ["-larchive"], "insert": ["-lsqlite3"], "proxy": ["-lzmq"], "load": ["-lzmq"],
             "round": ["-lsqlite3", "-lzmq", "-lpthread"]}


def _flags(option):
    return subprocess.run(["xml2-config", option], check=True, capture_output=True, text=True).stdout.split()


def build(folder):
    """Builds the programs; returns their paths, by name. - Throws: Failed, with what to install."""
    os.makedirs(folder, exist_ok=True)
    missing = [program for program in ("cc", "xml2-config") if shutil.which(program) is None]
    if missing:
        raise Failed(f"{' and '.join(missing)} missing: install gcc, libc6-dev and libxml2-dev, or run 'make bench', which does")
    programs = {}
    for name, libraries in LIBRARIES.items():
        source, program = os.path.join(SOURCES, name + ".c"), os.path.join(folder, name)
        programs[name] = program
        if os.path.exists(program) and os.path.getmtime(program) >= os.path.getmtime(source):
            continue
        before, after = ([], libraries) if libraries is not None else (_flags("--cflags"), _flags("--libs"))
        done = subprocess.run(["cc", "-O2", *before, source, "-o", program, *after], capture_output=True, text=True)
        if done.returncode != 0:
            raise Failed(f"{source} can't be built: {done.stderr.strip().splitlines()[-1]}")
    return programs
