#!/usr/bin/env python3
"""Measures the stack, and compares it with its budgets: prints a table, and writes a file to Benchmarks/results.

    Benchmarks/bench.py <folder of the programs> [--only ID,…] [--folder WORK] [--results FOLDER]
    Benchmarks/bench.py --list

`make bench` builds the programs and what this needs, and calls it. QUICK=1 measures everything on a smaller scale,
within two minutes; FULL=1 also measures what takes a long time. Rows that are compared with a floor are measured in
interleaved rounds. WORK (.build/bench) keeps the exports and the peers for the next time; state folders are created and
removed in it. Linux only: it reads /proc. docs/performance.md explains the rows.
"""

import argparse
import os
import shutil
import sys
import tempfile

import machine
from asking import Questions
from importing import Imports
from lone import LoneSample
from measure import Failed
from parts import Around, Live, Plain, Users
from postgres import Postgres
from pushing import Pushed
from receiving import Received
from report import Report, budgets

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(HERE)

SIZES = {
    "quick": dict(
        meaning="200,000 records, two rounds: a look, no measurement", records=200_000, rounds=2, small=20_000, large=200_000,
        peers=20_000, starts=2, settle=11, rest=6, samples=8, bus=(3, 0.4), codec=0.5, pushed=20_000, users=0, year=0, live=0, histories=1, larges=1, lone=2, decade=0),
    "usual": dict(
        meaning="1,000,000 records, three rounds", records=1_000_000, rounds=3, small=100_000, large=1_000_000, peers=1_000_000,
        starts=5, settle=20, rest=30, samples=100, bus=(5, 1), codec=3, pushed=200_000, users=50, year=1000, live=30, histories=3, larges=1, lone=5, decade=4_100_000),
    "full": dict(
        meaning="1,000,000 records, five rounds; 10,000,000 in three of them; 5,000,000 stored; 1,000 users for an hour", records=1_000_000, rounds=5,
        small=1_000_000, large=10_000_000, peers=1_000_000, starts=5, settle=20, rest=60, samples=200, bus=(5, 2), codec=5, pushed=500_000,
        users=1000, year=1000, live=3600, histories=5, larges=3, stored=5_000_000, lone=5, decade=4_100_000),
}


class Progress:
    """On a terminal, one line that changes; nothing in a pipe."""

    def __init__(self):
        self.is_shown = sys.stderr.isatty()

    def __call__(self, text):
        if self.is_shown:
            sys.stderr.write(f"\r\033[K{text[:100]}")
            sys.stderr.flush()

    def end(self):
        self("")


class Context:
    """The context that all parts share. - size: one of SIZES. - scratch: for state folders; removed at the end."""

    def __init__(self, programs, work, scratch, size, report, say):
        self.healthbus = os.path.join(programs, "healthbus")
        self.bench = os.path.join(programs, "healthbus-bench")
        self.work, self.scratch, self.size, self.report, self.say = work, scratch, size, report, say
        # : Peak memory by program, over all runs.
        self.peaks = {}
        #: A state folder with an export that has been delivered completely.
        self.state = None

    def seen(self, peaks):
        self.peaks = {name: max(self.peaks.get(name, 0), peaks.get(name, 0)) for name in self.peaks | peaks}

    def folder(self, name):
        path = os.path.join(self.scratch, name)
        shutil.rmtree(path, ignore_errors=True)
        return path


def arguments():
    parser = argparse.ArgumentParser(prog="bench.py", description=__doc__.splitlines()[0])
    parser.add_argument("programs", nargs="?", help="the folder of the built programs: make bin-path")
    parser.add_argument("--list", action="store_true", help="print the budgets and end")
    parser.add_argument("--only", default="", help="parts: " + ", ".join(part.name for part in PARTS))
    parser.add_argument("--folder", default=os.path.join(ROOT, ".build", "bench"))
    parser.add_argument("--results", help="where the file goes; with --only there is none unless this is given")
    given = parser.parse_args()
    if not given.list and given.programs is None:
        parser.error("name the folder of the programs, or call 'make bench'")
    unknown = set(filter(None, given.only.split(","))) - {part.name for part in PARTS}
    if unknown:
        parser.error(f"there is no part {', '.join(sorted(unknown))}")
    return given


PARTS = [Plain, Imports, Around, LoneSample, Questions, Live, Pushed, Received, Postgres, Users]


def main():
    given = arguments()
    if given.list:
        for entry in budgets():
            limit = " ".join(f"{kind} {entry[kind]:g}" for kind in ("at most", "at least") if kind in entry)
            print(f"{entry['id']}\t{limit} {entry['unit']}\t{entry['what']}")
        return
    asked = [name for name in ("quick", "full") if os.environ.get(name.upper(), "0") not in ("", "0")]
    name = asked[0] if asked else "usual"
    size = {"name": name, **SIZES[name]}
    work, say = os.path.abspath(given.folder), Progress()
    os.makedirs(work, exist_ok=True)
    report = Report(machine.facts(ROOT, work), {key: size[key] for key in ("name", "meaning", "records", "rounds")})
    with tempfile.TemporaryDirectory(prefix="run-", dir=work) as scratch:
        context = Context(os.path.abspath(given.programs), work, scratch, size, report, say)
        try:
            for part in PARTS:
                if not given.only or part.name in given.only.split(","):
                    part(context).measure()
        finally:
            say.end()
    for row in report.rows.values():
        if row.value is None and row.why is None:
            row.why = "left out by --only"
    print(report.table())
    if given.results or not given.only:
        print(f"\n{os.path.relpath(report.write(given.results or os.path.join(HERE, 'results')))}")


if __name__ == "__main__":
    try:
        main()
    except Failed as problem:
        sys.exit(f"bench: {problem}")
    except KeyboardInterrupt:
        sys.exit(130)
