"""Bloom filters inside SQLite: locates the loadable extension and loads it into a connection."""

from __future__ import annotations

import os
import sqlite3


def loadable_path() -> str:
    """Returns the path of the extension without the file suffix. SQLite appends the suffix of the platform."""
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "bloom")
    # To find the entry point, SQLite 3.31 for Windows takes the name after the last slash, not backslash.
    return path.replace(os.sep, "/")


def load(connection: sqlite3.Connection) -> None:
    """Loads the extension into a connection. Extension loading is disabled when the function returns.

    Raises AttributeError if the sqlite3 module of this Python was built without extension loading.
    """
    connection.enable_load_extension(True)
    try:
        connection.load_extension(loadable_path())
    finally:
        connection.enable_load_extension(False)
