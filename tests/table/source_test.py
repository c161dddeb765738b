"""Bloom tables that follow a source: a table whose keys they keep up to date by triggers.

    /usr/bin/python3 tests/table/source_test.py EXTENSION [unittest options]

tests/table/source_model_test.py has random statements on sources.
"""

import itertools
import json
import os
import sqlite3
import subprocess
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from support.case import InFolder  # noqa: E402
from support.host import EXTENSION, connect, one  # noqa: E402


class SourceCase(InFolder):
    def following(self, options="source=t, column=k"):
        db = self.connect()
        db.execute("CREATE TABLE t(k, x)")
        db.executemany("INSERT INTO t VALUES (?, 0)", [("a",), ("b",), (3,)])
        db.execute(f"CREATE VIRTUAL TABLE f USING bloom(writers=extension, {options})")
        return db

    def names(self, db):
        return {row[0] for row in db.execute("SELECT name FROM sqlite_master WHERE name NOT LIKE 'sqlite_%'")}


class Following(SourceCase):
    def test_an_update_of_other_columns_runs_no_trigger(self):
        db = self.following()
        programs = [row for row in db.execute("EXPLAIN UPDATE t SET x = 1") if row[1] == "Program"]
        self.assertEqual(programs, [])
        programs = [row for row in db.execute("EXPLAIN UPDATE t SET k = 1") if row[1] == "Program"]
        self.assertEqual(len(programs), 1)

    def test_a_rejected_source_leaves_nothing_behind(self):
        db = self.connect()
        db.create_collation("backwards", lambda a, b: (a < b) - (a > b))
        db.executescript("""
            CREATE TABLE t(k, c TEXT COLLATE backwards, n TEXT COLLATE NOCASE);
            CREATE VIEW v AS SELECT k FROM t;
            CREATE VIRTUAL TABLE b USING bloom(capacity=10);
            CREATE TRIGGER f_before_update AFTER DELETE ON t BEGIN SELECT 1; END;
            ATTACH ':memory:' AS other; CREATE TABLE other.elsewhere(k); CREATE TEMP TABLE temporary(k);
        """)
        before = self.names(db)
        for options, text in {
            "source=v, column=k": "source 'v' must be an ordinary table, got a view in the schema main",
            "source=b, column=key": "source 'b' must be an ordinary table, got a virtual table in the schema main",
            "source=elsewhere, column=k": "got no table of this name in the schema main",
            "source=temporary, column=k": "got no table of this name in the schema main",
            "source=sqlite_master, column=name": "got no table of this name",
            "source=f_data, column=chunk": "got no table of this name",
            "source=t, column=nope": "column must be one of t, got 'nope'",
            "source=t, column='k,k2'": r"column must be one of t, got 'k,k2' \(several columns are written column=\(a, b\)\)",
            "source=t, column=rowid": "column must be one of t, got 'rowid'",
            "source=t, column=c": "the collation of column 'c' must be BINARY, NOCASE or RTRIM.*got backwards",
            "source=t, column=(k, c)": "the collation of column 'c' must be BINARY, NOCASE or RTRIM, got backwards",
            "source=t, column=(k, n), collate=nocase": "option collate is for a key of one column",
            "source=t, column=n, collate=binary": "the collation of column 'n' must be binary, which is that of the filter, got NOCASE",
            "source=t, column=k": "trigger .*f_before_update.* already exists",
            "source=t, column=k, capacity=0": "capacity must be",
            "source=main.t, column=k": r"source must be the name of a table without its schema, got 'main.t' \(write source=t; .* here main\)",
            "source=t column=k": r"a comma is missing between two options: 'source=t column=k' \(write source=t, column=k\)",
            "source='t'\n column = k": "a comma is missing between two options",
            "source=t, column=k capacity=10": r"write column=k, capacity=10\)",
            "source='t column=k', column=k": "got no table of this name",
        }.items():
            with self.subTest(options):
                self.assertFails(db, text, f"CREATE VIRTUAL TABLE f USING bloom(writers=extension, {options})")
                self.assertEqual(self.names(db), before)
        db.execute("INSERT INTO t(k) VALUES (1)")

    def test_attached_and_temporary_tables_are_followed_in_their_own_schema(self):
        db = self.connect()
        db.execute("ATTACH ? AS other", (self.path + "2",))
        for schema in ("temp", "other", "main"):
            db.execute(f"CREATE TABLE {schema}.t(k)")
        for schema in ("temp", "other", "main"):
            db.execute(f"CREATE VIRTUAL TABLE {schema}.f USING bloom(writers=extension, source=t, column=k)")
        for schema in ("temp", "other", "main"):
            db.execute(f"INSERT INTO {schema}.t VALUES (?)", (schema,))
        for schema in ("temp", "other", "main"):
            self.assertEqual(self.present(db, "temp", "other", "main", table=f"{schema}.f"), [schema])
        self.assertEqual(self.present(self.connect(self.path + "2"), "temp", "other", "main"), ["other"])

    def test_null_is_no_key(self):
        db = self.following("source=t, column=k, kind=counting")
        db.execute("INSERT INTO t VALUES (NULL, 1), (NULL, 2)")
        db.execute("UPDATE t SET k = NULL WHERE k = 'a'")
        db.execute("UPDATE t SET k = 'n' WHERE x = 2")
        db.execute("DELETE FROM t WHERE k IS NULL")
        self.assertEqual(self.present(db, "", "a", "b", 3, "n"), ["b", 3, "n"])
        db.execute("INSERT INTO t VALUES (NULL, 1)")
        db.execute("INSERT INTO f(f) VALUES ('rebuild')")
        self.assertEqual(self.present(db, "", "a", "b", 3, "n"), ["b", 3, "n"])

    def test_two_filters_of_one_source(self):
        db = self.following()
        db.execute("CREATE VIRTUAL TABLE g USING bloom(writers=extension, source=t, column=(k, x), kind=counting)")
        db.execute("INSERT INTO t VALUES ('new', 7)")
        self.assertEqual(self.present(db, "new"), ["new"])
        self.assertEqual(one(db, "SELECT count(*) FROM g WHERE key = bloom_key('new', 7)"), 1)
        db.execute("DROP TABLE f")
        db.execute("UPDATE t SET x = 8 WHERE k = 'new'")
        self.assertEqual(one(db, "SELECT count(*) FROM g WHERE key = bloom_key('new', 7)"), 0)
        self.assertEqual(one(db, "SELECT count(*) FROM g WHERE key = bloom_key('new', 8)"), 1)

    def test_numbers_in_quotes(self):
        db = self.connect()
        db.execute("CREATE TABLE t(k)")
        db.execute("CREATE VIRTUAL TABLE f USING bloom(source=t, column='k', capacity='2000', fpr=\"0.1\", seed='7', cache='65536')")
        self.assertEqual((self.info(db)["capacity"], self.info(db)["target_fpr"], self.info(db)["seed"]), (2000, 0.1, 7))
        db.execute("CREATE VIRTUAL TABLE g USING bloom_groups(capacity='20', fpr='0.1')")
        for option in ("capacity='10x'", "fpr='a'", "capacity=''", "source='1', column=1"):
            self.assertFails(db, "must be", f"CREATE VIRTUAL TABLE h USING bloom({option})")

    def test_a_change_of_all_rows_says_that_the_table_follows_a_source(self):
        db = self.connect()
        db.executescript("CREATE TABLE t(k); INSERT INTO t VALUES ('a'); CREATE VIRTUAL TABLE f USING bloom(source=t, column=k)")
        for sql in ("UPDATE f SET key = 'b'", "DELETE FROM f", "UPDATE f SET key = 'b' WHERE key > 'a'"):
            self.assertFails(db, r"f: cannot list the keys .* nor UPDATE or DELETE rows of a table that follows 't' \(change 't' instead\)", sql)
        self.assertFails(db, "cannot list the keys of a Bloom filter .give the key", "SELECT * FROM f")

    def test_rebuild_follows_the_renamed_columns_without_triggers(self):
        """The guard index has their names; while the options name other columns, or another table, it is refused."""
        for *renames, free in (("ALTER TABLE s RENAME COLUMN b TO c", "ALTER TABLE s RENAME COLUMN a TO b", "ALTER TABLE s RENAME COLUMN b TO d"),
                               ("ALTER TABLE s RENAME TO old", "CREATE TABLE s(a, b)", "DROP TABLE s")):  # fmt: skip
            db = self.connect(":memory:")
            db.executescript("CREATE TABLE s(a, b); INSERT INTO s VALUES ('a', 'b'); CREATE VIRTUAL TABLE f USING bloom(source=s, column=b)")
            db.executescript("CREATE VIRTUAL TABLE j USING bloom(source=s, column=(b, a)); CREATE VIRTUAL TABLE g USING bloom_groups(source=s, member=a, column=b)")
            for statement in (*renames, "DROP TRIGGER f_before_update", "DROP TRIGGER j_before_insert", "DROP TRIGGER g_after_update"):
                db.execute(statement)
            for name in "fjg":
                self.assertFails(db, "was renamed to .*, and something else has its old name", f"INSERT INTO {name}({name}) VALUES ('rebuild')")
            db.execute(free)
            for name in "fjg":
                db.execute(f"INSERT INTO {name}({name}) VALUES ('rebuild')")
                db.execute(f"INSERT INTO {name}({name}) VALUES ('integrity-check')")
            self.assertEqual(self.present(db, "b"), ["b"])
            self.assertEqual(one(db, "SELECT member FROM g WHERE key = 'b'"), "a")
            self.assertEqual(one(db, "SELECT count(*) FROM j WHERE key = bloom_key('b', 'a')"), 1)

    def test_a_new_table_or_column_by_the_old_name(self):
        """As in log rotation: queries by that name mean rows that no table of ours knows."""
        rotated = ("ALTER TABLE s RENAME TO old", "CREATE TABLE S(id INTEGER PRIMARY KEY, k, m)", "DROP TABLE s", "ALTER TABLE old RENAME TO s")
        viewed = ("ALTER TABLE s RENAME TO old", "CREATE VIEW s AS SELECT * FROM old", "DROP VIEW s", "ALTER TABLE old RENAME TO s")
        swapped = ("ALTER TABLE s RENAME k TO raw", "ALTER TABLE s ADD COLUMN k", "ALTER TABLE s RENAME k TO other", "ALTER TABLE s RENAME raw TO k")
        refused = "was renamed to .*, and something else has its old name"
        for rename, create, free, back in (rotated, viewed, swapped):
            with self.subTest(create):
                db = self.connect(":memory:")
                db.executescript("""
                    CREATE TABLE s(id INTEGER PRIMARY KEY, k, m); INSERT INTO s(k, m) VALUES ('a', 'x'), ('b', 'y');
                    CREATE VIRTUAL TABLE f USING bloom(source=s, column=k); CREATE VIRTUAL TABLE e USING bloom(source=s, column=k, writers=extension);
                    CREATE VIRTUAL TABLE j USING bloom(source=s, column=(k, m)); CREATE VIRTUAL TABLE maybe USING bloom(source=s, column=k, on_stale=maybe);
                    CREATE VIRTUAL TABLE any_ USING bloom_groups(source=s, member=m, column=k, on_stale=maybe);
                    CREATE VIRTUAL TABLE g USING bloom_groups(source=s, member=m, column=k); CREATE VIRTUAL TABLE q USING bloom_search(source=s, equal=(k))""")
                lookups = [f"SELECT 1 FROM {name} WHERE key = 'a'" for name in ("f", "e", "g", "maybe", "any_")]
                if create != swapped[1]:  # these have columns of the names that the source has now
                    lookups += ["SELECT 1 FROM j WHERE k = 'a' AND m = 'x'", "SELECT 1 FROM q WHERE id = 1"]
                for change, works in ((rename, True), (create, False), (free, True), (back, True)):
                    db.execute(change)
                    for sql in lookups:
                        if works:
                            self.assertEqual(db.execute(sql).fetchall(), [(1,)], (change, sql))
                        else:
                            self.assertFails(db, refused, sql)
                    for name in "fejg":
                        if not works:
                            self.assertFails(db, refused, f"INSERT INTO {name}({name}) VALUES ('rebuild')")
                        db.execute(f"INSERT INTO {name}({name}) VALUES ('integrity-check')")  # no damage
                db.execute(rename)
                db.execute(create)
                for name in ("f", "e", "j", "maybe", "g", "any_", "q"):
                    db.execute(f"DROP TABLE {name}")

    def followers_of(self, source):
        """A filter, groups and a search table, with the column that finds 'a'."""
        return {
            "f": (f"bloom(source={source}, column=k)", "key"), "e": (f"bloom(source={source}, column=k, writers=extension)", "key"),
            "g": (f"bloom_groups(source={source}, member=m, column=k)", "key"), "q": (f"bloom_search(source={source}, equal=(k))", "k"),
        }  # fmt: skip

    def test_a_table_that_is_renamed_after_its_source(self):
        """As in blue/green deployment: both get the names that the old ones had. Later rotations of the new name are noticed."""
        for name, (module, column) in self.followers_of("s_new").items():
            with self.subTest(module):
                db = self.connect(f"{self.path}{name}")
                found = f"SELECT {column} FROM f WHERE {column} = 'a'"
                db.executescript(f"""
                    CREATE TABLE s_new(id INTEGER PRIMARY KEY, k, m); INSERT INTO s_new(k, m) VALUES ('a', 'x');
                    CREATE VIRTUAL TABLE f_new USING {module}; ALTER TABLE s_new RENAME TO "s,""'"; ALTER TABLE f_new RENAME TO f; CREATE TABLE s_new(k)""")
                fresh = self.connect(f"{self.path}{name}")
                for side in (db, fresh):
                    self.assertEqual(side.execute(found).fetchall(), [("a",)])
                    for command in ("rebuild", "integrity-check"):
                        side.execute(f"INSERT INTO f(f) VALUES ('{command}')")
                db.executescript("""ALTER TABLE "s,""'" RENAME TO old; CREATE TABLE "S,""'"(k)""")
                for side in (db, fresh):
                    self.assertFails(side, "was renamed to 'old', and something else has its old name", found)
                db.execute("ALTER TABLE f RENAME TO f2")
                db.execute("ALTER TABLE f2 RENAME TO f")
                for side in (db, fresh):
                    self.assertEqual(side.execute(found).fetchall(), [("a",)])
                if name == "q":  # an error, not the rows of the table that has the old name
                    db.executescript("CREATE TABLE new AS SELECT * FROM old; DROP TABLE old")
                    for side in (db, self.connect(f"{self.path}{name}")):
                        self.assertFails(side, "no such table|no ordinary table|no table", found)
                        self.assertFails(side, "got no table of this name", "INSERT INTO f(f) VALUES ('rebuild')")
                    db.executescript("CREATE TABLE old(id INTEGER PRIMARY KEY, k, m); INSERT INTO old SELECT * FROM new; DROP TABLE new")
                    side = self.connect(f"{self.path}{name}")
                    side.execute("INSERT INTO f(f) VALUES ('rebuild')")
                    self.assertEqual(side.execute(found).fetchall(), [("a",)])
                    db = side
                for view in ("f_last", "f_last_no") if name != "q" else ():
                    # A tool replaces the source, and may drop all views: it is still the accepted one. Only 'rebuild' follows it, a rename does not.
                    db.executescript(f"DROP VIEW IF EXISTS {view}; CREATE TABLE new AS SELECT * FROM old; DROP TABLE old; ALTER TABLE new RENAME TO old")
                    for statement in ("ALTER TABLE f RENAME TO f2", found):
                        self.assertFails(db, "the triggers of source 'old' are missing", statement)
                    db.executescript("INSERT INTO f(f) VALUES ('rebuild'); ALTER TABLE f RENAME TO f2; ALTER TABLE f2 RENAME TO f")
                    self.assertEqual(db.execute(found).fetchall(), [("a",)])
                db.execute("DROP TABLE f")
                self.assertEqual(db.execute("SELECT name FROM sqlite_master WHERE name LIKE 'f%' OR type IN ('view', 'trigger')").fetchall(), [])

    def test_a_rename_to_a_taken_name_changes_nothing(self):
        """SQLite keeps in memory what a failed statement has changed in the schema. As many changes by another connection later, a key was lost."""
        composite = {"c": ("bloom(source=s, column=(k, m))", "k")}
        for (name, (module, column)), taken in itertools.product({**self.followers_of("s"), **composite}.items(), ("config", "last", "before_insert")):
            for changes in (3, 4, 5, 6) if name == "c" else (5,):
                with self.subTest(module, taken=taken, changes=changes):
                    path = f"{self.path}{name}{taken}{changes}"
                    db, other = self.connect(path), self.connect(path)
                    kind = "TRIGGER {} AFTER INSERT ON plain BEGIN SELECT 1; END" if taken == "before_insert" else "TABLE {}(x)"
                    db.executescript(f"""
                        CREATE TABLE s(id INTEGER PRIMARY KEY, k, m); INSERT INTO s(k, m) VALUES ('a', 'x'); CREATE VIRTUAL TABLE f USING {module};
                        CREATE TABLE plain(x); CREATE {kind.format(f"g_{taken}")}; BEGIN""")
                    self.assertFails(db, f"already another object named 'g_{taken}'", "ALTER TABLE f RENAME TO g")
                    db.execute("COMMIT")
                    other.executescript("".join(f"CREATE TABLE z{i}(x);" for i in range(changes)))
                    db.execute("INSERT INTO s(k, m) VALUES ('b', 'y')")
                    fresh = self.connect(path)
                    for side in (db, other, fresh):
                        match = f"f.{column} = s.k" + (" AND f.m = s.m" if name == "c" else "")
                        self.assertEqual(one(side, f"SELECT count(*) FROM s WHERE EXISTS (SELECT 1 FROM f WHERE {match})"), 2)
                        self.assertEqual(one(side, "PRAGMA integrity_check"), "ok")

    def test_a_trigger_and_a_table_can_have_the_same_name(self):
        for name, (module, column) in self.followers_of("s").items():
            with self.subTest(module):
                db = self.connect(f"{self.path}{name}")
                own = [f"TRIGGER g_{object}" for object in ("config", "last", "guard", "changed", "pending")] + [f"TABLE g_{kind}" for kind in ("before_insert", "after_insert")]
                db.execute("CREATE TABLE plain(x)")
                for object in own:
                    db.execute(f"CREATE {object}" + ("(x)" if object.startswith("TABLE") else " AFTER INSERT ON plain BEGIN SELECT 1; END"))
                names = "SELECT type || ' ' || name FROM sqlite_master WHERE name LIKE 'g_%' ORDER BY 1"
                before = db.execute(names).fetchall()
                self.assertEqual(len(before), len(own))
                db.executescript(f"""
                    CREATE TABLE s(id INTEGER PRIMARY KEY, k, m); INSERT INTO s(k, m) VALUES ('a', 'x'); CREATE VIRTUAL TABLE f USING {module};
                    ALTER TABLE f RENAME TO g; INSERT INTO s(k, m) VALUES ('b', 'y'); INSERT INTO g(g) VALUES ('rebuild'); INSERT INTO s(k, m) VALUES ('c', 'z')""")
                self.assertEqual(one(db, f"SELECT count(*) FROM s WHERE EXISTS (SELECT 1 FROM g WHERE g.{column} = s.k)"), 3)
                db.execute("DROP TABLE g")
                self.assertEqual(db.execute(names).fetchall(), before)

    def test_a_rename_of_the_source_that_fails_when_the_filter_is_first_used(self):
        for name, (module, column) in self.followers_of("s").items():
            with self.subTest(module):
                path = f"{self.path}{name}"
                db = self.connect(path)
                db.executescript(f"""
                    CREATE TABLE s(id INTEGER PRIMARY KEY, k, m); INSERT INTO s(k, m) VALUES ('a', 'x'); CREATE VIRTUAL TABLE f USING {module};
                    CREATE TABLE other(x); CREATE VIEW v AS SELECT f.{column}, o.x FROM f JOIN other AS o ON o.x = +f.{column}; DROP TABLE other""")
                for change in ("RENAME TO t", "RENAME k TO kk"):
                    first = self.connect(path)
                    try:
                        first.execute(f"ALTER TABLE s {change}")
                        self.assertLess(sqlite3.sqlite_version_info, (3, 40))  # older versions look at fewer views
                        break
                    except sqlite3.Error as error:
                        self.assertIn("error in view v", str(error))
                    self.assertEqual(first.execute(f"SELECT {column} FROM f WHERE {column} = 'a'").fetchall(), [("a",)], change)
                    first.execute("INSERT INTO s(k, m) VALUES ('b', 'x')")
                    self.assertEqual(first.execute(f"SELECT DISTINCT {column} FROM f WHERE {column} = 'b'").fetchall(), [("b",)], change)
                    first.close()

    def test_a_rename_that_fails(self):
        """The filter keeps its change log, whatever has a name that it would need."""
        taken = ("users_config", "users_data", "users_rowlog", "users_pending", "users_members", "users_last", "users_before_insert")
        for (module, column), obstacle, begin in itertools.product(self.followers_of("s").values(), taken, (False, True)):
            with self.subTest(module, obstacle=obstacle, begin=begin):
                db = self.connect(":memory:")
                db.executescript(f"""
                    CREATE TABLE s(id INTEGER PRIMARY KEY, k, m); INSERT INTO s(k, m) VALUES ('a', 'x'); CREATE VIRTUAL TABLE f USING {module};
                    CREATE TABLE t(id INTEGER PRIMARY KEY, k, m)""")
                if begin:
                    db.execute("BEGIN")
                    db.execute(f"INSERT INTO f(f) VALUES ('{'summarize' if 'search' in module else 'merge'}')")
                drop = f"DROP {'TRIGGER' if 'insert' in obstacle else 'TABLE'} {obstacle}"
                db.execute(f"CREATE TRIGGER {obstacle} AFTER INSERT ON t BEGIN SELECT 1; END" if "insert" in obstacle else f"CREATE TABLE {obstacle}(a)")
                try:
                    db.execute("ALTER TABLE f RENAME TO users")
                    continue  # this module has no such table
                except sqlite3.Error as error:
                    self.assertRegex(str(error), "already|malformed")
                db.execute("INSERT INTO s(k, m) VALUES ('b', 'y')")
                db.execute(drop)
                db.execute(f"CREATE VIRTUAL TABLE users USING {module.replace('=s', '=t')}")
                db.execute("INSERT INTO t(k, m) VALUES ('c', 'z')")
                for _ in range(2):
                    for table, keys in (("f", "ab"), ("users", "c")):
                        found = [key for key in "abcd" if db.execute(f"SELECT 1 FROM {table} WHERE {column} = ?", (key,)).fetchall()]
                        self.assertEqual(found, list(keys))
                        db.execute(f"INSERT INTO {table}({table}) VALUES ('integrity-check')")
                    if db.in_transaction:
                        db.execute("COMMIT")

    def test_no_two_filters_have_a_guard_of_one_name(self):
        """A filter that is renamed keeps the name of its guard, which is dropped with the source."""
        for (module, column), new in itertools.product(self.followers_of("s").values(), ("bloom(source=s, column=m)", "bloom_groups(source=s, member=k, column=m)", "bloom_search(source=s, equal=(m))")):
            with self.subTest(module, new=new):
                db = self.connect(":memory:")
                db.executescript(f"""
                    CREATE TABLE s(id INTEGER PRIMARY KEY, k, m); INSERT INTO s(k, m) VALUES ('a', 'x');
                    CREATE VIRTUAL TABLE f USING {module}; ALTER TABLE f RENAME TO f_old; CREATE TABLE s_new(id INTEGER PRIMARY KEY, k, m);
                    INSERT INTO s_new SELECT * FROM s; DROP TABLE s""")
                db.execute("SAVEPOINT dropped")
                for statement in ("CREATE TABLE t(id INTEGER PRIMARY KEY, k, m)", "INSERT INTO t(k, m) VALUES ('t', 't')", f"CREATE VIRTUAL TABLE f USING {new.replace('=s', '=t')}"):
                    db.execute(statement)
                self.assertFails(db, "got no table of this name", "INSERT INTO f_old(f_old) VALUES ('rebuild')")
                db.execute("DROP TABLE f_old")
                db.execute("INSERT INTO f(f) VALUES ('integrity-check')")
                self.assertEqual([name for name in self.names(db) if "guard" in name], ["f_guard2"])
                for statement in ("ROLLBACK TO dropped", "RELEASE dropped", "ALTER TABLE s_new RENAME TO s"):
                    db.execute(statement)
                db.execute(f"CREATE VIRTUAL TABLE f USING {new}")
                for name in ("f", "f_old"):
                    db.execute(f"INSERT INTO {name}({name}) VALUES ('rebuild')")
                    db.execute(f"INSERT INTO {name}({name}) VALUES ('integrity-check')")
                self.assertEqual(db.execute(f"SELECT {column} FROM f_old WHERE {column} = 'a'").fetchall(), [("a",)])

    def test_rebuild_after_triggers_were_compared_with_another_source(self):
        """The triggers depend on NOT NULL and the default of the column."""
        for module, column in self.followers_of("t").values():
            with self.subTest(module):
                db = self.connect(":memory:")
                create, default = "CREATE TABLE t(id INTEGER PRIMARY KEY, k TEXT {}, m)", "NOT NULL DEFAULT 'd'"
                db.executescript(f"{create.format('')}; CREATE VIRTUAL TABLE f USING {module}; DROP TRIGGER f_before_insert")
                lookup = f"SELECT {column} FROM f WHERE {column} = 'd'"
                if "bloom_search" not in module:
                    self.assertFails(db, "missing or have changed", lookup)
                db.executescript(f"DROP TABLE t; {create.format(default)}; INSERT INTO f(f) VALUES ('rebuild')")
                db.execute("INSERT OR REPLACE INTO t(k, m) VALUES (NULL, 'x')")
                self.assertEqual(db.execute(lookup).fetchall(), [("d",)])

    def test_rebuild_does_not_follow_another_index_by_the_name_of_the_guard(self):
        db = self.connect(":memory:")
        db.executescript("""
            CREATE TABLE t(k); INSERT INTO t VALUES ('a'); CREATE TABLE other(x); CREATE VIRTUAL TABLE f USING bloom(source=t, column=k);
            DROP TRIGGER f_before_update; DROP INDEX f_guard; CREATE INDEX f_guard ON other(x); INSERT INTO f(f) VALUES ('rebuild')""")
        self.assertEqual(self.present(db, "a", "x"), ["a"])
        self.assertEqual(one(db, "SELECT json_extract(info, '$.source') FROM f"), "t")

    def test_drop_of_a_damaged_filter_leaves_the_guard_of_another(self):
        db = self.connect(":memory:")
        db.executescript("""
            CREATE TABLE t(k); CREATE VIRTUAL TABLE f USING bloom(source=t, column=k); ALTER TABLE f RENAME TO g;
            CREATE VIRTUAL TABLE f USING bloom(source=t, column=k); DROP INDEX f_guard2; DELETE FROM f_config WHERE k = 'guard'; DROP TABLE f""")
        db.execute("INSERT INTO g(g) VALUES ('integrity-check')")

    def test_a_sentinel_that_says_something_else(self):
        note = """CREATE VIEW "f_last" AS SELECT 'this view is newer than the triggers' AS note"""
        config = "INSERT INTO f_config VALUES ('names', "
        values = ("''", """'"a'""", """'"a","b","c"'""", "'x'", "1", "''''", "NULL")
        for more in ("1 AS renamed", "1 AS newer_source, 2", *(f"1 AS renamed; {config}{text})" for text in values)):
            with self.subTest(more):
                db = self.connect(":memory:")
                db.executescript(f"""
                    CREATE TABLE t(k); INSERT INTO t VALUES ('a'); CREATE VIRTUAL TABLE f USING bloom(source=t, column=k);
                    DROP VIEW f_last; {note}, {more}""")
                self.assertFails(db, "the triggers of source 't' are missing or have changed", "SELECT 1 FROM f WHERE key = 'a'")
                db.execute("DROP VIEW f_last")
                db.execute("INSERT INTO f(f) VALUES ('rebuild')")
                self.assertEqual(self.present(db, "a", "x"), ["a"])

    def test_a_temp_view_by_the_old_name(self):
        for name, (module, column) in self.followers_of("s").items():
            with self.subTest(module):
                db = self.connect(":memory:")
                db.executescript(f"CREATE TABLE s(id INTEGER PRIMARY KEY, k, m); INSERT INTO s(k, m) VALUES ('a', 'x'); CREATE VIRTUAL TABLE f USING {module}")
                found = f"SELECT {column} FROM f WHERE {column} = 'a'"
                db.execute("ALTER TABLE s RENAME TO s_01")
                self.assertEqual(db.execute(found).fetchall(), [("a",)])
                db.execute("CREATE TEMP VIEW s AS SELECT k FROM s_01")
                self.assertFails(db, "something else has its old name", found)
                db.execute("DROP VIEW s")
                self.assertEqual(db.execute(found).fetchall(), [("a",)])

    def test_a_source_that_a_tool_has_replaced_with_all_its_objects(self):
        """SQLite's 12 steps for ALTER TABLE, by a tool that also restores views, such as the sentinel."""
        kinds = "('index', 'trigger', 'view')"
        for (name, (module, column)), extension in itertools.product(self.followers_of("users").items(), (True, False)):
            if name == "e" and not extension:
                continue
            with self.subTest(module, extension=extension):
                path = f"{self.path}{name}{extension}"
                db = self.connect(path)
                db.executescript(f"CREATE TABLE users(id INTEGER PRIMARY KEY, k TEXT, m); INSERT INTO users(k, m) VALUES ('007', 'x'); CREATE VIRTUAL TABLE users_seen USING {module}")
                tool = db if extension else sqlite3.connect(path, isolation_level=None)

                def replace(views):
                    objects = tool.execute(f"SELECT type, name, sql FROM sqlite_master WHERE sql LIKE '%users%' AND type IN {kinds} AND (type <> 'view' OR ?) ORDER BY rowid", (views,)).fetchall()
                    tool.execute("CREATE TABLE new(id INTEGER PRIMARY KEY, k INTEGER, m)")
                    tool.execute("INSERT INTO new SELECT * FROM users")
                    for _, view, _ in filter(lambda each: each[0] == "view", objects):
                        tool.execute(f"DROP VIEW {view}")
                    tool.execute("DROP TABLE users")
                    tool.execute("ALTER TABLE new RENAME TO users")
                    for *_, sql in objects:
                        tool.execute(sql)

                found = f"SELECT 1 FROM users_seen WHERE {column} = 7"
                for views in (True, False):
                    replace(views)
                    if name == "q":  # SQLite 3.31 needs that: the column has another type
                        db = self.connect(path)
                    for side in (db, self.connect(path)):
                        if name == "q":
                            self.assertEqual(side.execute(found).fetchall(), [(1,)])
                        else:
                            self.assertFails(side, "was created again|are missing or have changed", found)
                    self.assertFails(db, "was created again|are missing or have changed", "INSERT INTO users_seen(users_seen) VALUES ('integrity-check')")
                    db.execute("INSERT INTO users_seen(users_seen) VALUES ('rebuild')")
                    for statement in ("SELECT 1", "VACUUM", "ALTER TABLE users_seen RENAME TO seen", "ALTER TABLE seen RENAME TO users_seen"):
                        db.execute(statement)
                        if "TO seen" not in statement:
                            for side in (db, self.connect(path)):
                                self.assertEqual(side.execute(found).fetchall(), [(1,)], statement)
                    db.execute("INSERT INTO users_seen(users_seen) VALUES ('integrity-check')")
                tool.close()

    def test_a_column_that_has_another_name_in_a_new_source(self):
        db = self.connect()
        db.executescript("""
            CREATE TABLE users(email TEXT); CREATE VIRTUAL TABLE f USING bloom(source=users, column=email);
            CREATE TABLE new(mail TEXT); DROP TABLE users; ALTER TABLE new RENAME TO users;
        """)
        self.assertFails(db, r"f: the source 'users' has no column 'email' any more \(rename .*; or DROP this table", "INSERT INTO f(f) VALUES ('rebuild')")
        db.execute("ALTER TABLE users RENAME COLUMN mail TO email")
        db.execute("INSERT INTO f(f) VALUES ('rebuild')")
        self.assertEqual(self.present(db, "a"), [])

    def test_drop_without_the_config_drops_the_guard_index(self):
        for other in ("", "CREATE TABLE f_guard(x)", "CREATE INDEX f_guard ON t(k) WHERE k > 0"):
            db = self.connect(":memory:")
            db.execute("CREATE TABLE t(k, l)")
            if other:
                db.execute(other)
            db.execute("CREATE VIRTUAL TABLE another USING bloom(source=t, column=k)")
            before = self.names(db)
            db.execute("CREATE VIRTUAL TABLE f USING bloom(source=t, column=k)")
            db.execute("DROP TABLE f_config")
            db.execute("DROP TABLE f")
            self.assertEqual(self.names(db), before)
            db.execute("INSERT INTO another(another) VALUES ('integrity-check')")

    def test_lookups_of_a_composite_key(self):
        """Keys that bloom_key() cannot have made of two values are refused, all others are answered."""
        db = self.connect()
        db.execute("CREATE TABLE t(host, path)")
        db.execute("CREATE VIRTUAL TABLE f USING bloom(source=t, column=(host, path))")
        values = ("", "a", ",", "1:a,", "9" * 30, 0, -1.5, b"\0", "x" * 200)
        for i, host in enumerate(values):
            db.execute("INSERT INTO t VALUES (?, ?)", (host, values[-i]))
        self.assertEqual(one(db, "SELECT count(*) FROM t JOIN f ON f.key = bloom_key(t.host, t.path)"), len(values))
        self.assertEqual(one(db, "SELECT count(*) FROM t JOIN f ON f.key = CAST(bloom_key(t.host, t.path) AS TEXT)"), len(values))
        self.assertEqual(one(db, "SELECT count(*) FROM f WHERE key = bloom_key('a', NULL)"), 0)
        self.assertEqual(one(db, "SELECT count(*) FROM f WHERE key = bloom_key('absent', 'b')"), 0)
        whole = one(db, "SELECT bloom_key('ab', 'c')").decode()
        others = [*values, "2:ab,1:c", "2:ab,1:c,x", "2:ab,1:c,0:", "02:ab,1:c,", "+2:ab,1:c,", " 2:ab,1:c,", "2:ab1:c,,", ":ab,1:c,", "2,ab,1:c,", "3:ab,1:c,", "99999999999999999999:a,1:c,"]
        others += [whole[:i] for i in range(len(whole))] + [one(db, f"SELECT bloom_key({parts})") for parts in ("'a'", "'a', 'b', 'c'")]
        for key in others:
            self.assertFails(db, r"f: key must be bloom_key\(host, path\), because the filter follows 2 columns \(or give host = \? AND path = \?\), got ", "SELECT 1 FROM f WHERE key = ?", key)
        self.assertFails(db, "bloom_key", "SELECT 1 FROM t JOIN f ON f.key = t.host")

    def test_drop_removes_the_triggers(self):
        db = self.following()
        db.execute("DROP TABLE f")
        self.assertEqual(self.names(db), {"t"})
        plain = sqlite3.connect(self.path)
        plain.execute("INSERT INTO t VALUES ('x', 1)")
        plain.close()

    def test_standard_filters_count_stale_keys_until_they_are_rebuilt(self):
        db = self.following()
        db.execute("UPDATE t SET k = 'c' WHERE k = 'b'")
        db.execute("BEGIN")
        db.execute("DELETE FROM t WHERE k = 'a'")
        self.assertEqual(one(db, "SELECT stale FROM f"), 2)
        db.execute("ROLLBACK")
        self.assertEqual(one(db, "SELECT stale FROM f"), 1)
        db.execute("DELETE FROM t WHERE k = 'a'")
        self.assertEqual(self.present(db, "a", "b", "c", 3), ["a", "b", "c", 3])
        db.execute("INSERT INTO f(f) VALUES ('rebuild')")
        self.assertEqual(self.present(db, "a", "b", "c", 3), ["c", 3])
        self.assertEqual(one(db, "SELECT stale FROM f"), 0)
        self.assertEqual(self.info(self.connect())["source"], "t")

    def test_rebuild_gives_the_filter_the_size_of_its_source(self):
        db = self.following()
        self.assertEqual(self.info(db)["capacity"], 1050)
        fill = "WITH RECURSIVE n(i) AS (VALUES(1) UNION ALL SELECT i + 1 FROM n WHERE i < ?) INSERT INTO t SELECT i, i FROM n, (SELECT 1 UNION ALL SELECT 2)"
        db.execute(fill, (20000,))
        grown = self.info(db)
        self.assertEqual(len(grown["layers"]), 4)
        self.assertFails(db, "cannot read the filter of a table that has grown to", "SELECT filter FROM f")
        self.assertFails(db, "cannot halve a table that has grown to", "INSERT INTO f(f) VALUES ('halve')")
        db.execute("INSERT INTO f(f) VALUES ('rebuild')")
        rebuilt = self.info(db)
        self.assertEqual(len(rebuilt["layers"]), 1)
        # The capacity is the number of keys plus 50 %. The number is estimated to within 3 %.
        self.assertAlmostEqual(rebuilt["capacity"] / 30000, 1, delta=0.03)
        self.assertLess(rebuilt["bytes"], grown["bytes"])
        self.assertEqual(one(db, "SELECT count(*) FROM t LEFT JOIN f ON f.key = t.k WHERE f.key IS NULL"), 0)
        db.execute("DELETE FROM t WHERE k > 10")
        db.execute("INSERT INTO f(f) VALUES ('rebuild')")
        self.assertEqual(self.info(db)["capacity"], 1050)
        # A new table is made for the rows that are there, too.
        db.execute(fill, (20000,))
        db.execute("CREATE VIRTUAL TABLE g USING bloom(writers=extension, source=t, column=k, kind=counting)")
        self.assertAlmostEqual(self.info(db, "g")["capacity"] / 30000, 1, delta=0.03)
        self.assertFalse(self.info(db, "g")["overfull"])
        db.execute("CREATE VIRTUAL TABLE h USING bloom(writers=extension, source=t, column=(k, x), capacity=100)")
        self.assertAlmostEqual(self.info(db, "h")["capacity"] / 30000, 1, delta=0.03)
        self.assertEqual(self.info(db, "h")["columns"], ["k", "x"])

    def test_a_rebuild_that_is_rolled_back_changes_nothing(self):
        db = self.following()
        db.execute("DELETE FROM t WHERE k = 'a'")
        db.execute("BEGIN")
        db.execute("SAVEPOINT s")
        db.execute("INSERT INTO f(f) VALUES ('rebuild')")
        self.assertEqual(self.present(db, "a", "b"), ["b"])
        db.execute("ROLLBACK TO s")
        self.assertEqual(self.present(db, "a", "b"), ["a", "b"])
        db.execute("COMMIT")
        self.assertEqual(self.present(self.connect(), "a", "b"), ["a", "b"])

    def test_counting_filters_remove_deleted_keys(self):
        db = self.following("source=t, column=k, kind=counting, capacity=1000")
        db.execute("INSERT INTO t VALUES ('b', 1)")
        db.execute("DELETE FROM t WHERE k = 'a'")
        db.execute("DELETE FROM t WHERE k = 'b' AND x = 1")
        self.assertEqual(self.present(db, "a", "b", 3), ["b", 3])
        db.execute("DELETE FROM t")
        self.assertEqual(self.present(db, "a", "b", 3), [])
        self.assertEqual(self.info(db)["fill"], 0)

    def test_replace_keeps_old_keys_where_triggers_do_not_recur(self):
        for recur, stays in (("OFF", ["old"]), ("ON", [])):
            db = self.connect(":memory:")
            db.execute(f"PRAGMA recursive_triggers = {recur}")
            db.execute("CREATE TABLE t(id INTEGER PRIMARY KEY, k)")
            db.execute("CREATE VIRTUAL TABLE f USING bloom(writers=extension, source=t, column=k, kind=counting)")
            db.execute("INSERT INTO t VALUES (1, 'old')")
            db.execute("REPLACE INTO t VALUES (1, 'new')")
            self.assertEqual(self.present(db, "old", "new"), stays + ["new"])

    def test_no_conflict_clause_skips_a_key(self):
        for rule in ("OR IGNORE", "OR REPLACE", "OR FAIL", "OR ABORT", "OR ROLLBACK"):
            db = self.connect(":memory:")
            db.execute("CREATE TABLE t(id INTEGER PRIMARY KEY, k)")
            db.execute("CREATE VIRTUAL TABLE f USING bloom(writers=extension, source=t, column=k, kind=counting)")
            for i in range(2):
                db.execute(f"INSERT {rule} INTO t VALUES (?, 'twice')", (i,))
            db.execute("DELETE FROM t WHERE id = 0")
            self.assertEqual(self.present(db, "twice"), ["twice"], rule)

    def test_direct_writes_are_refused(self):
        db = self.following("source=t, column=k, kind=counting")
        for sql in (
            "INSERT INTO f(key) VALUES ('x')",
            "INSERT OR IGNORE INTO f(key) VALUES ('x')",
            "INSERT INTO f(filter) SELECT filter FROM f",
            "DELETE FROM f WHERE key = 'a'",
            "UPDATE f SET key = 'x' WHERE key = 'a'",
            "INSERT INTO f(f) VALUES ('clear')",
        ):
            self.assertFails(db, "cannot .* a table that follows 't'", sql)
        self.assertEqual(self.present(db, "a", "x"), ["a"])

    def test_add_and_remove_are_no_commands_of_other_tables(self):
        db = self.connect()
        db.execute("CREATE VIRTUAL TABLE f USING bloom(capacity=10)")
        self.assertFails(db, "one row cannot have more than one of key, filter and command", "INSERT INTO f(f, key) VALUES ('add', 1)")
        self.assertFails(db, "unknown command", "INSERT INTO f(f) VALUES ('remove')")

    def test_a_filter_that_is_out_of_sync_reports_it(self):
        db = self.following("source=t, column=k, kind=counting")
        # What no trigger saw, as under SQLITE_DBCONFIG_ENABLE_TRIGGER.
        trigger = one(db, "SELECT sql FROM sqlite_master WHERE name = 'f_after_insert'")
        db.executescript(f"DROP TRIGGER f_after_insert; INSERT INTO t VALUES ('unseen', 1); {trigger}")
        self.assertFails(db, "the triggers of source 't' are missing or have changed", "INSERT INTO f(f) VALUES ('integrity-check')")
        self.assertFails(db, "does not have the key 'unseen'.*out of sync .*'rebuild'", "DELETE FROM t WHERE k = 'unseen'")
        db.execute("INSERT INTO f(f) VALUES ('rebuild')")
        db.execute("DELETE FROM t WHERE k = 'unseen'")

    def test_lookups_fail_without_the_triggers(self):
        db = self.following()
        other = self.connect(cached_statements=100)
        ask = "SELECT 1 FROM f WHERE key = 'z'"
        for connection in (db, other):
            self.assertEqual(connection.execute(ask).fetchall(), [])
        # What tools do to alter a table: the triggers go with the old one.
        db.executescript("BEGIN; CREATE TABLE new(k, x); INSERT INTO new SELECT * FROM t; DROP TABLE t; ALTER TABLE new RENAME TO t; COMMIT;")
        db.execute("INSERT INTO t VALUES ('z', 0)")
        for connection in (db, other, self.connect()):
            for sql in (ask, "SELECT info FROM f", "SELECT filter FROM f", "INSERT INTO f(f) VALUES ('integrity-check')"):
                self.assertFails(connection, "triggers of (the )?source", sql)
        db.execute("INSERT INTO f(f) VALUES ('rebuild')")
        db.execute("INSERT INTO t VALUES ('y', 0)")
        for connection in (db, other, self.connect()):
            self.assertEqual(self.present(connection, "a", "y", "z", "no"), ["a", "y", "z"])

    def test_composite_keys_of_columns_with_any_name(self):
        db = self.connect()
        db.execute("""CREATE TABLE t("a,b" TEXT, 'old."x"' TEXT, "c)" TEXT)""")
        db.execute("INSERT INTO t VALUES (1, 2, 3)")
        db.execute("""CREATE VIRTUAL TABLE f USING bloom(writers=extension, source=t, column=( "a,b" , 'old."x"', "c)"), kind=counting)""")
        db.execute("ALTER TABLE t RENAME COLUMN \"a,b\" TO 'a,''b\"('")
        db.execute("ALTER TABLE f RENAME TO g")
        db.execute("INSERT INTO t VALUES (4, 5, 6)")
        db.execute("DELETE FROM t WHERE \"c)\" = 3")
        db.execute("INSERT INTO g(g) VALUES ('rebuild')")
        for a, b, c in ((1, 2, 3), (4, 5, 6)):
            self.assertEqual(one(db, "SELECT count(*) FROM g WHERE key = bloom_key(?, ?, ?)", a, b, c), int(a == 4))

    def test_names_with_any_character_are_found_and_escaped_in_json(self):
        db = self.connect()
        for table, column in (("it's", "it's"), ('a "\\"\t\n\x01\x1f', "b\\\x7f\r")):
            quoted = ['"' + name.replace('"', '""') + '"' for name in (table, column)]
            db.execute("CREATE TABLE {}({})".format(*quoted))
            db.execute("CREATE VIRTUAL TABLE f USING bloom(writers=extension, source={}, column={})".format(*quoted))
            db.execute(f"INSERT INTO {quoted[0]} VALUES ('a')")
            self.assertEqual(self.present(db, "a", "b"), ["a"])
            self.assertEqual((self.info(db)["source"], self.info(db)["columns"]), (table, [column]))
            db.execute("DROP TABLE f")
        # These are names with quotes in them that do not end, and brackets that do not match.
        for column in ("[it's]", "([it's], k)", "(k)k"):
            self.assertFails(db, "column must be one of it's, got", f"CREATE VIRTUAL TABLE f USING bloom(writers=extension, source=\"it's\", column={column})")

    def test_generated_columns_of_a_composite_key_change_with_their_columns(self):
        db = self.connect()
        db.execute("CREATE TABLE t(id INTEGER PRIMARY KEY, a, b AS (a || 'b') VIRTUAL, c AS (a || 'c') STORED)")
        for i, kind in enumerate(("standard", "counting")):
            db.execute(f"CREATE VIRTUAL TABLE f USING bloom(writers=extension, source=t, column=(b, c, id), kind={kind})")
            db.execute("INSERT INTO t(id, a) VALUES (?, 'x')", (i,))
            db.execute("UPDATE t SET a = 'y' WHERE id = ?", (i,))
            self.assertEqual(one(db, "SELECT count(*) FROM f WHERE key = bloom_key('yb', 'yc', ?)", i), 1)
            db.execute("INSERT INTO f(f) VALUES ('integrity-check')")
            db.execute("DROP TABLE f")

    def test_a_table_is_not_renamed_while_a_trigger_is_missing(self):
        db = self.following()
        for trigger in ("f_before_insert", "f_before_update"):
            db.execute(f"DROP TRIGGER {trigger}")
            db.execute("INSERT INTO t VALUES ('z', 0)")
            for statement in ("ALTER TABLE f RENAME TO g", "SELECT 1 FROM f WHERE key = 'z'"):
                self.assertFails(db, "triggers of source 't' are missing or have changed", statement)
            db.execute("INSERT INTO f(f) VALUES ('rebuild')")
            db.execute("ALTER TABLE f RENAME TO g")
            self.assertEqual(self.present(db, "a", "z", "no", table="g"), ["a", "z"])
            db.execute("ALTER TABLE g RENAME TO f")
            self.assertEqual(self.names(db), {"t", "f", "f_config", "f_data", "f_rowlog", "f_guard", "f_pending", "f_last", "f_before_insert", "f_before_update"})

    def test_the_keys_of_its_rows_cannot_be_listed(self):
        db = self.following()
        self.assertFails(db, r"cannot list the keys of a Bloom filter .*how many keys there are\)$", "SELECT * FROM f")

    def test_triggers_of_other_tables_do_not_count(self):
        db = self.following()
        db.execute("CREATE TABLE other(k)")
        for table in ("other", "t"):
            self.assertEqual(self.present(db, "a", "z"), ["a"])
            db.executescript(f"DROP TRIGGER f_before_update; CREATE TRIGGER f_before_update AFTER DELETE ON {table} BEGIN SELECT 1; END;")
            self.assertFails(db, "the triggers of source 't' are missing or have changed", "SELECT 1 FROM f WHERE key = 'a'")
            if table == "other":
                self.assertFails(db, "f_before_update.* already exists", "INSERT INTO f(f) VALUES ('rebuild')")
                db.execute("DROP TRIGGER f_before_update")
            db.execute("INSERT INTO f(f) VALUES ('rebuild')")
        db.execute("CREATE TRIGGER f_after_insert AFTER INSERT ON other BEGIN SELECT 1; END")
        db.execute("ALTER TABLE f RENAME TO g")
        db.execute("ALTER TABLE g RENAME TO f")
        db.execute("DROP TABLE f")
        self.assertEqual(self.names(db), {"t", "other", "f_after_insert"})

    def test_changed_triggers_do_not_count(self):
        db = self.following()
        for change in (("'add'", "'remove'"), ("BEGIN", "WHEN 0 BEGIN"), ('"k"', '"x"')):
            sql = one(db, "SELECT sql FROM sqlite_master WHERE name = 'f_before_insert'")
            db.executescript("DROP TRIGGER f_before_insert; " + sql.replace(*change))
            self.assertFails(db, "the triggers of source 't' are missing or have changed", "SELECT 1 FROM f WHERE key = 'a'")
            db.execute("INSERT INTO f(f) VALUES ('rebuild')")
            db.execute("INSERT INTO t VALUES (?, 1)", (change[1],))
            self.assertEqual(self.present(db, change[1]), [change[1]])

    STOPPING = {
        "RAISE(IGNORE)": "SELECT RAISE(IGNORE)",
        "RAISE(FAIL)": "SELECT RAISE(FAIL, 'stopped')",
        "another rule": "INSERT INTO log VALUES (1)",
    }

    def test_no_other_trigger_keeps_a_key_from_a_standard_filter(self):
        for schema, body, event in itertools.product(("", "TEMP"), self.STOPPING.values(), ("INSERT", "UPDATE")):
            with self.subTest(f"{schema} {body} {event}"):
                db = self.connect(":memory:")
                db.executescript(f"""
                    CREATE TABLE t(k, x); CREATE TABLE log(n UNIQUE); INSERT INTO t VALUES ('old', 0);
                    CREATE VIRTUAL TABLE f USING bloom(writers=extension, source=t, column=k);
                    CREATE {schema} TRIGGER stop AFTER {event} ON t BEGIN {body}; END;
                    INSERT INTO log VALUES (1);
                """)
                try:
                    db.execute("INSERT OR FAIL INTO t VALUES ('new', 0)" if event == "INSERT" else "UPDATE OR FAIL t SET k = 'new'")
                except sqlite3.IntegrityError:
                    pass
                self.assertEqual(one(db, "SELECT count(*) FROM t WHERE k = 'new'"), 1)
                self.assertEqual(self.present(db, "new"), ["new"])

    def test_a_trigger_that_may_stop_the_after_trigger_is_rejected(self):
        bodies = [*self.STOPPING.values(), "INSERT INTO failing VALUES (1)"]
        for options, body in itertools.product(("column=k, kind=counting", "column=id", "column=(k, x)", "column=g"), bodies):
            with self.subTest(f"{options} {body}"):
                db = self.connect(":memory:")
                db.executescript(f"""
                    CREATE TABLE t(id INTEGER PRIMARY KEY, k, x, g AS (k || id));
                    CREATE TABLE log(n UNIQUE); CREATE TABLE failing(n UNIQUE ON CONFLICT FAIL);
                    CREATE VIRTUAL TABLE f USING bloom(writers=extension, source=t, {options});
                    CREATE VIRTUAL TABLE another USING bloom(writers=extension, source=t, {options});
                    CREATE TRIGGER earlier BEFORE INSERT ON t BEGIN SELECT 1; END;
                    INSERT INTO log VALUES (1); INSERT INTO failing VALUES (1);
                """)
                ask = "SELECT count(*) FROM t JOIN f ON f.key = " + {"column=(k, x)": "bloom_key(t.k, t.x)", "column=id": "id", "column=g": "g"}.get(options, "k")
                absent = b"1:1,1:1," if options == "column=(k, x)" else 1
                self.assertEqual(self.present(db, absent), [])
                db.execute(f"CREATE TRIGGER stop AFTER INSERT ON t WHEN new.x = 1 BEGIN {body}; END")
                self.assertFails(db, "the AFTER trigger 'stop' runs before the triggers of source 't'", "SELECT 1 FROM f WHERE key = 1")
                db.execute("INSERT INTO f(f) VALUES ('rebuild')")
                try:
                    db.execute("INSERT OR FAIL INTO t(k, x) VALUES ('new', 1)")
                except sqlite3.IntegrityError:
                    pass
                self.assertEqual(one(db, "SELECT count(*) FROM t"), 1)
                self.assertEqual(one(db, ask), 1)

    def test_comments_and_words_that_are_no_after_triggers(self):
        harmless = (
            "CREATE VIRTUAL TABLE g USING bloom(source=t, -- the filter\n column=(a, b))",
            "CREATE VIRTUAL TABLE g /* why */ USING bloom(source=t, column=(a, b))",
            "CREATE VIRTUAL TABLE [g h] USING [bloom](source=t, column=a, kind=counting)",
            "CREATE VIRTUAL TABLE g USING \"bloom\"(source=t, column=a, writers=extension, kind=counting)",
            "CREATE VIRTUAL TABLE g USING bloom_groups(source=t, -- the sets\n member=b, column=a)",
            "CREATE VIRTUAL TABLE \"who (old)\" USING bloom_groups(source=t, member=b, column=a)",
            "CREATE VIRTUAL TABLE g USING bloom_search(source=t, /* all */ equal=(a))",
            "CREATE TRIGGER chk BEFORE INSERT ON t WHEN new.a > 'z' BEGIN SELECT raise(ABORT, 'the end must be after the start'); END",
            "CREATE TRIGGER chk_thereafter -- runs after nothing\n INSERT ON t BEGIN SELECT 1; END",
            "CREATE TEMP TRIGGER chk BEFORE UPDATE ON t BEGIN SELECT 'after'; END",
        )
        harmful = (
            "CREATE TRIGGER \"BEFORE\" after INSERT ON t BEGIN SELECT raise(IGNORE); END",
            "CREATE TRIGGER x /* BEFORE */ After INSERT ON t BEGIN SELECT raise(IGNORE); END",
            "CREATE TEMP TRIGGER x -- BEFORE\n AFTER INSERT ON t BEGIN SELECT raise(IGNORE); END",
        )
        for sql in harmless + harmful:
            db = self.connect(":memory:")
            db.execute("CREATE TABLE t(id INTEGER PRIMARY KEY, a TEXT, b TEXT)")
            db.execute("CREATE VIRTUAL TABLE f USING bloom(source=t, column=a, kind=counting, capacity=1000, writers=extension)")
            db.execute(sql)
            db.execute("INSERT INTO t(a, b) VALUES ('p', 'q')")
            with self.subTest(sql):
                if sql in harmless:
                    self.assertEqual(self.present(db, "p"), ["p"])
                else:
                    self.assertFails(db, "the AFTER trigger", "SELECT key FROM f WHERE key = 'p'")
        for trigger in ("m -- merges\n", "[m]", "`m`", "m /* BEFORE */"):
            db = self.connect(":memory:")
            db.executescript(f"""
                CREATE TABLE t(id INTEGER PRIMARY KEY, a TEXT);
                CREATE VIRTUAL TABLE f USING bloom(source=t, column=a);
                CREATE TEMP TRIGGER {trigger} AFTER INSERT ON main.f_pending WHEN new.id % 10 = 0 BEGIN INSERT INTO f(f) VALUES ('merge'); END;
            """)
            db.executemany("INSERT INTO t(a) VALUES (?)", [(f"k{i}",) for i in range(30)])
            self.assertEqual(self.present(db, *(f"k{i}" for i in range(30))), [f"k{i}" for i in range(30)])

    def test_a_statement_that_removes_keys_before_it_adds_some_is_checked_too(self):
        for stop, drop in (("TEMP TRIGGER stop AFTER INSERT ON t BEGIN SELECT raise(IGNORE); END", ""), ("TRIGGER stop AFTER INSERT ON t BEGIN SELECT raise(IGNORE); END", "DROP TRIGGER stop")):
            db = self.connect(":memory:")
            db.executescript("""
                CREATE TABLE t(id INTEGER PRIMARY KEY, k TEXT);
                CREATE TRIGGER again AFTER DELETE ON t WHEN old.k LIKE 'r%' BEGIN INSERT INTO t(k) VALUES ('new ' || old.k); END;
                CREATE VIRTUAL TABLE f USING bloom(source=t, column=k, kind=counting, capacity=1000, writers=extension);
                INSERT INTO t(k) VALUES ('r1'), ('r2'), ('x');
            """)
            db.execute("CREATE " + stop)
            db.execute("DELETE FROM t WHERE k = 'r1'")
            db.execute(drop)
            self.assertFails(db, "the AFTER trigger 'stop' could keep their keys from being added|the AFTER trigger 'stop' runs before the triggers", "SELECT key FROM f WHERE key = 'new r1'")
        db = self.connect(":memory:")
        db.executescript("""
            PRAGMA foreign_keys = ON;
            CREATE TABLE t(id INTEGER PRIMARY KEY, k TEXT UNIQUE);
            CREATE TABLE child(x TEXT REFERENCES t(k) ON UPDATE CASCADE);
            CREATE TRIGGER refuse AFTER UPDATE ON child WHEN new.x = 'bad' BEGIN SELECT raise(FAIL, 'no'); END;
            CREATE TRIGGER again AFTER DELETE ON t WHEN old.k LIKE 'r%' BEGIN UPDATE t SET k = 'bad' WHERE k = 'x'; END;
            CREATE VIRTUAL TABLE f USING bloom(source=t, column=k, kind=counting, capacity=1000, writers=extension);
            INSERT INTO t(k) VALUES ('r1'), ('r2'), ('x');
            INSERT INTO child VALUES ('x');
        """)
        self.assertFails(db, "may write a row of 't' and then end by FAIL", "DELETE FROM t WHERE k = 'r1'")
        for (key,) in db.execute("SELECT k FROM t").fetchall():
            self.assertEqual(self.present(db, key), [key])

    def test_columns_that_an_update_computes_again_are_part_of_the_key(self):
        db = self.connect()
        db.executescript("""
            CREATE TABLE t(id INTEGER PRIMARY KEY, a, b);
            CREATE VIRTUAL TABLE f USING bloom(writers=extension, source=t, column=(a, b));
            CREATE TRIGGER u BEFORE UPDATE OF a ON t BEGIN UPDATE t SET b = 'nb' WHERE id = old.id; END;
            INSERT INTO t VALUES (1, 'a', 'b'); UPDATE t SET a = 'na';
        """)
        self.assertEqual(db.execute("SELECT t.a, t.b FROM t JOIN f ON f.key = bloom_key(t.a, t.b)").fetchall(), [("na", "nb")])

    def test_no_spelling_hides_a_trigger_that_may_stop_others(self):
        triggers = (
            "create trigger stop after insert on t begin select raise(fail, 'no'); end",
            "CREATE TRIGGER stop AFTER INSERT ON t BEGIN INSERT INTO audit(op, key) VALUES ('add', new.x); END",
            "CREATE TRIGGER stop_after_insert AFTER INSERT ON t BEGIN INSERT INTO audit(op, key) VALUES ('add', new.x); END",
        )
        for trigger in triggers:
            db = self.connect(":memory:")
            db.execute("CREATE TABLE t(id INTEGER PRIMARY KEY, x)")
            db.execute("CREATE TABLE audit(op, key UNIQUE)")
            db.execute("CREATE VIRTUAL TABLE f USING bloom(writers=extension, source=t, column=id)")
            db.execute(trigger)
            db.execute("PRAGMA case_sensitive_like = ON")
            db.create_function("like", 2, lambda *_: 0)
            self.assertFails(db, "the AFTER trigger 'stop.* runs before the triggers", "SELECT 1 FROM f WHERE key = 1")

    def test_a_trigger_that_rewrites_keys_may_be_added_later(self):
        for kind in ("standard", "counting"):
            db = self.connect(":memory:")
            db.execute("CREATE TABLE t(id INTEGER PRIMARY KEY, k)")
            db.execute(f"CREATE VIRTUAL TABLE f USING bloom(writers=extension, source=t, column=k, kind={kind})")
            db.execute("CREATE TRIGGER form AFTER INSERT ON t BEGIN UPDATE t SET k = lower(k) WHERE id = new.id; END")
            db.execute("INSERT INTO f(f) VALUES ('rebuild')")
            db.execute("INSERT INTO t(k) VALUES ('ABC')")
            self.assertEqual(self.present(db, "abc", "ABC"), ["abc"] if kind == "counting" else ["abc", "ABC"])

    def test_schema_changes_of_another_connection_lose_nothing(self):
        a, b = self.connect(), self.connect()
        a.execute("CREATE TABLE m(x)")
        a.execute("CREATE TEMP TABLE s(k)")
        a.execute("INSERT INTO s VALUES ('key')")
        for i in range(3):
            a.execute("SELECT * FROM m")
            b.execute(f"CREATE TABLE other{i}(x)")
            a.execute("CREATE VIRTUAL TABLE temp.f USING bloom(writers=extension, source=s, column=k)")
            self.assertEqual(self.present(a, "key", "no"), ["key"])
            b.execute(f"DROP TABLE other{i}")
            a.execute("ALTER TABLE temp.f RENAME TO g")
            self.assertEqual(self.present(a, "key", "no", table="g"), ["key"])
            a.execute("DROP TABLE g")
        a.executescript("CREATE TABLE main.s(k); BEGIN")
        self.assertFails(a, "fpr must be", "CREATE VIRTUAL TABLE main.b USING bloom(fpr=2)")
        a.execute("CREATE VIRTUAL TABLE temp.f USING bloom(writers=extension, source=s, column=k)")
        a.execute("COMMIT")
        self.assertEqual(self.present(a, "key", "no"), ["key"])

    def test_a_rename_as_in_old_versions(self):
        db = self.following()
        db.execute("PRAGMA legacy_alter_table = ON")
        db.execute("ALTER TABLE f RENAME TO g")
        db.execute("INSERT INTO t VALUES ('new', 1)")
        self.assertEqual(self.present(self.connect(), "a", "new", "no", table="g"), ["a", "new"])
        db.execute("DROP TABLE g")
        self.assertEqual(self.names(db), {"t"})

    def test_drop_leaves_no_trigger_that_writes_to_the_filter(self):
        db = self.following()
        db.execute("ALTER TABLE t RENAME TO u")
        db.execute("DROP TRIGGER f_before_update")
        self.connect().execute("DROP TABLE f")
        db.execute("INSERT INTO u VALUES ('new', 1)")
        self.assertEqual(self.names(db), {"u"})

    def test_one_lost_trigger_does_not_lose_the_names(self):
        db = self.following()
        db.execute("ALTER TABLE t RENAME TO u")
        db.execute("ALTER TABLE u RENAME COLUMN k TO l")
        db.execute("DROP TRIGGER f_before_insert")
        db.execute("INSERT INTO u VALUES ('new', 1)")
        self.assertFails(db, "the triggers of source 'u' are missing or have changed", "SELECT 1 FROM f WHERE key = 'a'")
        db.execute("INSERT INTO f(f) VALUES ('rebuild')")
        self.assertEqual(self.present(db, "a", "new", "no"), ["a", "new"])

    def test_returning_sees_the_new_key(self):
        if sqlite3.sqlite_version_info < (3, 35):
            self.skipTest("no RETURNING")
        db = self.following()
        returned = db.execute("INSERT INTO t VALUES ('new', 1) RETURNING k, EXISTS (SELECT 1 FROM f WHERE key = k)").fetchall()
        self.assertEqual(returned, [("new", 1)])

    def test_a_default_that_stands_in_for_null_is_a_key(self):
        for kind in ("standard", "counting"):
            db = self.connect(":memory:")
            db.execute("CREATE TABLE t(id INTEGER PRIMARY KEY, k NOT NULL ON CONFLICT REPLACE DEFAULT 'default')")
            db.execute(f"CREATE VIRTUAL TABLE f USING bloom(writers=extension, source=t, column=k, kind={kind})")
            db.execute("CREATE VIRTUAL TABLE g USING bloom(writers=extension, source=t, column=id)")
            db.execute("INSERT INTO t(k) VALUES ('x'), (NULL)")
            self.assertEqual(self.present(db, "x", "default"), ["x", "default"])
            self.assertEqual(self.present(db, 1, 2, 3, table="g"), [1, 2])
            db.execute("UPDATE t SET k = 'y' WHERE id = 2")
            db.execute("UPDATE OR REPLACE t SET k = NULL WHERE id = 1")
            self.assertEqual(self.present(db, "y", "default"), ["y", "default"])

    def test_tables_of_virtual_tables_are_not_followed(self):
        if sqlite3.sqlite_version_info < (3, 37):
            self.skipTest("SQLite does not tell which they are")
        db = self.following()
        self.assertFails(db, "must be an ordinary table, got a table that belongs to a virtual one", "CREATE VIRTUAL TABLE g USING bloom(writers=extension, source=f_data, column=chunk)")

    def test_a_table_that_is_made_and_rolled_back_leaves_nothing(self):
        db = self.connect()
        db.executescript("CREATE TABLE t(k, x); INSERT INTO t VALUES ('a', 1); CREATE TABLE other(n)")
        first = "CREATE VIRTUAL TABLE f USING bloom(writers=extension, source=t, column=k)"
        for second in ("", first, "seed=5", "capacity=100000", "kind=counting", "collate=nocase, source=t, column=n"):
            db.execute("DELETE FROM t WHERE k <> 'a'")
            db.executescript(f"BEGIN; INSERT INTO other VALUES (1); SAVEPOINT s; {first}; ROLLBACK TO s")
            if second == first:
                for sql in ("SAVEPOINT s2", first, "RELEASE s2"):
                    db.execute(sql)
            elif "collate" in second:
                db.execute("CREATE VIRTUAL TABLE f USING bloom(collate=nocase)")
                db.execute("INSERT INTO f(key) VALUES ('A'), ('B')")
            elif second:
                db.execute(f"CREATE VIRTUAL TABLE f USING bloom(writers=extension, source=t, column=k, {second})")
            db.execute("INSERT INTO t VALUES ('b', 2)")
            db.execute("COMMIT")
            if second:
                for connection in (db, self.connect()):
                    self.assertEqual(self.present(connection, "a", "b", "c"), ["a", "b"], second)
                db.execute("DROP TABLE f")
        self.assertEqual(one(db, "SELECT count(*) FROM other"), 6)

    def test_a_table_does_not_grow_because_its_predecessor_did(self):
        counting = "CREATE VIRTUAL TABLE {0} USING bloom(capacity=100, kind=counting); INSERT INTO {0}(key) VALUES ('x'), ('x'); DELETE FROM {0} WHERE key = 'x'"
        for table, before in (
            ("f", "SAVEPOINT s; CREATE VIRTUAL TABLE f USING bloom; ROLLBACK TO s"),
            ("f", "CREATE VIRTUAL TABLE f USING bloom; INSERT INTO f(key) VALUES (1); ALTER TABLE z RENAME TO z2; INSERT INTO f(key) VALUES (2); DROP TABLE f"),
            ("g", "CREATE VIRTUAL TABLE f USING bloom; INSERT INTO f(key) VALUES (1); SAVEPOINT s; ALTER TABLE f RENAME TO g; ROLLBACK TO s"),
        ):
            db = self.connect(":memory:")
            db.executescript(f"CREATE TABLE z(a); BEGIN; {before}; {counting.format(table)}; COMMIT")
            self.assertEqual(self.present(db, "x", table=table), ["x"], before)

    def test_a_rollback_by_a_function_of_the_host_is_an_error(self):
        db = self.connect()
        db.create_function("undo", 1, lambda value: (self.undone and db.execute("ROLLBACK"), value)[1], deterministic=True)
        self.undone = False
        db.executescript("CREATE VIRTUAL TABLE f USING bloom; CREATE TABLE t(k, g AS (undo(k))); INSERT INTO t VALUES (1), (2); CREATE VIRTUAL TABLE s USING bloom(writers=extension, source=t, column=g)")
        self.undone = True
        db.execute("BEGIN")
        self.assertFails(db, "the transaction was rolled back meanwhile|abort due to ROLLBACK", "INSERT INTO f(key) VALUES (undo('a'))")
        db.execute("BEGIN")
        self.assertFails(db, "the transaction was rolled back meanwhile|abort due to ROLLBACK|no transaction is active|user-defined function raised exception", "INSERT INTO s(s) VALUES ('rebuild')")
        self.undone = False
        for connection in (db, self.connect()):
            connection.create_function("undo", 1, lambda value: value, deterministic=True)
            self.assertEqual(self.present(connection, "a"), [])
            self.assertEqual(self.present(connection, 1, 2, 3, table="s"), [1, 2])

    def test_a_schema_version_that_was_rolled_back_is_not_trusted(self):
        for ask in ("SELECT 1 FROM f WHERE key = 'a'", "SELECT 2 FROM f WHERE key = 'a'"):
            db = self.connect(":memory:")
            db.executescript("CREATE TABLE t(k); CREATE VIRTUAL TABLE f USING bloom(writers=extension, source=t, column=k)")
            db.execute(ask).fetchall()
            db.execute("BEGIN")
            db.execute("CREATE TABLE other(x)")
            db.execute(ask).fetchall()
            version = one(db, "PRAGMA schema_version")
            db.execute("ROLLBACK")
            db.execute("DROP TRIGGER f_before_insert")
            self.assertEqual(one(db, "PRAGMA schema_version"), version)
            self.assertFails(db, "are missing or have changed", ask)

    def test_a_dropped_source_is_noticed_at_once(self):
        db = self.following()
        self.assertEqual(self.present(db, "a", "z"), ["a"])
        db.execute("DROP TABLE t")
        self.assertFails(db, "the triggers of source 't' are missing or have changed", "SELECT 1 FROM f WHERE key = 'a'")
        self.assertFails(db, "source 't' must be an ordinary table, got no table of this name", "INSERT INTO f(f) VALUES ('rebuild')")
        db.execute("CREATE TABLE t(k, x)")
        self.assertFails(db, "the triggers of source 't' are missing or have changed", "SELECT 1 FROM f WHERE key = 'a'")
        db.execute("INSERT INTO f(f) VALUES ('rebuild')")
        self.assertEqual(self.present(db, "a", "z"), [])

    def test_names_change_with_the_tables(self):
        db = self.following()
        db.execute('ALTER TABLE f RENAME TO "the ""filter"""')
        db.execute('ALTER TABLE t RENAME TO "the ""source"""')
        db.execute('ALTER TABLE "the ""source""" RENAME COLUMN k TO "a ""key"""')
        db.execute('INSERT INTO "the ""source""" VALUES (\'new\', 1)')
        name = '"the ""filter"""'
        for connection in (db, self.connect()):
            self.assertEqual(self.present(connection, "a", "new", "no", table=name), ["a", "new"])
            self.assertEqual(self.info(connection, name)["source"], 'the "source"')
        db.execute('UPDATE "the ""source""" SET "a ""key""" = \'changed\' WHERE x = 1')
        for connection in (self.connect(), db):
            connection.execute(f"INSERT INTO {name}({name}) VALUES ('rebuild')")
            self.assertEqual(self.present(db, "a", "new", "changed", table=name), ["a", "changed"])
        db.execute(f"ALTER TABLE {name} RENAME TO f")
        db.execute('INSERT INTO "the ""source""" VALUES (\'newer\', 1)')
        self.assertEqual(self.present(self.connect(), "a", "newer", "no"), ["a", "newer"])
        name = "f"
        if sqlite3.sqlite_version_info >= (3, 35):
            self.assertFails(db, "error in index f_guard", 'ALTER TABLE "the ""source""" DROP COLUMN "a ""key"""')
        db.execute(f"DROP TABLE {name}")
        self.assertEqual(self.names(db), {'the "source"'})

    def test_a_dump_restores_answers_and_triggers(self):
        for kind in ("standard", "counting"):
            db = self.following(f"source=t, column=k, kind={kind}, capacity=1000")
            # The shell's own library, whichever this process has.
            environment = {name: value for name, value in os.environ.items() if name != "LD_LIBRARY_PATH"}
            dump = subprocess.run(["sqlite3", self.path, ".dump"], check=True, capture_output=True, env=environment).stdout
            copy = self.path + kind
            subprocess.run(["sqlite3", "-cmd", f".load {EXTENSION}", copy], input=dump, check=True, env=environment)
            restored = self.connect(copy)
            self.assertEqual(self.present(restored, "a", "b", 3, "c"), ["a", "b", 3])
            self.assertEqual(one(restored, "SELECT filter FROM f"), one(db, "SELECT filter FROM f"))
            restored.execute("INSERT INTO t VALUES ('c', 1)")
            restored.execute("DELETE FROM t WHERE k = 'a'")
            self.assertEqual(self.present(restored, "a", "b", 3, "c"), (["a"] if kind == "standard" else []) + ["b", 3, "c"])
            restored.execute("INSERT INTO f(f) VALUES ('rebuild')")
            self.assertEqual(self.present(restored, "a", "b", 3, "c"), ["b", 3, "c"])
            db.executescript("DROP TABLE f; DROP TABLE t")

    def test_a_connection_without_the_extension_cannot_write_unseen(self):
        self.following()
        plain = sqlite3.connect(self.path)
        self.addCleanup(plain.close)
        self.assertEqual(plain.execute("SELECT count(*) FROM t").fetchone(), (3,))
        with self.assertRaisesRegex(sqlite3.OperationalError, "no such module: bloom"):
            plain.execute("INSERT INTO t VALUES ('unseen', 1)")
        plain.execute("UPDATE t SET x = 5")
        plain.commit()


class PendingRate(unittest.TestCase):
    """A table with a low fpr had 292 false positives in 2 million lookups while 20,000 changes were pending."""

    def measured(self, fpr, pending, lookups):
        db = connect()
        db.execute("CREATE TABLE t(k)")
        db.execute(f"CREATE VIRTUAL TABLE f USING bloom(source=t, column=k, capacity=1000, fpr={fpr})")
        before = one(db, "SELECT fpr FROM f")
        numbers = "WITH n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {}) SELECT {} FROM n"
        db.execute("INSERT INTO t " + numbers.format(pending, "i"))
        self.assertEqual(one(db, "SELECT pending FROM f"), pending)
        found = one(db, f"SELECT count(*) FROM ({numbers.format(pending, 'i AS k')}) CROSS JOIN f ON f.key = k")
        self.assertEqual(found, pending)
        wrong = one(db, f"SELECT count(*) FROM ({numbers.format(lookups, '-i AS k')}) CROSS JOIN f ON f.key = k")
        reported = one(db, "SELECT fpr FROM f")
        self.assertEqual(json.loads(one(db, "SELECT info FROM f"))["fpr"], reported)
        self.assertGreater(reported, before)
        db.execute("INSERT INTO f(f) VALUES ('rebuild')")
        self.assertLess(one(db, "SELECT fpr FROM f"), 1.05 * fpr)
        return wrong / lookups, reported

    def test_of_a_low_fpr(self):
        wrong, reported = self.measured(1e-9, 20_000, 1_000_000)
        self.assertEqual(wrong, 0)
        self.assertLess(reported, 0.2e-9)

    def test_is_reported(self):
        wrong, reported = self.measured(0.01, 20_000, 1_000_000)
        self.assertAlmostEqual(wrong / reported, 1, delta=0.4)
        self.assertLess(reported, 0.001)


if __name__ == "__main__":
    unittest.main()
