"""Programs that read every table of a database: what they do with bloom tables, with the extension and without it.

    /usr/bin/python3 tests/table/tools_test.py EXTENSION [unittest options]

docs/orms.md has the results. Programs that are not installed are skipped.
"""

import importlib.util
import shutil
import sqlite3
import subprocess
import sys
import unittest
import warnings
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from support.case import InFolder  # noqa: E402
from support.host import EXTENSION, SANITIZED, one  # noqa: E402

CANNOT_LIST = "cannot list the keys of a Bloom filter"
NO_MODULE = "no such module: bloom"


class Scans(InFolder):
    """A query without a key can count the keys, and fails if it reads them: it must not miss any silently."""

    READS_KEYS = (
        "SELECT * FROM f", "SELECT * FROM f LIMIT 50", "SELECT key FROM f ORDER BY key", "SELECT f FROM f", "SELECT count(key) FROM f",
        "SELECT count(DISTINCT key) FROM f", "SELECT max(key) FROM f", "SELECT count(*) FROM f GROUP BY key", "SELECT count(*) FROM f WHERE key > 'a'",
        "SELECT k FROM t WHERE k IN (SELECT key FROM f)", "SELECT k FROM t WHERE k NOT IN (SELECT key FROM f)", "SELECT k FROM t INTERSECT SELECT key FROM f",
        "SELECT k FROM t EXCEPT SELECT key FROM f", "SELECT k FROM t WHERE (SELECT key FROM f) = k", "SELECT k FROM t WHERE EXISTS (SELECT 1 FROM f WHERE +f.key = k)",
        "SELECT 1 FROM f LEFT JOIN t ON k = f.key", "INSERT INTO t SELECT key FROM f", "DELETE FROM f", "UPDATE f SET key = 'b'", "SELECT key, keys FROM f",
    )  # fmt: skip

    def test_counts_are_those_of_the_column_keys(self):
        for options in ("capacity=1000", "growth=on", "capacity=1000, kind=counting", "cells=1000, hashes=3"):
            db = self.connect(":memory:")
            db.execute(f"CREATE VIRTUAL TABLE f USING bloom({options})")
            for keys in (0, 1, 10, 3000):
                db.executemany("INSERT INTO f(key) VALUES (?)", [(i,) for i in range(keys)])
                column = one(db, "SELECT keys FROM f")
                if column is None:
                    self.assertFails(db, "too full to estimate", "SELECT count(*) FROM f")
                    continue
                count = one(db, "SELECT count(*) FROM f")
                self.assertEqual(count, column, (options, keys))
                if keys <= 10:
                    self.assertEqual(count, keys)
                self.assertEqual(one(db, "SELECT EXISTS (SELECT 1 FROM f)"), int(keys > 0))

    def test_keys_cannot_be_read(self):
        db = self.connect()
        db.executescript("CREATE TABLE t(k); INSERT INTO t VALUES ('a'), ('z'); CREATE VIRTUAL TABLE f USING bloom(capacity=1000)")
        for sql in self.READS_KEYS[:-2]:  # the last two also read properties, of which there is one row
            db.execute(sql).fetchall()  # an empty filter has no keys to list
        self.assertEqual(one(db, "SELECT count(*) FROM t"), 2)
        db.execute("INSERT INTO f(key) VALUES ('a')")
        for sql in self.READS_KEYS:
            self.assertFails(db, CANNOT_LIST, sql)
        self.assertEqual(one(db, "SELECT count(*) FROM t"), 2)

    def test_a_filter_with_any_key_is_not_read_as_empty(self):
        db = self.connect()
        db.executescript("CREATE TABLE t(k); CREATE VIRTUAL TABLE f USING bloom(source=t, column=k); INSERT INTO t VALUES ('a')")
        for step in ("pending", "merged"):
            self.assertEqual(one(db, "SELECT count(*) FROM f"), 1)
            self.assertFails(db, CANNOT_LIST, "SELECT k FROM t WHERE k IN (SELECT key FROM f)")
            db.execute("INSERT INTO f(f) VALUES ('merge')")
        db.execute("CREATE VIRTUAL TABLE tiny USING bloom(cells=64, hashes=32)")
        db.execute("INSERT INTO tiny(key) VALUES ('a')")
        self.assertFails(db, CANNOT_LIST, "SELECT key FROM tiny")
        db.execute("DELETE FROM t")
        db.executescript("CREATE VIRTUAL TABLE g USING bloom(source=t, column=k); DROP TRIGGER g_before_insert; INSERT INTO t VALUES ('b')")
        for sql in ("SELECT count(*) FROM g", "SELECT k FROM t WHERE k IN (SELECT key FROM g)"):
            self.assertFails(db, "the triggers of source 't' are missing or have changed", sql)


class Tools(InFolder):
    KEYS = ["a.example", "b.example"]

    def setUp(self):
        super().setUp()
        db = self.connect()
        db.executescript("CREATE TABLE pages(url TEXT PRIMARY KEY, title); CREATE VIRTUAL TABLE seen USING bloom(capacity=1000)")
        db.executemany("INSERT INTO pages VALUES (?, 'title')", [(key,) for key in self.KEYS])
        db.executemany("INSERT INTO seen(key) VALUES (?)", [(key,) for key in self.KEYS])
        db.executescript("CREATE VIRTUAL TABLE pages_seen USING bloom(source=pages, column=url); CREATE TABLE filters AS SELECT bloom_build(url) AS filter FROM pages")
        db.execute("INSERT INTO pages VALUES ('c.example', 'pending')")
        db.close()

    def assertComplete(self, path):
        db = self.connect(path)
        self.assertEqual(self.present(db, *self.KEYS, "x", table="seen"), self.KEYS)
        self.assertEqual(self.present(db, *self.KEYS, "c.example", "x", table="pages_seen"), [*self.KEYS, "c.example"])
        for table in ("seen", "pages_seen"):
            db.execute(f"INSERT INTO {table}({table}) VALUES ('integrity-check')")
        db.execute("INSERT INTO pages VALUES ('d.example', 'new')")
        self.assertEqual(self.present(db, "d.example", table="pages_seen"), ["d.example"])

    def with_and_without(self):
        yield "with", self.connect()
        db = sqlite3.connect(self.path)
        self.addCleanup(db.close)
        yield "without", db

    def run_tool(self, *command, text=None):
        if SANITIZED:
            self.skipTest("other programs do not load a sanitized extension")
        if not shutil.which(command[0]):
            self.skipTest(f"{command[0]} is not installed")
        done = subprocess.run(command, input=text, capture_output=True, text=True, timeout=60)
        return done.stdout, done.stderr + done.stdout

    def test_python_iterdump(self):
        for name, db in self.with_and_without():
            with self.assertRaisesRegex(sqlite3.Error, CANNOT_LIST if name == "with" else NO_MODULE):
                list(db.iterdump())

    def test_python_backup(self):
        for name, db in self.with_and_without():
            target = sqlite3.connect(self.path + name)
            db.backup(target)
            target.close()
            self.assertComplete(self.path + name)

    def test_vacuum_into(self):
        for name, db in self.with_and_without():
            db.execute("VACUUM INTO ?", (self.path + name,))
            self.assertComplete(self.path + name)

    def shell(self, how):
        return ["sqlite3", "-batch", *(["-cmd", f".load {EXTENSION}"] if how == "with" else [])]

    def test_shell_dump(self):
        for dumped in ("with", "without"):
            dump, _ = self.run_tool(*self.shell(dumped), self.path, ".dump")
            for restored in ("with", "without"):
                path = f"{self.path} {dumped} {restored}"
                self.run_tool(*self.shell(restored), path, text=".dbconfig defensive off\n" + dump)
                self.assertComplete(path)

    def test_a_dump_that_has_views_before_triggers(self):
        """As newer shells write it. The triggers may then have been created again, for all that the order tells."""
        dump, _ = self.run_tool(*self.shell("with"), self.path, ".dump")
        first = dump.index("CREATE TRIGGER")
        views = [line + "\n" for line in dump.splitlines() if line.startswith("CREATE VIEW")]
        self.assertTrue(views)
        path = self.path + " views first"
        rest = dump[first:]
        for view in views:
            rest = rest.replace(view, "")
        self.run_tool(*self.shell("with"), path, text=".dbconfig defensive off\n" + dump[:first] + "".join(views) + rest)
        db = self.connect(path)
        with self.assertRaisesRegex(sqlite3.Error, "have changed, .*'rebuild' fixes that"):
            self.present(db, "a.example", table="pages_seen")
        db.execute("INSERT INTO pages_seen(pages_seen) VALUES ('rebuild')")
        db.close()
        self.assertComplete(path)

    def test_shell_dump_into_a_defensive_connection(self):
        dump, _ = self.run_tool(*self.shell("with"), self.path, ".dump")
        _, said = self.run_tool(*self.shell("with"), self.path + "2", text=".dbconfig defensive on\n" + dump)
        self.assertIn("may not be modified", said)

    def test_shell_clone(self):
        for how in ("with", "without"):
            _, said = self.run_tool(*self.shell(how), self.path, f".clone '{self.path} {how}'")
            self.assertIn(NO_MODULE, said)

    def test_sqlite_utils(self):
        for how, options in (("with", [f"--load-extension={EXTENSION}"]), ("without", [])):
            said, _ = self.run_tool("sqlite-utils", "tables", self.path, *options)
            self.assertIn('{"table": "pages"}', said)
            _, said = self.run_tool("sqlite-utils", "tables", self.path, "--counts", *options)
            self.assertIn('{"table": "seen", "count": 2}' if how == "with" else NO_MODULE, said)
            for command in (["rows", self.path, "seen"], ["dump", self.path]):
                _, said = self.run_tool("sqlite-utils", *command, *options)
                self.assertIn(CANNOT_LIST if how == "with" else NO_MODULE, said)

    def require(self, module):
        if not importlib.util.find_spec(module):
            self.skipTest(f"{module} is not installed")

    def test_sqlalchemy(self):
        self.require("sqlalchemy")
        warnings.simplefilter("ignore")
        from sqlalchemy import MetaData, create_engine, event, func, inspect, select

        for how in ("with", "without"):
            engine = create_engine("sqlite:///" + self.path)
            self.addCleanup(engine.dispose)
            self.assertIn("seen", inspect(engine).get_table_names())
            self.assertEqual([column["name"] for column in inspect(engine).get_columns("pages")], ["url", "title"])
            tables = MetaData()
            if how == "without":
                with self.assertRaisesRegex(Exception, NO_MODULE):
                    tables.reflect(engine)
                tables.reflect(engine, only=["pages"])
                continue
            engine = create_engine("sqlite:///" + self.path)
            event.listen(engine, "connect", lambda db, _: (db.enable_load_extension(True), db.load_extension(EXTENSION)))
            tables.reflect(engine)
            seen, pages = tables.tables["pages_seen"].c, tables.tables["pages"].c
            with engine.connect() as db:
                self.assertEqual(db.execute(select(seen.key).where(seen.key == "a.example")).fetchall(), [("a.example",)])
                self.assertEqual(len(db.execute(select(pages.title).where(pages.url == seen.key)).fetchall()), 3)
                self.assertEqual(db.execute(select(func.count()).select_from(tables.tables["seen"])).scalar(), 2)
            engine.dispose()

    def test_django(self):
        self.require("django")
        program = (
            "import sys, django; from django.conf import settings\n"
            "settings.configure(DATABASES={'default': {'ENGINE': 'django.db.backends.sqlite3', 'NAME': sys.argv[1]}}); django.setup()\n"
            "from django.db.backends.signals import connection_created\n"
            "def load(sender, connection, **_): connection.connection.enable_load_extension(True), connection.connection.load_extension(sys.argv[2])\n"
            "len(sys.argv) > 2 and connection_created.connect(load)\n"
            "from django.core.management import call_command; call_command('inspectdb')\n"
        )
        for options in ([EXTENSION], []):
            said, _ = self.run_tool("/usr/bin/python3", "-W", "ignore", "-c", program, self.path, *options)
            self.assertIn("class Pages(models.Model):", said)
            self.assertIn("class Seen(models.Model):" if options else f"# The error was: {NO_MODULE}", said)


if __name__ == "__main__":
    unittest.main()
