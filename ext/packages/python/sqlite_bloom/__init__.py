"""Bloom filters inside SQLite: the path of the extension, and how to load it."""

from __future__ import annotations

import os
import sqlite3


def loadable_path() -> str:
    """The path of the extension's file, without its suffix, as SQLite wants it."""
    return os.path.join(os.path.dirname(os.path.abspath(__file__)), "bloom")


def load(connection: sqlite3.Connection) -> None:
    """Loads the extension into a connection, and leaves the loading of others switched off.

    AttributeError: this build of Python has an sqlite3 module that cannot load extensions.
    """
    connection.enable_load_extension(True)
    try:
        connection.load_extension(loadable_path())
    finally:
        connection.enable_load_extension(False)
