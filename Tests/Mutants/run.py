#!/usr/bin/env python3
"""Makes the mutants of mutants.txt and shows that the tests catch them.

The sources are copied to a scratch folder, and every mutant is written into the copy beside the right text; the
environment variable HEALTHBUS_MUTANT selects the one that lives, so one build is enough for all. Without the variable,
each test named must pass; with it, each must fail.

With --faults, no test is run: the simulation must catch a mutant within that many plans of 'make faults'.

Usage: run.py [--scratch FOLDER] [--faults N] [NAME ...]      all mutants, or some. Run by 'make mutants'.
"""

import argparse, concurrent.futures, os, pathlib, re, shutil, subprocess, sys, time

CHECKOUT = pathlib.Path(__file__).resolve().parents[2]
LIST = pathlib.Path(__file__).with_name("mutants.txt")
VARIABLE = "HEALTHBUS_MUTANT"

# This is added to each file that has a mutant. The added names are private, so that they can't clash with anything
# else.
HELPER = """

import func Glibc.getenv

private let livingMutant: String? = getenv("{variable}").map {{ String(cString: $0) }}
private func isMutant(_ name: String) -> Bool {{ livingMutant == name }}
""".format(variable=VARIABLE)


def fail(text):
    sys.exit(f"mutants: {text}")


def read_list():
    mutants = []
    for number, line in enumerate(LIST.read_text().split("\n"), 1):
        words = line.split()
        if line[:1] in ("-", "+") and mutants:
            mutants[-1]["old" if line[0] == "-" else "new"] += line[1:] + "\n"
        elif len(words) == 2 and words[0] == "mutant":
            mutants.append({"name": words[1], "old": "", "new": "", "test": []})
        elif len(words) == 2 and words[0] in ("rule", "file") and mutants:
            mutants[-1][words[0]] = words[1]
        elif len(words) == 2 and words[0] == "test" and mutants:
            mutants[-1]["test"].append(words[1])
        elif words and not line.startswith("#"):
            fail(f"{LIST}:{number}: can't be read: {line}")
    return mutants


def written(mutants):
    """The files that have mutants, with all mutants in them."""
    files = {}
    for mutant in mutants:
        path = mutant["file"]
        text = files.get(path) or (CHECKOUT / path).read_text()
        count = text.count(mutant["old"])
        if count != 1 or "MUTANT" not in mutant["new"]:
            fail(f"{mutant['name']}: its place is {count} times in {path}; bring {LIST.name} up to date")
        files[path] = text.replace(mutant["old"], mutant["new"].replace("MUTANT", f'isMutant("{mutant["name"]}")'))
    return {path: text + HELPER for path, text in files.items()}


def copy_sources(scratch, mutated):
    """Writes only files that differ, so that the next build is short."""
    kept = set()
    for folder, names, files in os.walk(CHECKOUT):
        here = pathlib.Path(folder).relative_to(CHECKOUT)
        names[:] = [name for name in names if not (str(here) == "." and name in (".git", ".build", ".state"))]
        for name in files:
            path = here / name
            kept.add(str(path))
            source, target = CHECKOUT / path, scratch / path
            content = mutated[str(path)].encode() if str(path) in mutated else source.read_bytes()
            if target.is_file() and target.read_bytes() == content:
                continue
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(content)
            shutil.copymode(source, target)
    for folder, names, files in os.walk(scratch):
        names[:] = [name for name in names if name != ".build"]
        for name in files:
            path = pathlib.Path(folder) / name
            if str(path.relative_to(scratch)) not in kept:
                path.unlink()


def swift(scratch, *words, mutant=None, **more):
    environment = {key: value for key, value in os.environ.items() if key != VARIABLE} | more
    environment["SWIFT_BACKTRACE"] = "enable=no"
    if mutant:
        environment[VARIABLE] = mutant
    return subprocess.run(
        [os.environ.get("SWIFT", "swift"), words[0], "--configuration", "release", *words[1:]],
        cwd=scratch, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace")


def outcomes(scratch, tests, mutant=None):
    """Whether each of these tests passed (None for one that didn't finish), and the output."""
    pattern = "|".join(f"{suite}/{name}\\(" for suite, name in (test.split("/") for test in sorted(tests)))
    run = swift(scratch, "test", "--skip-build", "--filter", pattern, mutant=mutant)
    found = {}
    for test in tests:
        name = re.escape(test.split("/")[1])
        passed = re.search(rf"Test {name}\(.*\) (with \d+ test cases )?passed", run.stdout)
        failed = re.search(rf"Test {name}\(.*\) (with \d+ test cases )?failed", run.stdout)
        found[test] = False if failed else True if passed else None
    return found, run


def plans(scratch, mutant, count):
    """How many plans of the simulation it takes until one fails; None if none does, or if nothing ran."""
    run = swift(
        scratch, "test", "--skip-build", "--filter", "FaultTests/everythingSurvivesEveryFault", mutant=mutant,
        HEALTHBUS_FAULTS=f"1-{count}", SWIFT_DETERMINISTIC_HASHING="1")
    ran = re.search(r"^(\d+) plans in", run.stdout, re.M)
    failed = re.search(r"plan [\d.]+: (.*)", run.stdout)
    # A mutant that makes the process crash has been noticed too.
    if not ran:
        return (0, "the process crashed") if run.returncode != 0 else None
    return (int(ran[1]), failed[1][:100]) if failed else None


def simulate(scratch, chosen, count):
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        found = pool.map(lambda mutant: plans(scratch, mutant["name"], count), chosen)
        for mutant, plan in zip(chosen, found):
            word = f"caught by plan {plan[0]}: {plan[1]}" if plan else f"not caught by {count} plans"
            print(f"rule {mutant['rule']:>2}  {mutant['name']:<30}  {word}", flush=True)


def main():
    parser = argparse.ArgumentParser(description="Makes mutants, and shows that the tests catch them.")
    parser.add_argument("names", nargs="*", metavar="NAME", help="mutants; all of the list when none is named")
    parser.add_argument("--faults", type=int, metavar="N", help="by the simulation, within N plans")
    parser.add_argument("--scratch", default=str(CHECKOUT / ".build" / "mutants"), help="where they are built")
    arguments = parser.parse_args()
    every = read_list()
    chosen = [mutant for mutant in every if not arguments.names or mutant["name"] in arguments.names]
    unknown = set(arguments.names) - {mutant["name"] for mutant in every}
    if unknown:
        fail(f"{LIST.name} has no {', '.join(sorted(unknown))}; it has {', '.join(m['name'] for m in every)}")

    scratch = pathlib.Path(arguments.scratch)
    copy_sources(scratch, written(every))
    print(f"{len(every)} mutants of {len({m['file'] for m in every})} files are built in {scratch}", flush=True)
    begin = time.monotonic()
    build = swift(scratch, "build", "--no-color-diagnostics", "--build-tests")
    if build.returncode != 0:
        fail("they don't build:\n" + build.stdout[-6000:])
    print(f"built in {time.monotonic() - begin:.0f} s", flush=True)

    if arguments.faults:
        if plans(scratch, None, 8):
            fail("the simulation fails without a mutant")
        return simulate(scratch, chosen, arguments.faults)

    tests = {test for mutant in chosen for test in mutant["test"]}
    found, run = outcomes(scratch, tests)
    wrong = [test for test, passed in sorted(found.items()) if passed is not True]
    if wrong or run.returncode != 0:
        fail(f"without a mutant these don't pass: {', '.join(wrong) or 'some'}\n" + run.stdout[-6000:])
    print(f"without a mutant all {len(tests)} tests pass", flush=True)

    survivors = []
    for mutant in chosen:
        found, run = outcomes(scratch, mutant["test"], mutant["name"])
        # If only one test was to be run, and the mutant made it crash, the mutant also counts as caught.
        crashed = run.returncode != 0 and len(mutant["test"]) == 1 and found[mutant["test"][0]] is None
        missed = [] if crashed else [test for test, passed in found.items() if passed is not False]
        if missed:
            survivors.append(mutant["name"])
        word = f"SURVIVES {', '.join(missed)}" if missed else "caught by " + ", ".join(mutant["test"])
        print(f"rule {mutant['rule']:>2}  {mutant['name']:<30}  {word}", flush=True)
    if survivors:
        fail(f"{len(survivors)} of {len(chosen)} survive: {', '.join(survivors)}")
    print(f"all {len(chosen)} mutants are caught")


if __name__ == "__main__":
    main()
