"""The time that other packages from PyPI take for the same file. None of them stores each sample once, computes a figure
or delivers anything: they only read rows."""

import os
import re
import shutil
import sqlite3
import subprocess
import sys

from measure import Failed, Run

FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "peers")
REQUIREMENTS = os.path.join(FOLDER, "requirements.txt")


class Peers:
    """The packages, in their own virtual environment. - Throws: Failed, if they can't be installed."""

    def __init__(self, folder):
        self.folder = folder
        self.python = os.path.join(folder, "bin", "python")
        mark = os.path.join(folder, "installed")
        with open(REQUIREMENTS) as file:
            wanted = file.read()
        if os.path.exists(mark):
            with open(mark) as file:
                if file.read() == wanted:
                    return
        shutil.rmtree(folder, ignore_errors=True)
        for words in ([sys.executable, "-m", "venv", folder],
                      [self.python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--retries", "1", "--timeout", "10", "-r", REQUIREMENTS]):
            try:
                done = subprocess.run(words, capture_output=True, text=True, timeout=300)
            except subprocess.TimeoutExpired:
                raise Failed("they can't be installed: no answer within 5 minutes")
            if done.returncode != 0:
                last = (done.stderr.strip().splitlines() or ["no reason was given"])[-1]
                raise Failed(f"they can't be installed (without a network?): {last}")
        with open(mark, "w") as file:
            file.write(wanted)

    def commands(self, export, xml, scratch):
        """By name: the command that reads the export, and how its rows are counted."""
        database = os.path.join(scratch, "healthkit.sqlite")
        program = os.path.join(self.folder, "bin", "healthkit-to-sqlite")
        # One of these tools expects the XML file to be named after the archive.
        named = os.path.join(scratch, "export.zip")
        os.symlink(export, named)
        return {
            "healthkit-to-sqlite": ([program, export, database], lambda _: _rows(database)),
            "apple-health-parser": (
                [self.python, os.path.join(FOLDER, "frames_lxml.py"), named, os.path.join(scratch, "parser")], _printed),
            "parse-apple-health-data": ([self.python, os.path.join(FOLDER, "frames_tree.py"), xml], _printed),
        }

    def measure(self, command, count):
        """Runs one round; the result includes the number of rows."""
        run = Run(command)
        return {**run.raw, "rows": count(run.output), "memoryMB": round(max(run.peaks.values(), default=0) / 1e6)}


def _printed(output):
    match = re.search(r"(\d+) rows", output)
    if match is None:
        raise Failed(f"it doesn't say how many rows it read: {output.strip()[-80:]}")
    return int(match.group(1))


def _rows(database):
    with sqlite3.connect(database) as connection:
        tables = [name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table' AND name LIKE 'r%'")]
        return sum(connection.execute(f'SELECT count(*) FROM "{name}"').fetchone()[0] for name in tables)
