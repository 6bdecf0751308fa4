#!/usr/bin/env python3
"""Draws random rows from the pages on what developers write about HealthKit; prints the tests and commands for each.

Checks first that every row names something, and that every test, command and make target it names exists.

draw.py [--count 50|all] [--seed NUMBER] [--root CHECKOUT]
"""
import argparse
import pathlib
import random
import re
import sys

PAGES = ["docs/delivery-statements.md", "docs/places.md", "docs/statements.md"]
COLUMN, REASON = "shown by", "not built, because"


def rows(root):
    """The rows of all tables with one of the two columns: (page, line, statement, cell, whether it is built)."""
    for page in PAGES:
        kind = None
        for number, line in enumerate((root / page).read_text().splitlines(), 1):
            cells = [cell.strip() for cell in line.strip().strip("|").split(" | ")]
            if not line.startswith("|") or len(cells) != 2:
                kind = None
            elif cells[1] in (COLUMN, REASON):
                kind = cells[1]
            elif kind and not set(cells[1]) <= set("- "):
                yield page, number, cells[0], cells[1], kind == COLUMN


def tests(root):
    """Where each test is, by name: functions with @Test, and suites."""
    found = {}
    for file in sorted((root / "Tests").rglob("*.swift")):
        is_test = False
        for number, line in enumerate(file.read_text().splitlines(), 1):
            place = f"{file.relative_to(root)}:{number}"
            is_test = is_test or "@Test" in line
            if suite := re.search(r"struct (\w+Tests)\b", line):
                found.setdefault(suite[1], place)
            if is_test and (function := re.search(r"func `?(\w+)", line)):
                found.setdefault(function[1], place)
                is_test = False
    return found


def commands(root):
    """Each command's purpose, by name, and its allowed first words, if they are limited."""
    found = {}
    for file in (root / "Sources/healthbus").rglob("*.swift"):
        for block in file.read_text().split('name: "healthbus ')[1:]:
            summary = re.search(r'summary:\s*"([^"]*)', block)
            first = re.search(r'positionals: \[\s*\.init\("([^"]+)"', block.split("examples:")[0])
            words = first[1].split("|") if first and "|" in first[1] else None
            found[block.split('"')[0]] = (summary[1] if summary else "", words)
    return found


def targets(root):
    """The Makefile's targets, written as they are called."""
    lines = (root / "Makefile").read_text().splitlines()
    names = ((re.match(r"([a-z-]+):(?!.*=)", line), number) for number, line in enumerate(lines, 1))
    return {f"make {name[1]}": f"Makefile:{number}" for name, number in names if name}


def missing(cell, known_tests, known_commands):
    """The names in a cell that don't exist; the cell itself if it names nothing."""
    names = re.findall(r"`([^`]+)`", cell)
    lacking = [] if names else [cell or "nothing"]
    for name in names:
        if not name.startswith("healthbus "):
            lacking += [] if name in known_tests else [name]
            continue
        words = name.split()[1:]
        known = known_commands.get(words[0])
        is_wrong = known and known[1] and len(words) > 1 and not words[1].startswith("-") and words[1] not in known[1]
        lacking += [name] if known is None or is_wrong else []
    return lacking


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", default="50")
    parser.add_argument("--seed", type=int, default=None)
    parser.add_argument("--root", type=pathlib.Path, default=pathlib.Path(__file__).resolve().parents[2])
    asked = parser.parse_args()

    known_tests, known_commands = tests(asked.root) | targets(asked.root), commands(asked.root)
    everything = list(rows(asked.root))
    wrong = [
        f"{page}:{number}: {name}"
        for page, number, _, cell, is_built in everything
        for name in (missing(cell, known_tests, known_commands) if is_built else [] if cell else ["no reason"])
    ]
    if wrong or not everything:
        print("these show nothing:\n" + "\n".join(wrong), file=sys.stderr)
        return 1

    seed = random.randrange(1 << 32) if asked.seed is None else asked.seed
    count = len(everything) if asked.count == "all" else min(int(asked.count), len(everything))
    drawn = everything if asked.count == "all" else random.Random(seed).sample(everything, count)
    for page, number, statement, cell, is_built in drawn:
        print(f"{statement}\n    {page}:{number}")
        if not is_built:
            print(f"    not built: {cell}")
            continue
        for name in re.findall(r"`([^`]+)`", cell):
            is_command = name.startswith("healthbus ")
            print(f"    {name}: {known_commands[name.split()[1]][0] if is_command else known_tests[name]}")
    built = sum(is_built for *_, is_built in everything)
    print(
        f"\n{count} of {len(everything)} statements (seed {seed}); {built} are shown, {len(everything) - built} aren't built,"
        " with the reason. To run the tests named above: swift test -c release --filter NAME"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
