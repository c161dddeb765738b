"""Random statements on tables that bloom_groups tables follow: the steps, connections and crashes of source_model_test.py,
and those of members.

    /usr/bin/python3 tests/table/groups_source_model_test.py EXTENSION [STEPS [SEED]]

The table itself is the oracle: after every statement each pair of member and key that a connection sees in it must be
found, by lookups, in joins and among the members, in its transaction or out of it. Every few statements 'integrity-check'
must agree, members without rows must disappear with 'merge', and the filters that 'rebuild' makes must be, byte for byte,
those of exactly the pairs that are there.
"""

import sqlite3
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from source_model_test import KEYS, World  # noqa: E402
from support.crash import Crashes  # noqa: E402
from support.host import one  # noqa: E402
from support.model import run_all  # noqa: E402

# For each: the source, the columns of the filters, and the key of a row as SQL. The member is the other word.
SOURCES = {
    "few members": ("CREATE TABLE t(id INTEGER PRIMARY KEY, k, u UNIQUE, x)", "member=x, column=k", "k"),
    "without rowid": ("CREATE TABLE t(id INTEGER, k, u PRIMARY KEY, x) WITHOUT ROWID", "member=u, column=k", "k"),
    "members in two cases": ("CREATE TABLE t(id INTEGER PRIMARY KEY, k TEXT COLLATE NOCASE, u UNIQUE, x)", "member=K, column=u", "u"),
    "folded keys": ("CREATE TABLE t(id INTEGER PRIMARY KEY, k TEXT COLLATE NOCASE, u UNIQUE, x TEXT); CREATE INDEX by_x ON t(x)", "member=x, column=k", "k"),
    "composite": ("CREATE TABLE t(id INTEGER PRIMARY KEY, k COLLATE RTRIM, u UNIQUE, x)", "member=x, column=(k, u)", "bloom_key(t.k, t.u)"),
    "cascade": (
        "CREATE TABLE parent(p PRIMARY KEY);"
        "CREATE TABLE t(id INTEGER PRIMARY KEY, k REFERENCES parent(p) ON UPDATE CASCADE ON DELETE CASCADE, u UNIQUE, x)",
        "member=k, column=u",
        "u",
    ),
}  # fmt: skip
FILTERS = {"given": "capacity=30, fpr=0.05, on_stale=maybe", "counted": "fpr=0.4"}


class GroupsWorld(World):
    SOURCES = SOURCES

    def __init__(self, path, source, filter_, journal, rng):
        self.member = SOURCES[source][1].split("=")[1].split(",")[0]
        self.maybe = filter_ == "given"
        super().__init__(path, source, filter_, journal, "any", rng)
        # Triggers in plain SQL are all that another program sees.
        assert self.sides[0].db.execute("SELECT count(*) FROM sqlite_master WHERE name LIKE 'f!_%' ESCAPE '!' AND type IN ('trigger', 'view')").fetchone()[0] == 5

    def module(self, column, filter_):
        return f"bloom_groups(source=T, {column}, {FILTERS[filter_]})"

    def pairs(self):
        """The pairs of member and key of t as SQL."""
        return f"SELECT DISTINCT {self.member} COLLATE BINARY AS m, {self.key} COLLATE BINARY AS k FROM t WHERE m IS NOT NULL AND {self.key} IS NOT NULL"

    def rebuild_member(self, side):
        if side.kind == "with":
            self.run_command(side, "INSERT INTO f(f, member) VALUES ('rebuild', ?)", self.rng.choice((*range(10), "3", *KEYS[:10])))

    def optimize(self, side):
        if side.kind == "with":
            self.run_command(side, "INSERT INTO f(f) VALUES ('optimize')")

    def run_command(self, side, sql, *arguments):
        try:
            side.run(sql, *arguments)
        except sqlite3.OperationalError as error:
            assert "locked" in str(error) or "busy" in str(error), error

    def within_trigger(self, side):
        """A command in a trigger of the source, beside the row that fires it."""
        if side.kind != "with" or not side.db.in_transaction:
            return
        command = self.rng.choice(("merge", "merge", "optimize", "rebuild"))
        side.run("SAVEPOINT within")
        try:
            side.run(f"CREATE TRIGGER within {self.rng.choice(('BEFORE', 'AFTER'))} {self.rng.choice(('INSERT', 'DELETE', 'UPDATE'))} ON t BEGIN INSERT INTO f(f) VALUES ('{command}'); END")
            for action in self.rng.choices((World.insert, World.update_key, World.update_x, World.delete), k=3):
                try:
                    action(self, side)
                except sqlite3.Error as error:
                    assert any(text in str(error) for text in (*self.EXPECTED, "cannot read")), error
                if not side.db.in_transaction:
                    return
                self.check_side(side)
        finally:
            if side.db.in_transaction:
                side.run("DROP TRIGGER IF EXISTS within")
                side.run("RELEASE within")

    def lost_triggers(self, side):
        """Rows that no trigger saw, also of a member that no list has."""
        if side.kind != "with" or not side.db.in_transaction:
            return
        side.run("SAVEPOINT lost")
        triggers = side.db.execute("SELECT name, sql FROM sqlite_master WHERE type = 'trigger' AND sql LIKE '%f_pending%'").fetchall()
        name = self.rng.choice([name for name, _ in triggers])
        side.run(f"DROP TRIGGER {name}")
        try:
            for action in self.rng.choices((World.insert, World.many_keys, World.update_key), k=2):
                try:
                    action(self, side)
                except sqlite3.Error as error:
                    merges = "are missing or have changed"  # the trigger that merges by itself
                    assert any(text in str(error) for text in (*self.EXPECTED, merges)), error
                if not side.db.in_transaction:
                    return
            if self.rng.random() < 0.5:
                side.run(dict(triggers)[name])
            if self.maybe:
                self.check_side(side)
            else:
                for sql in ("SELECT * FROM f WHERE key = 'x'", "SELECT * FROM f", "SELECT 1 FROM f WHERE member = 1"):
                    try:
                        side.db.execute(sql).fetchall()
                        raise AssertionError("a table out of sync has answered")
                    except sqlite3.OperationalError as error:
                        assert "are missing or have changed" in str(error), error
            if self.rng.random() < 0.3:
                side.run("INSERT INTO f(f) VALUES ('rebuild')")
                self.check_side(side)
        finally:
            if side.db.in_transaction:
                side.run("ROLLBACK TO lost")
                side.run("RELEASE lost")

    def half_stepped(self, side):
        """Lookups that have begun before other statements."""
        if side.kind != "with":
            return
        pairs = side.db.execute(f"SELECT m, k FROM ({self.pairs()}) ORDER BY random() LIMIT 9").fetchall()
        if not pairs:
            return
        values = ", ".join("(?, ?)" for _ in pairs)
        running = side.db.execute(
            f"SELECT v.column1, v.column2, EXISTS (SELECT 1 FROM f WHERE key = v.column2 AND +member = v.column1) FROM (VALUES {values}) AS v", [v for p in pairs for v in p]
        )
        rows = [running.fetchone() for _ in range(self.rng.randrange(len(pairs)))]
        try:
            actions = (World.insert, World.update_key, World.delete, World.merge, World.rebuild, GroupsWorld.rebuild_member, World.rollback_to)
            for action in self.rng.choices(actions, k=2):
                try:
                    action(self, side)
                except sqlite3.Error as error:
                    assert any(text in str(error) for text in (*self.EXPECTED, "cannot rollback")), error
            rows += running.fetchall()
        except sqlite3.OperationalError as error:
            assert any(text in str(error) for text in ("locked", "abort", "rolled back", "ROLLBACK", "interrupted")), error
        finally:
            running.close()
        for member, key, found in rows:
            if not found:
                left = side.db.execute(f"SELECT 1 FROM ({self.pairs()}) WHERE m = ? AND typeof(m) = typeof(?1) AND k = ? AND typeof(k) = typeof(?2)", (member, key)).fetchall()
                assert not left, f"a running statement has lost {(member, key)!r}"

    STEPS = World.STEPS | {rebuild_member: 4, optimize: 1, within_trigger: 3, lost_triggers: 3, half_stepped: 4}

    def check(self, complete):
        for side in self.sides:
            if side.kind == "without":
                continue
            try:
                self.check_side(side)
            except sqlite3.OperationalError as error:
                # Who only reads cannot roll back what a killed process has left.
                only_reads = side.kind == "read-only" and "readonly" in str(error)
                assert only_reads or "locked" in str(error) or "no such table: t" in str(error) and side.db.in_transaction, error
                continue
            if complete and side.kind == "with" and not side.db.in_transaction:
                self.check_whole(side.db)

    def check_side(self, side):
        pairs = side.db.execute(self.pairs()).fetchall()
        for member, key in self.rng.sample(pairs, min(len(pairs), 8)):
            found = [row[0] for row in side.db.execute("SELECT member FROM f WHERE key = ?", (key,))]
            assert any(each == member and type(each) is type(member) for each in found), f"lost {(member, key)!r}"
            assert len({(type(each), each) for each in found}) == len(found), f"{found} for {key!r}"
            assert len(side.db.execute("SELECT 1 FROM f WHERE member = ? COLLATE BINARY AND key = ?", (member, key)).fetchall()) == 1, f"lost {(member, key)!r}"
        if self.rng.random() < 0.2:
            members = {row[0] for row in side.db.execute("SELECT member FROM f")}
            assert not {m for m, _ in pairs} - members, f"members that are not listed: {({m for m, _ in pairs} - members)!r}"
            lost = f"SELECT count(*) FROM ({self.pairs()}) AS s LEFT JOIN f ON f.key = s.k AND f.member = s.m COLLATE BINARY WHERE f.key IS NULL"
            assert one(side.db, lost) == 0, "lost in a join"
        if sqlite3.sqlite_version_info >= (3, 38) and pairs:
            listed = self.rng.choice(("TEXT", "INTEGER", "NUMERIC", "BLOB", "REAL"))
            values = f"SELECT CAST(m AS {listed}){self.rng.choice(('', ' COLLATE NOCASE', ' COLLATE RTRIM'))} FROM ({self.pairs()})"
            # The LIMIT keeps the condition from the table.
            wanted, found = ({(type(m), m) for (m,) in side.db.execute(f"SELECT member FROM {table} WHERE member IN ({values})")} for table in ("(SELECT member FROM f LIMIT -1)", "f"))
            assert found == wanted, f"{wanted - found} lost in a list, {found - wanted} too many: {values}"

    def check_whole(self, db):
        try:
            db.execute("BEGIN IMMEDIATE")
        except sqlite3.OperationalError:
            return
        db.execute("INSERT INTO f(f) VALUES ('integrity-check')")
        # Without recursive triggers, REPLACE deletes rows of which no trigger sees anything.
        pairs = db.execute(f"SELECT DISTINCT m FROM ({self.pairs()})").fetchall()
        if pairs:
            gone = self.rng.choice(pairs)
            db.execute(f"DELETE FROM t WHERE {self.member} = ? COLLATE BINARY AND typeof({self.member}) = typeof(?1)", gone)
            db.execute("INSERT INTO f(f) VALUES ('merge')")
            kept = db.execute("SELECT member FROM f WHERE member = ? COLLATE BINARY AND typeof(member) = typeof(?1)", gone).fetchall()
            assert not kept, f"'merge' has kept {kept}, which has no row"
            assert one(db, "SELECT count(*) FROM f_pending") == 0
            db.execute("INSERT INTO f(f) VALUES ('integrity-check')")
        db.execute("INSERT INTO f(f) VALUES ('rebuild')")
        self.compare(db)
        db.execute("ROLLBACK")

    def compare(self, db):
        # The filter of several columns cannot be read: its parts are folded. Its FPR depends on the number of cells that are set.
        is_composite = "bloom_key" in self.key
        content = "fpr" if is_composite else "filter"
        stored = db.execute(f"SELECT member, {content} FROM f").fetchall()
        if not stored:
            return
        capacity, fpr = db.execute("SELECT capacity, json_extract(info, '$.target_fpr') FROM f LIMIT 1").fetchone()
        collate = one(db, "SELECT coalesce(json_extract(info, '$.collate'), 'binary') FROM f LIMIT 1")
        db.execute(f"CREATE VIRTUAL TABLE plain USING bloom_groups(capacity={capacity}, fpr={fpr}, collate={collate})")
        folded = "bloom_key(CASE typeof(k) WHEN 'text' THEN rtrim(k) ELSE k END, u)" if is_composite else self.key
        db.execute(f"INSERT INTO plain(member, key) SELECT {self.member}, {folded} FROM t WHERE {self.member} IS NOT NULL AND {self.key} IS NOT NULL")
        wanted = db.execute(f"SELECT member, {content} FROM plain").fetchall()
        # A member with text such as '-0.0' also has the marker of such text.
        marked = db.execute("SELECT bloom_add(filter, 'text in other forms of numbers') FROM plain").fetchall()
        if is_composite:
            marked = [(one(db, "SELECT fpr FROM bloom_stats(?)", filter_),) for (filter_,) in marked]
        may_be = {(type(member), member): (filter_, marked) for (member, filter_), (marked,) in zip(wanted, marked, strict=True)}
        assert {(type(member), member) for member, _ in stored} == may_be.keys(), "not the members of the rows that are there"
        for member, filter_ in stored:
            assert filter_ in may_be[type(member), member], f"not the filter of the rows of {member!r}"


if __name__ == "__main__":
    World.crashes = Crashes()
    run_all(GroupsWorld, SOURCES, FILTERS, ("delete", "wal"), steps=15)
