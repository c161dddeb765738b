#!/usr/bin/env python3
"""Measures whether the tests notice a broken core. Each mutant changes one operator or constant of core/, or removes one
statement. The objects that depend on the change are compiled again in build/mutation, and the tests run: first those of
the core, then, if they pass, those of SQL. The working tree stays as it is.

    tests/coverage/mutation.py [COUNT] [--seed SEED] [--jobs JOBS] [--only PATH]

COUNT mutants (default: 6; 0: all) are drawn by the seed. Mutants that do not compile, or that compile to the same code,
do not count. A mutant is noticed if a test fails, crashes, or takes four times as long as without the mutant. Prints each
surviving mutant, and ends with "N passed, N failed".

At least 90 % of all mutants must be noticed. A sample fails if it has more survivors than 95 of 100 samples of its size
would have if 90 % of all were noticed: more than 2 of 6.
"""

import argparse
import hashlib
import itertools
import math
import os
import subprocess
import sys
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from mutant_build import ROOT, Build
from mutants import mutants_of

NOTICED = 0.9
CONFIDENCE = 0.95
TOOLS = "g++ cmake ninja-build git sqlite3 libsqlite3-dev libgtest-dev libmurmurhash-dev python3 locales"


def install_tools():
    script = f"source tests/support/setup.sh; source tests/support/locale.sh; install_missing {TOOLS} && {{ make_german_locale || true; }}"
    subprocess.run(["bash", "-c", script], cwd=ROOT, check=True)
    os.environ["LOCPATH"] = str(ROOT / "build" / "locale")


def drawn(seed, only):
    """All mutants in the order of the draw. A change of one line does not change the order of the other mutants."""
    every = []
    for path in sorted(path for path in (ROOT / "core").rglob("*") if path.is_file()):
        name = str(path.relative_to(ROOT))
        if only in name:
            text = path.read_text()
            lines = text.split("\n")
            every += [(f"{seed} {name} {lines[mutant.line - 1]} {mutant.column} {mutant.old} {mutant.new}", mutant)
                      for mutant in mutants_of(name, text)]
    every.sort(key=lambda pair: hashlib.sha256(pair[0].encode()).digest())
    return [mutant for _, mutant in every]


def most_survivors(count, is_sample):
    if not is_sample:
        return int(count * (1 - NOTICED))
    at_most = itertools.accumulate(math.comb(count, i) * (1 - NOTICED) ** i * NOTICED ** (count - i)
                                   for i in range(count + 1))
    return sum(share < CONFIDENCE for share in at_most)


def examine(build, mutants, count, jobs):
    """Examines mutants until `count` of them count, and returns how many ended in which way."""
    results = Counter()

    def run(mutant):
        result = build.result_of(mutant)
        if result == "survived":
            line = (ROOT / mutant.path).read_text().split("\n")[mutant.line - 1]
            print(f"  survived  {mutant}\n            {line.strip()}", flush=True)
        return result

    with ThreadPoolExecutor(jobs) as pool:
        while mutants and (wanted := count - counted(results)) > 0:
            results.update(pool.map(run, mutants[:wanted]))
            mutants = mutants[wanted:]
    return results


def counted(results):
    return results["noticed"] + results["timed out"] + results["survived"]


def main():
    options = argparse.ArgumentParser()
    options.add_argument("count", type=int, nargs="?", default=6)
    options.add_argument("--seed", default="1")
    options.add_argument("--jobs", type=int, default=os.cpu_count())
    options.add_argument("--only", default="", help="part of the name of a file")
    given = options.parse_args()

    install_tools()
    mutants = drawn(given.seed, given.only)
    print(f"{len(mutants)} mutants", flush=True)
    results = examine(Build(given.jobs), mutants, given.count or len(mutants), given.jobs)
    count, survived = counted(results), results["survived"]
    most = most_survivors(count, given.count != 0)
    print(f"{count} of {len(mutants)} examined: {results['noticed']} noticed, {results['timed out']} timed out, "
          f"{survived} survived, of at most {most}; beside them {results['not compiled']} did not compile, "
          f"{results['same code']} are the same code")
    failed = int(count == 0 or survived > most)
    print(f"{1 - failed} passed, {failed} failed")
    sys.exit(failed)


main()
