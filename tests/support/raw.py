"""SQLite's C interface through ctypes, for functions that Python's sqlite3 module hides: sqlite3_close() that can be
refused, statements that stay unfinished, copies made within a transaction, names of schemas.

    db = Raw("file:x?cache=shared")     # with the extension loaded, unless extension=None
    db.run("SELECT 1")                  # -> [(1,)]; raises Failure
"""

import ctypes
import os

from support.host import EXTENSION

OK, ERROR, BUSY, LOCKED, NOMEM, INTERRUPT, SCHEMA, CONSTRAINT, ROW, DONE = 0, 1, 5, 6, 7, 9, 17, 19, 100, 101
OPEN = 0x2 | 0x4 | 0x40  # READWRITE, CREATE, URI
DBCONFIG_MAINDBNAME = 1000
DBCONFIG_ENABLE_QPSG = 1007
DBCONFIG_DEFENSIVE = 1010

# The library that the sqlite3 module uses, whatever LD_LIBRARY_PATH says.
_library = ctypes.CDLL("libsqlite3.so.0")
for _name in ("sqlite3_errmsg", "sqlite3_column_text"):
    getattr(_library, _name).restype = ctypes.c_char_p
for _name in ("sqlite3_serialize", "sqlite3_column_blob", "sqlite3_malloc64", "sqlite3_backup_init"):
    getattr(_library, _name).restype = ctypes.c_void_p
_library.sqlite3_column_int64.restype = ctypes.c_int64
_library.sqlite3_column_double.restype = ctypes.c_double
_library.sqlite3_malloc64.argtypes = [ctypes.c_uint64]

FUNCTION = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int, ctypes.c_void_p)
PROGRESS = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p)
AUTHORIZER = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_int, *[ctypes.c_char_p] * 4)


class Failure(Exception):
    def __init__(self, code, text):
        super().__init__(f"{text} ({code})")
        self.code = code & 0xFF
        self.text = text


class Statement:
    """A prepared statement. It stays at its row between calls of step()."""

    def __init__(self, db, sql):
        self.db = db
        self.raw = ctypes.c_void_p()
        db.require(_library.sqlite3_prepare_v2(db.raw, sql.encode(), -1, ctypes.byref(self.raw), None))

    def step(self):
        """Returns the next row, or None at the end."""
        code = _library.sqlite3_step(self.raw)
        if code == ROW:
            return tuple(self.column(i) for i in range(_library.sqlite3_column_count(self.raw)))
        if code != DONE:
            text = _library.sqlite3_errmsg(self.db.raw).decode()
            _library.sqlite3_reset(self.raw)
            raise Failure(code, text)
        return None

    def column(self, i):
        kind = _library.sqlite3_column_type(self.raw, i)
        if kind == 1:
            return _library.sqlite3_column_int64(self.raw, i)
        if kind == 2:
            return _library.sqlite3_column_double(self.raw, i)
        if kind == 5:
            return None
        size = _library.sqlite3_column_bytes(self.raw, i)
        data = ctypes.string_at(_library.sqlite3_column_blob(self.raw, i), size) if size else b""
        return data.decode() if kind == 3 else data

    def reset(self):
        _library.sqlite3_reset(self.raw)

    def finalize(self):
        _library.sqlite3_finalize(self.raw)
        self.raw = None


class Raw:
    def __init__(self, path=":memory:", extension=EXTENSION):
        self.raw = ctypes.c_void_p()
        self.kept = []  # callbacks, which SQLite does not keep alive
        self.require(_library.sqlite3_open_v2(os.fspath(path).encode(), ctypes.byref(self.raw), OPEN, None))
        if extension:
            self.load(extension)

    def load(self, extension=EXTENSION):
        _library.sqlite3_enable_load_extension(self.raw, 1)
        error = ctypes.c_char_p()
        code = _library.sqlite3_load_extension(self.raw, extension.encode(), None, ctypes.byref(error))
        if code != OK:
            raise Failure(code, (error.value or b"").decode())

    def require(self, code):
        if code != OK:
            raise Failure(code, _library.sqlite3_errmsg(self.raw).decode())

    def run(self, *statements):
        """Runs each statement. Returns the rows of the last one."""
        rows = []
        for sql in statements:
            statement = Statement(self, sql)
            try:
                rows = []
                while (row := statement.step()) is not None:
                    rows.append(row)
            finally:
                statement.finalize()
        return rows

    def one(self, sql):
        return self.run(sql)[0][0]

    def code(self, sql):
        """Runs a statement. Returns its primary result code."""
        try:
            self.run(sql)
            return OK
        except Failure as failure:
            return failure.code

    def prepare(self, sql):
        return Statement(self, sql)

    def in_transaction(self):
        return _library.sqlite3_get_autocommit(self.raw) == 0

    def close(self):
        """Returns the result code. BUSY: SQLite has refused to close the connection, which stays usable."""
        code = _library.sqlite3_close(self.raw)
        if code == OK:
            self.raw = None
        return code

    def serialize(self, schema="main"):
        """Returns a new connection to a copy of the database, with its uncommitted changes."""
        size = ctypes.c_int64()
        data = _library.sqlite3_serialize(self.raw, schema.encode(), ctypes.byref(size), 0)
        if not data:
            raise Failure(BUSY, "sqlite3_serialize() gives nothing: the database is locked, or there is no memory")
        copy = Raw()
        freed_and_resizeable = 3
        copy.require(
            _library.sqlite3_deserialize(
                copy.raw, b"main", ctypes.c_void_p(data), size, size, freed_and_resizeable
            )
        )
        return copy

    def backup(self, pages=-1):
        """Returns a new connection to a copy, made by sqlite3_backup_step()."""
        copy = Raw()
        backup = ctypes.c_void_p(_library.sqlite3_backup_init(copy.raw, b"main", self.raw, b"main"))
        _library.sqlite3_backup_step(backup, pages)
        copy.require(_library.sqlite3_backup_finish(backup))
        return copy

    def begin_backup(self):
        """Begins a backup of this connection. Returns a function that ends it."""
        target = Raw(extension=None)
        backup = ctypes.c_void_p(_library.sqlite3_backup_init(target.raw, b"main", self.raw, b"main"))
        return lambda: (_library.sqlite3_backup_finish(backup), target.close())

    def configure(self, option, value):
        """Calls sqlite3_db_config() with an option that is on or off."""
        self.require(_library.sqlite3_db_config(self.raw, option, ctypes.c_int(value), None))

    def name_main(self, name):
        self.kept.append(ctypes.create_string_buffer(name.encode()))
        self.require(_library.sqlite3_db_config(self.raw, DBCONFIG_MAINDBNAME, self.kept[-1]))

    def function(self, name, call, arguments=-1, encoding=1):
        """Registers an SQL function that calls call() and returns NULL, or True as 1. Encodings: 1 is UTF-8, 2 and 3 are UTF-16."""
        def run(context, count, values):
            if call() is True:
                _library.sqlite3_result_int(ctypes.c_void_p(context), 1)

        self.kept.append(FUNCTION(run))
        self.require(_library.sqlite3_create_function(self.raw, name.encode(), arguments, encoding, None, self.kept[-1], None, None))

    def progress(self, call):
        """Makes SQLite call call() after each instruction; a true result interrupts. None removes the handler."""
        self.kept.append(PROGRESS(lambda _: int(call())) if call else None)
        _library.sqlite3_progress_handler(self.raw, 1 if call else 0, self.kept[-1], None)

    def authorizer(self, call):
        """Makes SQLite authorize actions by call(action, first, second) -> result code. None removes the authorizer."""
        wrapped = AUTHORIZER(lambda _, action, a, b, *rest: call(action, a and a.decode(), b and b.decode())) if call else None
        self.kept.append(wrapped)
        _library.sqlite3_set_authorizer(self.raw, wrapped, None)

    def write_blob(self, table, column, rowid, data, schema="main"):
        blob = ctypes.c_void_p()
        self.require(
            _library.sqlite3_blob_open(
                self.raw, schema.encode(), table.encode(), column.encode(), ctypes.c_int64(rowid), 1, ctypes.byref(blob)
            )
        )
        code = _library.sqlite3_blob_write(blob, data, len(data), 0)
        _library.sqlite3_blob_close(blob)
        self.require(code)
