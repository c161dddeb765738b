"""Connections of Python's sqlite3 with the extension loaded, for tests:

    from support.host import EXTENSION, connect, one    # takes the extension from the command line

Needs a Python whose sqlite3 module can load extensions; Debian's /usr/bin/python3 can.
"""

import os
import sqlite3
import sys
import unittest

EXTENSION = os.path.abspath(sys.argv.pop(1))
SANITIZED = bool(os.environ.get("BLOOM_PRELOAD"))


def connect(path=":memory:", **options):
    db = sqlite3.connect(path, **options)
    db.enable_load_extension(True)
    db.load_extension(EXTENSION)
    return db


def one(db, sql, *arguments):
    return db.execute(sql, arguments).fetchone()[0]


def print_reasons_of_skips():
    """Without this, unittest prints reasons only with -v."""
    add_skip = unittest.TextTestResult.addSkip

    def add_and_print(result, test, reason):
        add_skip(result, test, reason)
        print(f"\nskipped: {test.id().removeprefix('__main__.')}: {reason}", file=sys.stderr)

    unittest.TextTestResult.addSkip = add_and_print


print_reasons_of_skips()
