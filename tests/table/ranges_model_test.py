"""Random statements on tables with a skip index (bloom_groups with a source), through several connections: two with the
extension, one without it, and one that only reads.

    /usr/bin/python3 tests/table/ranges_model_test.py EXTENSION [STEPS [SEED]]

The table itself is the oracle: after every statement each row that a connection sees must be in one of the ranges that
are returned for its key, in its transaction or out of it, and 'integrity-check' must agree.
"""

import sqlite3
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from source_model_test import KEYS, RULES, SOURCES, World  # noqa: E402
from support.crash import Crashes  # noqa: E402
from support.host import one  # noqa: E402
from support.model import run_all  # noqa: E402

WITH_ROWIDS = ("rowid", "nocase, unique", "rtrim, quoted", "cascade")
# With few bits per key some lookups find other ranges, and 'optimize' has something to do.
RANGES = {"one row": "rows=1, fpr=0.4", "few rows": "rows=7", "many rows": "rows=100, capacity=20"}
SMALLEST, LARGEST = -(2**63), 2**63 - 1


class RangesWorld(World):
    def __init__(self, path, source, ranges, journal, rng):
        super().__init__(path, source, ranges, journal, "any", rng)

    def module(self, column, ranges):
        return f"bloom_groups(source=T, column={column}, {RANGES[ranges]})"

    def command(self, side, name):
        if side.kind == "with":
            side.run(f"INSERT INTO f(f) VALUES ('{name}')")

    def append(self, side):
        side.run(
            f"INSERT {self.rng.choice(RULES)} INTO t(k, u, x) VALUES (?, ?, ?)", self.rng.choice(KEYS), self.rng.randrange(10000), self.row()[3]
        )

    def insert_at_an_end(self, side):
        rowid = self.rng.choice((SMALLEST, -1, 0, 1, LARGEST, LARGEST - 1, None))
        side.run(f"INSERT {self.rng.choice(RULES)} INTO t(id, k, u, x) VALUES (?, ?, ?, 0)", rowid, self.rng.choice(KEYS), self.rng.randrange(10000))

    def delete_the_last(self, side):
        side.run("DELETE FROM t WHERE id > (SELECT max(id) FROM t) - ?", self.rng.choice((1, 5, 50, LARGEST)))

    def use_random_rowids(self, side):
        """SQLite chooses random rowids when the largest one is in use; here a range covers them all."""
        side.run("INSERT OR REPLACE INTO t(id, k, u, x) VALUES (?, 'largest', ?, 0)", LARGEST, self.rng.randrange(10000))
        self.command(side, "summarize")
        self.append(side)

    def summarize(self, side):
        self.command(side, "summarize")

    merge = summarize  # of processes that are killed

    def optimize(self, side):
        self.command(side, "optimize")

    STEPS = {
        action: weight for action, weight in World.STEPS.items() if action is not World.merge
    } | {append: 15, insert_at_an_end: 2, use_random_rowids: 3, delete_the_last: 5, summarize: 8, optimize: 2}  # fmt: skip
    # After the largest rowid SQLite tries random ones, and an UPDATE can exceed it.
    EXPECTED = (*World.EXPECTED, "database or disk is full", "datatype mismatch")

    def check(self, complete):
        for side in self.sides:
            if side.kind == "without":
                continue
            try:
                rows = side.db.execute("SELECT id, k FROM t WHERE k IS NOT NULL").fetchall()
            except sqlite3.OperationalError as error:
                assert "locked" in str(error) or "no such table: t" in str(error) and side.db.in_transaction, error
                continue
            for rowid, key in self.rng.sample(rows, min(len(rows), 20)):
                ranges = side.db.execute("SELECT first, last FROM f WHERE key = ?", (key,)).fetchall()
                assert any(first <= rowid <= last for first, last in ranges), f"lost row {rowid} with key {key!r} in {ranges}"
                assert len(ranges) == len(set(ranges)), "a range twice"
            lost = "SELECT count(*) FROM t WHERE k IS NOT NULL AND NOT EXISTS (SELECT 1 FROM f WHERE f.key = t.k AND t.id BETWEEN first AND last)"
            assert one(side.db, lost) == 0, "lost in a subquery"
            for first, last in side.db.execute("SELECT first, last FROM f").fetchall():
                lacking = "SELECT count(*) FROM t WHERE id BETWEEN ?1 AND ?2 AND NOT bloom_contains((SELECT filter FROM f WHERE first = ?1), k)"
                try:
                    assert one(side.db, lacking, first, last) == 0, f"the filter of {first} to {last} lacks keys"
                except sqlite3.OperationalError as error:
                    assert "may lack keys" in str(error), error
            if complete and side.kind == "with" and not side.db.in_transaction:
                try:
                    self.command(side, "integrity-check")
                except sqlite3.OperationalError as error:
                    assert "locked" in str(error), error


if __name__ == "__main__":
    RangesWorld.crashes = Crashes()
    run_all(RangesWorld, WITH_ROWIDS, RANGES, ("delete", "wal"), steps=60)
