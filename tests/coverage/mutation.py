#!/usr/bin/env python3
"""Whether the tests notice a core that is broken: one operator, constant or statement of core/ at a
time is changed, what depends on it is built again in build/mutation, and the tests are run: those
of the core, and, if these pass, those of SQL. The working tree is not touched.

    tests/coverage/mutation.py [COUNT] [--seed SEED] [--jobs JOBS] [--only PATH]

COUNT mutants, 6 unless given, are drawn by the seed; 0 takes all. What does not compile, and what
the compiler makes the same code of, does not count. A mutant that crashes, or takes four times as
long as the core that is not broken, is noticed. Prints each one that survives, and ends with "N passed, N failed".

Of all mutants at least 90 % must be noticed. A sample fails if it has more survivors than 95 of 100
samples of its size would have where 90 % of all are noticed: more than 2 of 6.
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
    """All mutants in the order of their draw, which a change elsewhere does not change."""
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
    """Counts what becomes of mutants, until `count` of them count."""
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
