"""Test cases on a database file of their own:

    from support.case import InFolder
"""

import os
import sqlite3
import tempfile
import unittest

from support.host import connect


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
