"""Random steps in a world that checks itself:

    from support.model import run_all

A world has step(), check(complete), a log of statements, and sides with a database each.
"""

import itertools
import os
import random
import sys
import tempfile


def run(make_world, names, steps, seed):
    with tempfile.TemporaryDirectory() as folder:
        world = make_world(os.path.join(folder, "db"), *names, random.Random(seed))
        try:
            for i in range(steps):
                world.step()
                world.check(complete=i % 10 == 9)
        except Exception:
            print(f"{', '.join(names)}, seed {seed}: the last statements were", *world.log[-30:], sep="\n  ")
            raise
        finally:
            for side in world.sides:
                side.db.close()


def run_all(make_world, *choices, steps):
    """A world for each combination of choices. The command line may say: STEPS [SEED]."""
    steps = int(sys.argv[1]) if len(sys.argv) > 1 else steps
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else 1
    combinations = list(itertools.product(*choices))
    for names in combinations:
        run(make_world, names, steps, seed)
    print(f"{len(combinations)} runs of {steps} steps")
