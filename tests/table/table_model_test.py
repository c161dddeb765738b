"""The bloom table against an exact multiset: random statements in two connections to one file.

    /usr/bin/python3 tests/table/table_model_test.py EXTENSION [STEPS [SEED]]

After each statement every connection is asked for keys that it can see; every few statements its whole filter must be,
byte for byte, the one that the functions make of exactly those keys. So nothing is lost, and nothing that was rolled
back stays. Of a table with generations each generation must be such a filter.
"""

import collections
import copy
import sqlite3
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from support.host import connect, one  # noqa: E402
from support.model import Transactions, run_all  # noqa: E402

TABLES = {
    "standard": ("capacity=20000, fpr=0.001", "bloom_create(20000, 0.001)"),
    "standard, unblocked": ("cells=126976, hashes=5", "bloom_create_sized(126976, 5)"),
    "standard, odd blocks": ("cells=120000, hashes=4, block=1000", "bloom_create_sized(120000, 4, 'standard', 1000)"),
    "counting": ("capacity=4000, kind=counting", "bloom_create(4000, 0.01, 'counting')"),
    "counting, odd blocks": (
        "cells=30002, hashes=3, block=15001, kind=counting",
        "bloom_create_sized(30002, 3, 'counting', 15001)",
    ),
    "partitioned": ("capacity=20000, kind='partitioned'", "bloom_create(20000, 0.01, 'partitioned')"),
    "generations": ("capacity=12000, fpr=0.003, generations=3", "bloom_create(4000, 0.001)"),
}
GENERATIONS = {"generations": 3}
CACHES = {"one chunk": 4096, "three chunks": 3 * 4096, "no bound": 1 << 32}
JOURNALS = ("delete", "wal")
HEADER_BYTES, CHUNK_BYTES = 64, 3968
# A key is in the filter so often at most: counters then never stick, and what they hold is exact.
MOST_TIMES = 4


class State:
    """What a table must hold."""

    def __init__(self, kind):
        self.name = "seen"
        self.halved = 0
        self.merged = False
        self.keys = collections.Counter()  # of the newest generation, if there are several
        self.older = [collections.Counter() for _ in range(GENERATIONS.get(kind, 1) - 1)]  # newest first

    def all_keys(self):
        return sum(self.older, self.keys)

    def copy(self):
        return copy.deepcopy(self)


class Side:
    """One connection, with what it must see."""

    def __init__(self, world):
        self.world = world
        self.open()

    def open(self):
        self.db = connect(self.world.path, isolation_level=None, timeout=0, cached_statements=20)
        self.db.execute("PRAGMA synchronous = OFF")
        self.working = None  # in a transaction: what it sees
        self.writes = False
        self.savepoints = []

    @property
    def sees(self):
        return self.world.committed if self.working is None else self.working

    def run(self, sql, *arguments):
        self.world.log.append(f"{self.world.sides.index(self) if self in self.world.sides else '?'}: {sql:.120} {arguments!r:.120}")
        return self.db.execute(sql, arguments)

    def change(self, state):
        """The statement succeeded, and this is what it left."""
        if self.working is None:
            self.world.committed = state
        else:
            self.working = state
            self.writes = True


class World(Transactions):
    def __init__(self, path, kind, cache, journal, rng):
        self.path = path
        self.rng = rng
        self.kind = kind
        options, self.empty = TABLES[kind]
        self.options = f"{options}, cache={CACHES[cache]}"
        self.counting = kind.startswith("counting")
        self.committed = State(kind)
        self.log = []
        self.sides = []
        self.sides.append(Side(self))
        db = self.sides[0].db
        db.execute(f"PRAGMA journal_mode = {journal}")
        db.execute(f"CREATE VIRTUAL TABLE seen USING bloom({self.options})")
        db.execute("CREATE TABLE source(k)")
        db.execute("CREATE TABLE other(x)")
        self.wal = journal == "wal"
        self.sides.append(Side(self))
        self.oracle = connect()
        self.next_key = 0

    # What to do. Each takes the side and does one statement.

    def new_keys(self, n):
        self.next_key += n
        forms = (lambda i: i, lambda i: f"key {i}", lambda i: float(i) + 0.5, lambda i: f"blob {i}".encode())
        return [forms[i % 4](i) for i in range(self.next_key - n, self.next_key)]

    def some_keys(self, side, n):
        """New ones and old ones."""
        old = [key for key, times in side.sees.all_keys().items() if times < MOST_TIMES]
        return self.new_keys(n) + self.rng.sample(old, min(len(old), n // 2))

    def insert_row(self, side):
        state = side.sees.copy()
        key = self.some_keys(side, 1)[0]
        side.run(f"INSERT INTO {state.name}(key) VALUES (?)", key)
        state.keys[key] += 1
        side.change(state)

    def insert_rows(self, side):
        state = side.sees.copy()
        keys = self.some_keys(side, self.rng.choice((2, 5, 200)))
        side.run(f"INSERT INTO {state.name}(key) VALUES " + ",".join("(?)" for _ in keys), *keys)
        state.keys.update(keys)
        side.change(state)

    def insert_new_rows(self, side):
        state = side.sees.copy()
        for key in self.some_keys(side, 4):
            cursor = side.run(f"INSERT OR IGNORE INTO {state.name}(key) VALUES (?), (NULL)", key)
            if cursor.rowcount == 1:
                state.keys[key] += 1
                side.change(state.copy())
            else:
                assert cursor.rowcount == 0
                if self.counting:  # counted all the same
                    state.keys[key] += 1
                    side.change(state.copy())
                assert self.contains(side, state.name, key)

    def insert_by_trigger(self, side):
        state = side.sees.copy()
        keys = self.some_keys(side, 3)
        side.run(f"CREATE TEMP TRIGGER tr AFTER INSERT ON source BEGIN INSERT INTO {state.name}(key) VALUES (new.k); END")
        try:
            for key in keys:
                side.run("INSERT INTO source VALUES (?)", key)
                state.keys[key] += 1
                side.change(state.copy())
        finally:
            side.run("DROP TRIGGER tr")

    def insert_in_vain(self, side):
        """A row that is refused in the end, under every conflict rule."""
        state = side.sees.copy()
        keys = self.some_keys(side, 3)
        rule = self.rng.choice(("", "OR ABORT", "OR FAIL", "OR ROLLBACK", "OR REPLACE"))
        try:
            side.run(f"INSERT {rule} INTO {state.name}(key) VALUES " + ",".join("(?)" for _ in keys) + ", (NULL)", *keys)
        except sqlite3.IntegrityError as error:
            assert "key must not be NULL" in str(error)
        else:
            raise AssertionError("a NULL key was taken")
        if rule == "OR FAIL":
            state.keys.update(keys)
            side.change(state)
        elif rule == "OR ROLLBACK":
            self.after_rollback(side)

    def delete(self, side):
        state = side.sees.copy()
        keys = [key for key, times in state.keys.items() if times > 0]
        if not self.counting or not keys:
            return
        keys = self.rng.sample(keys, min(len(keys), 3))
        if self.rng.random() < 0.5:
            side.run(f"DELETE FROM {state.name} WHERE key IN ({','.join('?' for _ in keys)})", *keys)
        else:
            keys = keys[:1]
            side.run(f"DELETE FROM {state.name} WHERE key = ?", *keys)
        state.keys.subtract(keys)
        side.change(state)

    def update(self, side):
        state = side.sees.copy()
        keys = [key for key, times in state.keys.items() if times > 0]
        if not self.counting or not keys:
            return
        old, new = self.rng.choice(keys), self.new_keys(1)[0]
        side.run(f"UPDATE {state.name} SET key = ? WHERE key = ?", new, old)
        state.keys[old] -= 1
        state.keys[new] += 1
        side.change(state)

    def merge(self, side):
        state = side.sees.copy()
        keys = self.new_keys(self.rng.choice((1, 50)))
        filter_ = self.filter_of(collections.Counter(keys), self.rng.randint(0, state.halved))
        side.run(f"INSERT INTO {state.name}(filter) VALUES (?)", filter_)
        state.keys.update(keys)
        side.change(state)

    def halve(self, side):
        state = side.sees.copy()
        if self.kind in GENERATIONS:
            self.refuse_one_filter(side, state.name)
            return
        if state.halved == 2 or (self.kind == "counting, odd blocks" and state.halved == 1):
            return
        side.run(f"INSERT INTO {state.name}({state.name}) VALUES ('halve')")
        state.halved += 1
        side.change(state)

    def clear(self, side):
        state = side.sees.copy()
        side.run(f"INSERT INTO {state.name}({state.name}) VALUES ('clear')")
        state.keys.clear()
        state.older = [collections.Counter() for _ in state.older]
        side.change(state)

    def rotate(self, side):
        state = side.sees.copy()
        try:
            side.run(f"INSERT INTO {state.name}({state.name}) VALUES ('rotate')")
        except sqlite3.OperationalError as error:
            if self.kind in GENERATIONS or "cannot rotate a table without generations" not in str(error):
                raise
            return
        assert self.kind in GENERATIONS
        state.older = [state.keys, *state.older[:-1]]
        state.keys = collections.Counter()
        side.change(state)

    def refuse_one_filter(self, side, name):
        for sql in (f"SELECT filter FROM {name}", f"INSERT INTO {name}({name}) VALUES ('halve')", f"INSERT INTO {name}({name}, fpr) VALUES ('fold', 0.5)"):
            try:
                side.run(sql).fetchall()
            except sqlite3.OperationalError as error:
                if "a table with generations" not in str(error):
                    raise
            else:
                raise AssertionError(f"not refused: {sql}")

    def rename(self, side):
        state = side.sees.copy()
        name = self.rng.choice(("seen", '"a b"', '"q""q"', "Other_Name"))
        if name != state.name:
            side.run(f"ALTER TABLE {state.name} RENAME TO {name}")
            state.name = name
            side.change(state)

    def change_schema(self, side):
        """Makes SQLite read the schema again, which makes a new object of the table."""
        if self.rng.random() < 0.5:
            side.run("PRAGMA writable_schema = RESET")
        else:
            side.run("ALTER TABLE other RENAME TO other2")
            side.run("ALTER TABLE other2 RENAME TO other")

    def replace_table(self, side):
        """Another table takes the name; often this is rolled back later."""
        state = State(self.kind)
        state.name = side.sees.name
        if side.working is None:
            return
        if self.rng.random() < 0.5:
            side.run(f"DROP TABLE {state.name}")
        else:
            side.run("DROP TABLE IF EXISTS gone")
            side.run(f"ALTER TABLE {state.name} RENAME TO gone")
        side.run(f"CREATE VIRTUAL TABLE {state.name} USING bloom({self.options})")
        side.change(state)

    def check_integrity(self, side):
        name = side.sees.name
        side.run(f"INSERT INTO {name}({name}) VALUES ('integrity-check')")

    STEPS = Transactions.STEPS | {
        insert_row: 20, insert_rows: 10, insert_new_rows: 10, insert_by_trigger: 4, insert_in_vain: 6, delete: 10, update: 4,
        merge: 3, halve: 0.3, clear: 0.5, rotate: 4, rename: 2, change_schema: 3, replace_table: 2, check_integrity: 1,
    }  # fmt: skip

    def step(self):
        side = self.rng.choice(self.sides)
        action = self.rng.choices(list(self.STEPS), weights=list(self.STEPS.values()))[0]
        try:
            getattr(self, action.__name__)(side)
        except sqlite3.OperationalError as error:
            # The other one is writing, or this one reads what is no longer the latest.
            if not any(text in str(error) for text in ("locked", "busy")):
                raise
            others = [other for other in self.sides if other is not side]
            assert side.working is not None and not side.writes or any(other.working is not None for other in others), error

    # What must hold.

    def contains(self, side, name, key):
        return side.db.execute(f"SELECT 1 FROM {name} WHERE key = ?", (key,)).fetchone() is not None

    def filter_of(self, keys, halved):
        filter_ = one(self.oracle, f"SELECT {self.empty}")
        every = list(keys.elements())
        for i in range(0, len(every), 100):
            part = every[i : i + 100]
            filter_ = one(self.oracle, f"SELECT bloom_add(?{',?' * len(part)})", filter_, *part)
        return one(self.oracle, "SELECT bloom_halve(?, ?)", filter_, halved)

    def check(self, complete):
        for side in self.sides:
            if self.locked_out(side):
                continue
            state = side.sees
            present = [key for key, times in state.all_keys().items() if times > 0]
            asked = self.rng.sample(present, min(len(present), 20))
            for key in asked:
                assert self.contains(side, state.name, key), f"lost {key!r}"
            found = side.db.execute(
                f"SELECT count(*) FROM (SELECT value AS k FROM json_each(?)) AS t JOIN {state.name} AS s ON s.key = t.k",
                ("[" + ",".join(str(key) for key in asked if isinstance(key, int)) + "]",),
            ).fetchone()[0]
            assert found == sum(isinstance(key, int) for key in asked), "lost in a join"
            if complete:
                self.check_count_of_rows(side, state)
                if self.kind in GENERATIONS and self.row_log_has_rows(side, state):
                    continue  # the cells in the shadow tables are not yet those of the filter
                for stored, keys in zip(self.stored_filters(side, state), (state.keys, *state.older), strict=True):
                    wanted = self.filter_of(+keys, state.halved)
                    if self.kind in GENERATIONS:
                        wanted = wanted[HEADER_BYTES:]
                    differ = [i for i in range(len(wanted)) if wanted[i] != stored[i]] if len(wanted) == len(stored) else "all"
                    assert stored == wanted, f"side {self.sides.index(side)} holds another filter: bytes {differ!r:.100}"

    def check_count_of_rows(self, side, state):
        config, data, _ = self.shadow_tables(state)
        rows, counted = side.db.execute(f"SELECT (SELECT count(*) FROM {data}), sum(v) FROM {config} WHERE k GLOB 'rows *'").fetchone()
        assert rows == counted, f"{rows} rows are counted as {counted}"

    def row_log_has_rows(self, side, state):
        *_, log = self.shadow_tables(state)
        return one(side.db, f"SELECT EXISTS (SELECT 1 FROM {log})") == 1

    @staticmethod
    def shadow_tables(state):
        unquoted = state.name.strip('"').replace('""', '"')
        return ('"' + (unquoted + suffix).replace('"', '""') + '"' for suffix in ("_config", "_data", "_rowlog"))

    def stored_filters(self, side, state):
        """The filter, or the cells of each generation, newest first, as they are in the shadow tables (docs/table-format.md)."""
        if self.kind not in GENERATIONS:
            return [one(side.db, f"SELECT filter FROM {state.name}")]
        config, data, _ = self.shadow_tables(state)
        count = GENERATIONS[self.kind]
        newest = one(side.db, f"SELECT v FROM {config} WHERE k = 'newest'")
        size = len(one(self.oracle, f"SELECT {self.empty}")) - HEADER_BYTES
        chunks = -(-size // CHUNK_BYTES)
        cells = [bytearray(chunks * CHUNK_BYTES) for _ in range(count)]
        for i, chunk in side.db.execute(f"SELECT id, chunk FROM {data}"):
            start = i % chunks * CHUNK_BYTES
            cells[i // chunks][start : start + len(chunk)] = chunk
        return [bytes(cells[(newest - age) % count][:size]) for age in range(count)]

    def locked_out(self, side):
        """Under a rollback journal nobody reads while the other holds the file exclusively."""
        try:
            side.db.execute("SELECT 1 FROM sqlite_master").fetchall()
            return False
        except sqlite3.OperationalError as error:
            assert "locked" in str(error) and any(other.writes for other in self.sides if other is not side)
            return True


if __name__ == "__main__":
    run_all(World, TABLES, CACHES, JOURNALS, steps=150)
