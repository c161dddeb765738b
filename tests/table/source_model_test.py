"""Random statements on tables that filters follow, through several connections: two with the extension, one that only
reads, and, with writers=any, one without the extension. Some statements run in processes that SIGKILL ends.

    /usr/bin/python3 tests/table/source_model_test.py EXTENSION [STEPS [SEED]]

The table itself is the oracle: after every statement each key that a connection sees in it must be answered "maybe",
in its transaction or out of it, and 'integrity-check' must agree. Every few statements a counting filter is compared with
the one that 'rebuild' makes of the rows that are there. With writers=extension both are equal, byte for byte, except that
the mark of numbers in other forms stays when the last such text has gone. With
writers=any no counter may be lower after 'merge'; it may be higher, because a statement can record a key too many.
"""

import contextlib
import sqlite3
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from support.crash import Crashes  # noqa: E402
from support.host import EXTENSION, connect, one  # noqa: E402
from support.model import run_all  # noqa: E402

# For each: the source, the columns of the filter, the key of a row as SQL.
SOURCES = {
    "rowid": ("CREATE TABLE t(id INTEGER PRIMARY KEY, k, u UNIQUE, x)", "k", "k"),
    "without rowid": ("CREATE TABLE t(id INTEGER, k, u PRIMARY KEY, x) WITHOUT ROWID", "k", "k"),
    "nocase, unique": ("CREATE TABLE t(id INTEGER PRIMARY KEY, k TEXT COLLATE NOCASE UNIQUE, u UNIQUE, x)", "k", "k"),
    "rtrim, quoted": ('CREATE TABLE "t"(id INTEGER PRIMARY KEY, "k" TEXT COLLATE RTRIM, u UNIQUE, x)', '"K"', "k"),
    "composite": ("CREATE TABLE t(id INTEGER PRIMARY KEY, k, u UNIQUE, x)", "(k, x)", "bloom_key(t.k, t.x)"),
    "composite, folded": ("CREATE TABLE t(id INTEGER PRIMARY KEY, k TEXT COLLATE NOCASE, u UNIQUE, x COLLATE RTRIM)", "(k, x)", "bloom_key(t.k, t.x)"),
    "alias of the rowid": ("CREATE TABLE t(id INTEGER PRIMARY KEY, k, u UNIQUE, x)", "id", "id"),
    "generated": ("CREATE TABLE t(id INTEGER PRIMARY KEY, k, u UNIQUE, x, g AS (k || x))", "g", "g"),
    "cascade": (
        "CREATE TABLE parent(p PRIMARY KEY);"
        "CREATE TABLE t(id INTEGER PRIMARY KEY, k REFERENCES parent(p) ON UPDATE CASCADE ON DELETE CASCADE, u UNIQUE, x)",
        "k",
        "k",
    ),
}
FILTERS = {
    "growing": "capacity=20, growth=on, cache=4096",
    "sized": "capacity=50",
    "counting": "kind=counting, capacity=20000",  # more than rows ever come, so that 'rebuild' keeps it
}
DECIDED_LATE = ("alias of the rowid", "generated")  # writers=any refuses these
HEADER_BYTES = 64
KEYS = ["a", "A", "b ", "b", "B  ", 1, "1", 1.5, -0.0, b"a", "", "é", None] + [f"key {i}" for i in range(60)]
RULES = ("", "OR REPLACE", "OR IGNORE", "OR FAIL", "OR ABORT", "OR ROLLBACK")


class Side:
    """A connection: "with" the extension, "without" it, or "read-only" with it."""

    def __init__(self, world, kind="with"):
        self.world = world
        self.kind = kind
        self.open()

    def open(self):
        options = {"isolation_level": None, "timeout": 0, "cached_statements": self.world.rng.choice((0, 50))}
        if self.kind == "with":
            self.db = connect(self.world.path, **options)
        elif self.kind == "without":
            self.db = sqlite3.connect(self.world.path, **options)
        else:
            self.db = connect(f"file:{self.world.path}?mode=ro", uri=True, **options)
            return
        for pragma in self.world.pragmas():
            self.db.execute(pragma)
        self.db.execute("PRAGMA synchronous = OFF")  # fails if another side has locked the file
        self.merge_by_itself()

    def merge_by_itself(self):
        """As docs/keep-up-to-date.md describes."""
        if self.kind == "with" and self.world.is_made and self.world.writers == "any" and self.world.rng.random() < 0.5:
            rows = self.world.rng.choice((1, 3, 50))
            with contextlib.suppress(sqlite3.OperationalError):  # another side has locked the file
                self.run(
                    f"CREATE TEMP TRIGGER merging AFTER INSERT ON main.f_pending WHEN new.id >= {rows} "
                    "BEGIN INSERT INTO f(f) VALUES ('merge'); END"
                )

    def run(self, sql, *arguments):
        side = self.world.sides.index(self) if self in self.world.sides else "a new side"
        self.world.log.append(f"{side}: {sql:.150} {arguments!r:.100}")
        return self.db.execute(sql, arguments)


class Doomed:
    """A process that is killed. Collects the statements that it will run."""

    def __init__(self, kind):
        self.kind = kind
        self.statements = []

    def run(self, sql, *arguments):
        self.statements.append((sql, arguments))


class World:
    crashes = None  # a Crashes
    SOURCES = SOURCES

    def __init__(self, path, source, filter_, journal, writers, rng):
        self.path = path
        self.rng = rng
        self.log = []
        self.sides = []
        self.counting = filter_ == "counting"
        self.writers = writers if source not in DECIDED_LATE else "extension"
        schema, column, self.key = self.SOURCES[source]
        self.cascades = source == "cascade"
        self.has_rowid = source != "without rowid"
        self.is_made = False  # there is a filter
        self.sides.append(Side(self))
        db = self.sides[0].db
        db.execute(f"PRAGMA journal_mode = {journal}")
        db.executescript(schema)
        # What the rows of x = 8 and x = 9 do to the statement that brings them.
        for when, x, action in (("AFTER", 8, "FAIL, 'refused'"), ("AFTER", 9, "ABORT, 'refused'"), ("BEFORE", 7, "IGNORE")):
            for event in ("INSERT", "UPDATE"):
                db.execute(
                    f"CREATE TRIGGER no{x}{event} {when} {event} ON t WHEN new.x = {x} BEGIN SELECT RAISE({action}); END"
                )
        if self.cascades:
            db.executemany("INSERT OR IGNORE INTO parent VALUES (?)", [(key,) for key in KEYS if key is not None])
        for i in range(30):
            db.execute("INSERT OR IGNORE INTO t(id, k, u, x) VALUES (?, ?, ?, 0)", (i, rng.choice(KEYS), i))
        db.execute(f"CREATE VIRTUAL TABLE f USING {self.module(column, filter_)}")
        self.is_made = True
        self.sides[0].merge_by_itself()
        self.sides.append(Side(self))
        if self.writers == "any":
            self.sides.append(Side(self, "without"))
        self.sides.append(Side(self, "read-only"))

    def module(self, column, filter_):
        return f"bloom(source=T, column={column}, {FILTERS[filter_]}, writers={self.writers})"

    def pragmas(self):
        """For a connection that writes."""
        # Else REPLACE leaves the keys of the rows that go: safe, but not what 'rebuild' makes.
        always = self.counting and self.writers == "extension"
        yield "PRAGMA foreign_keys = ON"
        yield f"PRAGMA trusted_schema = {self.rng.choice(('ON', 'OFF'))}"
        yield f"PRAGMA recursive_triggers = {'ON' if always else self.rng.choice(('ON', 'OFF'))}"

    def row(self):
        return self.rng.randrange(100), self.rng.choice(KEYS), self.rng.randrange(100), self.rng.choice((0, 1, 2, 3, 4, 5, 7, 8, 9))

    def insert(self, side):
        rows = [self.row() for _ in range(self.rng.choice((1, 1, 5)))]
        side.run(
            f"INSERT {self.rng.choice(RULES)} INTO t(id, k, u, x) VALUES " + ",".join(["(?,?,?,?)"] * len(rows)),
            *(value for row in rows for value in row),
        )

    def upsert(self, side):
        side.run("INSERT INTO t(id, k, u, x) VALUES (?, ?, ?, ?) ON CONFLICT(u) DO UPDATE SET k = excluded.k || 'u', x = 1", *self.row())

    def update_key(self, side):
        _, key, u, _ = self.row()
        side.run(f"UPDATE {self.rng.choice(RULES)} t SET K = ?, u = u + {self.rng.choice((0, 0, 1))} WHERE u BETWEEN ? AND ?", key, u, u + 10)

    def update_id(self, side):
        name = self.rng.choice(("id", "ID", "rowid", "_rowid_", "oid") if self.has_rowid else ("id", "ID"))
        u = self.rng.randrange(100)
        side.run(f"UPDATE {self.rng.choice(RULES)} t SET {name} = {name} + ? WHERE u BETWEEN ? AND ?", self.rng.randrange(1, 200), u, u + 5)

    def update_x(self, side):
        side.run(f"UPDATE {self.rng.choice(RULES)} t SET x = ? WHERE u > ?", self.row()[3], self.rng.randrange(100))

    def update_from(self, side):
        side.run("UPDATE t SET (k, x) = (SELECT k || 'v', 2) WHERE u = ?", self.rng.randrange(100))

    def delete(self, side):
        side.run("DELETE FROM t WHERE u BETWEEN ?1 AND ?1 + ?2", self.rng.randrange(100), self.rng.choice((0, 5, 20)))

    def delete_all(self, side):
        side.run("DELETE FROM t")

    def cascade(self, side):
        if self.cascades:
            old, new = self.rng.choice(KEYS), self.rng.choice(KEYS)
            if self.rng.random() < 0.5:
                side.run("UPDATE OR IGNORE parent SET p = ? WHERE p = ?", new, old)
            else:
                side.run("DELETE FROM parent WHERE p = ?", old)
            side.run("INSERT OR IGNORE INTO parent VALUES (?), (?)", *(x if x is not None else 0 for x in (old, new)))

    def many_keys(self, side):
        side.run(
            "WITH RECURSIVE n(i) AS (VALUES(1) UNION ALL SELECT i + 1 FROM n WHERE i < 400) "
            "INSERT OR IGNORE INTO t(id, k, u, x) SELECT ?1 + i, 'many ' || (?1 + i), 1000 + ?1 + i, 0 FROM n",
            self.rng.randrange(5000),
        )

    def rebuild(self, side):
        if side.kind == "with":
            side.run("INSERT INTO f(f) VALUES ('rebuild')")

    def merge(self, side):
        if side.kind == "with":
            side.run("INSERT INTO f(f) VALUES ('merge')")

    def rename_filter(self, side):
        if side.kind != "with":
            return
        side.run("ALTER TABLE f RENAME TO f2")
        side.run("ALTER TABLE f2 RENAME TO f")

    def rename_source(self, side):
        begun = not side.db.in_transaction
        if begun:
            side.run("BEGIN IMMEDIATE")
        side.run("ALTER TABLE t RENAME TO t2")
        try:
            side.run("INSERT OR IGNORE INTO t2(id, k, u, x) VALUES (?, ?, ?, ?)", *self.row())
        finally:
            side.run("ALTER TABLE t2 RENAME TO t")
            if begun:
                side.run("COMMIT")

    def change_schema(self, side):
        side.run("CREATE TABLE other(x)")
        side.run("DROP TABLE other")

    def begin(self, side):
        if not side.db.in_transaction:
            side.run(self.rng.choice(("BEGIN", "BEGIN IMMEDIATE")))

    def commit(self, side):
        if side.db.in_transaction:
            side.run("COMMIT")

    def rollback(self, side):
        if side.db.in_transaction:
            side.run("ROLLBACK")

    def savepoint(self, side):
        if side.db.in_transaction:
            side.run("SAVEPOINT s")

    def rollback_to(self, side):
        if side.db.in_transaction:
            side.run("ROLLBACK TO s")

    def reopen(self, side):
        side.db.close()
        side.open()

    def vacuum(self, side):
        if not side.db.in_transaction:
            side.run("VACUUM")

    def crash(self, side):
        """As a process of the side's kind, which is killed within a statement, before the commit or after it."""
        doomed = Doomed(side.kind)
        for pragma in self.pragmas():
            doomed.run(pragma)
        if self.rng.random() < 0.7:
            doomed.run("BEGIN IMMEDIATE")
        actions = [World.insert, World.upsert, World.update_key, World.delete, World.many_keys, type(self).merge, type(self).merge, World.rebuild]
        for action in self.rng.choices(actions, k=self.rng.randrange(1, 5)):
            action(self, doomed)
        if self.rng.random() < 0.3:
            doomed.run("COMMIT")
        instructions = int(10 ** self.rng.uniform(1, 5))
        self.log += [f"{side.kind}, killed after {instructions} instructions: {sql:.150} {values!r:.100}" for sql, values in doomed.statements]
        self.crashes.run(self.path, EXTENSION if side.kind == "with" else None, doomed.statements, instructions)

    STEPS = {
        insert: 30, upsert: 8, update_key: 12, update_id: 6, update_x: 4, update_from: 4, delete: 8, delete_all: 0.5, cascade: 8,
        many_keys: 2, rebuild: 2, merge: 6, rename_filter: 1, rename_source: 1, change_schema: 1, begin: 10, commit: 6, rollback: 4,
        savepoint: 6, rollback_to: 5, reopen: 1, vacuum: 0.5,
        crash: 1.5,
    }  # fmt: skip

    # What may be said: a row broke a rule, or another connection is writing or was killed, or there is no such savepoint.
    EXPECTED = ("UNIQUE", "FOREIGN KEY", "PRIMARY KEY", "NOT NULL", "refused", "locked", "busy", "mismatch", "no such savepoint")

    def step(self):
        side = self.rng.choice([side for side in self.sides if side.kind != "read-only"])
        action = self.rng.choices(list(self.STEPS), weights=list(self.STEPS.values()))[0]
        try:
            action(self, side)
        except sqlite3.Error as error:
            if not any(text in str(error) for text in self.EXPECTED) or "f:" in str(error):
                raise

    def check(self, complete):
        for side in self.sides:
            if side.kind == "without":
                continue
            try:
                keys = [row[0] for row in side.db.execute(f"SELECT DISTINCT {self.key} FROM t WHERE {self.key} IS NOT NULL")]
            except sqlite3.OperationalError as error:
                # Who only reads cannot roll back what a killed process has left.
                only_reads = side.kind == "read-only" and "readonly" in str(error)
                assert only_reads or "locked" in str(error) or "no such table: t" in str(error) and side.db.in_transaction, error
                continue
            for key in self.rng.sample(keys, min(len(keys), 10)):
                assert side.db.execute("SELECT key FROM f WHERE key = ?", (key,)).fetchone() == (key,), f"lost {key!r}"
            lost = f"SELECT count(*) FROM t LEFT JOIN f ON f.key = {self.key} WHERE {self.key} IS NOT NULL AND f.key IS NULL"
            assert one(side.db, lost) == 0, "lost in a join"
            if complete and side.kind == "with" and not side.db.in_transaction:
                self.check_whole(side.db)

    def check_whole(self, db):
        try:
            db.execute("BEGIN IMMEDIATE")
        except sqlite3.OperationalError:
            return
        db.execute("INSERT INTO f(f) VALUES ('integrity-check')")
        if self.counting:
            db.execute("INSERT INTO f(f) VALUES ('merge')")
            db.execute("INSERT INTO f(f) VALUES ('integrity-check')")
            stored = one(db, "SELECT filter FROM f")
            # A counter that has once reached 15 stays there.
            saturated = one(db, "SELECT json_extract(info, '$.saturated') FROM f")
            db.execute("INSERT INTO f(f) VALUES ('rebuild')")
            rebuilt = one(db, "SELECT filter FROM f")
            if self.writers == "extension":
                marked = one(db, "SELECT bloom_add(?, 'text in other forms of numbers')", rebuilt)
                assert saturated or stored in (rebuilt, marked), "not what 'rebuild' makes"
            else:
                counters = zip(stored[HEADER_BYTES:], rebuilt[HEADER_BYTES:], strict=True)
                assert all(a & 15 >= b & 15 and a >> 4 >= b >> 4 for a, b in counters), "a counter is too low"
        db.execute("ROLLBACK")


if __name__ == "__main__":
    World.crashes = Crashes()
    run_all(World, SOURCES, FILTERS, ("delete", "wal"), ("any", "extension"), steps=30)
