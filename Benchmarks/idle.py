#!/usr/bin/env python3
"""How much of the machine an idle stack uses.

    Benchmarks/idle.py <folder of the programs> [seconds] [export]

Starts a stack on a new state folder (with an export, if one is named), waits until it is idle, and prints each process'
share of one core and its wakes per second, then both for all together, and proportional memory. Linux only: it reads
/proc.
"""

import os
import sys
import tempfile

from measure import Failed
from stack import Stack

SETTLED = 20  # seconds without movement before the clock starts: heartbeats are quiet after 10


def main():
    healthbus = os.path.join(os.path.abspath(sys.argv[1]), "healthbus")
    seconds = float(sys.argv[2]) if len(sys.argv) > 2 else 40
    with tempfile.TemporaryDirectory() as state, Stack(healthbus, state) as stack:
        if len(sys.argv) > 3:
            stack.ask("import", sys.argv[3])
            stack.until_backend_rests()
        rest = stack.rest(SETTLED, seconds)
    for program in rest["programs"]:
        print(f"{program['program']:26} {program['share']:6.3f} %  {program['wakes']:6.1f} wakes/s")
    print(f"{len(rest['programs'])} processes: {rest['share']:.3f} % of a core, {rest['wakes']:.1f} wakes/s, "
          f"{rest['memory'] / 1e6:.0f} MB proportional")


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    try:
        main()
    except Failed as problem:
        sys.exit(f"idle: {problem}")
