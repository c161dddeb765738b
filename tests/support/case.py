"""Test cases on a database file of their own:

    from support.case import InFolder, TableCase
"""

import json
import os
import sqlite3
import tempfile
import unittest

from support.host import connect, one


class InFolder(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = os.path.join(folder.name, "db")

    def connect(self, path=None, **options):
        db = connect(path or self.path, isolation_level=None, timeout=0, **options)
        self.addCleanup(db.close)
        db.execute("PRAGMA synchronous = OFF")
        return db

    def assertFails(self, db, text, sql, *arguments):
        with self.assertRaisesRegex(sqlite3.Error, text):
            db.execute(sql, arguments).fetchall()

    def present(self, db, *keys, table="f"):
        return [key for key in keys if db.execute(f"SELECT 1 FROM {table} WHERE key = ?", (key,)).fetchone()]

    def info(self, db, table="f"):
        return json.loads(one(db, f"SELECT info FROM {table}"))


class TableCase(InFolder):
    """Adds and looks up keys of a bloom table, which is f unless another name is given."""

    def add(self, db, keys):
        db.execute("BEGIN")
        db.executemany("INSERT INTO f(key) VALUES (?)", [(key,) for key in keys])
        db.execute("COMMIT")

    def assertPresent(self, db, keys, table="f"):
        for key in keys:
            self.assertEqual(db.execute(f"SELECT key FROM {table} WHERE key = ?", (key,)).fetchall(), [(key,)])

    def assertAbsent(self, db, keys, table="f"):
        for key in keys:
            self.assertEqual(db.execute(f"SELECT key FROM {table} WHERE key = ?", (key,)).fetchall(), [])
