"""Random statements on tables with a bloom_search table, through several connections: two with the extension, one without
it, and one that only reads.

    /usr/bin/python3 tests/table/search_model_test.py EXTENSION [STEPS [SEED]]

The table itself is the oracle: after every statement a search returns the rows that a connection sees in it, in its
transaction or out of it, and 'integrity-check' must agree.
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
OPTIONS = {"equal": "equal=({k})", "indexed": "equal=({k}, id)", "both": "equal=({k}, x || 'x' AS y), words=({k}), like=({k})"}
SMALLEST, LARGEST = -(2**63), 2**63 - 1


class SearchWorld(World):
    def __init__(self, path, source, options, journal, rng):
        super().__init__(path, source, options, journal, "any", rng)
        if options == "indexed":
            self.sides[0].run("CREATE INDEX key_of_t ON t(k)")
            self.command(self.sides[0], "summarize")

    def module(self, column, options):
        return f"bloom_search(source=T, {OPTIONS[options].format(k=column)})"

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

    def change_index(self, side):
        """With an index on the key, a filter over the whole table answers first."""
        side.run(self.rng.choice(("DROP INDEX IF EXISTS key_of_t", "CREATE INDEX IF NOT EXISTS key_of_t ON t(k)", "REINDEX")))

    def optimize(self, side):
        self.command(side, "optimize")

    STEPS = {
        action: weight for action, weight in World.STEPS.items() if action is not World.merge
    } | {append: 15, insert_at_an_end: 2, use_random_rowids: 3, delete_the_last: 5, summarize: 8, optimize: 2, change_index: 1}  # fmt: skip
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
            for _, key in self.rng.sample(rows, min(len(rows), 20)) * 2:
                found = [sorted(side.db.execute(f"SELECT id, k FROM {table} WHERE k = ?", (key,))) for table in ("f", "t")]
                assert found[0] == found[1], f"{key!r}: {found}"
            lost = "SELECT count(*) FROM t WHERE k IS NOT NULL AND NOT EXISTS (SELECT 1 FROM f WHERE f.k = t.k AND f.id = t.id)"
            assert one(side.db, lost) == 0, "lost in a subquery"
            in_sync = "SELECT max(json_extract(info, '$.in_sync')) FROM (SELECT info FROM f LIMIT 1)"
            assert one(side.db, in_sync) in (1, None), "reads all rows"
            if complete and side.kind == "with" and not side.db.in_transaction:
                try:
                    self.command(side, "integrity-check")
                except sqlite3.OperationalError as error:
                    assert "locked" in str(error), error


if __name__ == "__main__":
    SearchWorld.crashes = Crashes()
    run_all(SearchWorld, WITH_ROWIDS, OPTIONS, ("delete", "wal"), steps=60)
