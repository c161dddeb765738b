"""Random steps in a world that checks itself:

    from support.model import run_all

A world has step(), check(complete), a log of statements, and sides with a database each.
"""

import itertools
import os
import random
import sqlite3
import sys
import tempfile

from support.host import SANITIZED


class Transactions:
    """The part of a world that begins and ends transactions. `committed` is the state that is in the file. A side has
    `working`, its own state within a transaction, else None, and a state for each savepoint. A state has copy()."""

    def begin(self, side):
        if side.working is None:
            if self.wal and self.rng.random() < 0.3:
                side.run("BEGIN")
                side.run("SELECT 1 FROM sqlite_master").fetchall()
                side.writes = False
            else:
                side.run(self.rng.choice(("BEGIN IMMEDIATE", "BEGIN EXCLUSIVE")))
                side.writes = True
            side.working = self.committed.copy()

    def commit(self, side):
        if side.working is not None:
            side.run("COMMIT")
            if side.writes:
                self.committed = side.working
            self.after_rollback(side)

    def rollback(self, side):
        if side.working is not None:
            side.run("ROLLBACK")
            self.after_rollback(side)

    def after_rollback(self, side):
        side.working = None
        side.savepoints = []

    def savepoint(self, side):
        if side.working is not None and side.writes:
            side.run(f"SAVEPOINT s{len(side.savepoints)}")
            side.savepoints.append(side.working.copy())

    def rollback_to(self, side):
        if side.savepoints:
            i = self.rng.randrange(len(side.savepoints))
            side.run(f"ROLLBACK TO s{i}")
            side.working = side.savepoints[i].copy()
            del side.savepoints[i + 1 :]

    def release(self, side):
        if side.savepoints:
            i = self.rng.randrange(len(side.savepoints))
            side.run(f"RELEASE s{i}")
            del side.savepoints[i:]

    def reopen(self, side):
        side.db.close()
        try:
            side.open()
        except sqlite3.OperationalError:  # another side has locked the file
            for other in self.sides:
                if other is not side:
                    self.rollback(other)
            side.open()

    def vacuum(self, side):
        if side.working is None:
            side.run("VACUUM")

    STEPS = {begin: 12, commit: 8, rollback: 4, savepoint: 8, rollback_to: 6, release: 4, reopen: 2, vacuum: 0.5}


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
    return len(world.log)


def run_all(make_world, *choices, steps):
    """Runs a world for each combination of choices. The command line can give the number of steps and the seed."""
    steps = int(sys.argv[1]) if len(sys.argv) > 1 else steps // 3 if SANITIZED else steps
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else 1
    combinations = list(itertools.product(*choices))
    statements = sum(run(make_world, names, steps, seed) for names in combinations)
    print(f"{len(combinations)} runs of {steps} steps, {statements} statements")
