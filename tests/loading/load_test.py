"""Loads and uses the extension and closes the connection, thousands of times: memory must not grow.

    /usr/bin/python3 tests/loading/load_test.py EXTENSION [CYCLES]    # 3000
"""

import ctypes
import resource
import sqlite3
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from support.host import connect, one  # noqa: E402

WARM_UP = 500
BYTES_A_CYCLE = 40  # of malloc(); what is given and taken back leaves 10 at most, by where it lay
MAPPED = 2 << 20


class Mallinfo2(ctypes.Structure):
    _fields_ = [
        (name, ctypes.c_size_t)
        for name in ("arena", "ordblks", "smblks", "hblks", "hblkhd", "usmblks", "fsmblks", "uordblks", "fordblks", "keepcost")
    ]


LIBC = ctypes.CDLL(None)
if not hasattr(LIBC, "mallinfo2"):
    print("needs mallinfo2() of glibc 2.33 or later")
    sys.exit(77)
LIBC.mallinfo2.restype = Mallinfo2


def allocated():
    """Bytes that malloc() has handed out and that were not freed."""
    info = LIBC.mallinfo2()
    return info.uordblks + info.hblkhd


def mapped():
    """The size of the address space, which includes memory that the extension maps itself."""
    with open("/proc/self/statm") as numbers:
        return int(numbers.read().split()[0]) * resource.getpagesize()


def cycle():
    db = connect()
    db.execute("CREATE TABLE t(k)")
    db.execute("CREATE VIRTUAL TABLE f USING bloom(source=t, column=k)")
    db.execute("CREATE VIRTUAL TABLE g USING bloom(capacity=1000, kind=counting)")
    db.execute("INSERT INTO t VALUES ('a'), (1)")
    db.execute("INSERT INTO g(key) VALUES ('a'), (1)")
    assert one(db, "SELECT count(*) FROM t JOIN f ON f.key = k JOIN g ON g.key = k") == 2
    assert one(db, "SELECT bloom_contains((SELECT bloom_open(filter) FROM g), 'a')") == 1
    assert one(db, "SELECT bloom_contains(bloom_build(k), 'a') FROM t") == 1
    for refused in ("SELECT bloom_contains(NULL, 1)", "CREATE VIRTUAL TABLE h USING bloom(capacity=0)"):
        try:
            db.execute(refused)
        except sqlite3.OperationalError as error:
            assert str(error).startswith("bloom"), error
        else:
            assert False, refused
    db.close()


def main():
    cycles = int(sys.argv[1]) if len(sys.argv) > 1 else 3000
    for _ in range(WARM_UP):
        cycle()
    allocated_before, mapped_before = allocated(), mapped()
    for _ in range(cycles - WARM_UP):
        cycle()
    leaked = (allocated() - allocated_before) / (cycles - WARM_UP)
    grown = mapped() - mapped_before
    print(f"{cycles} cycles: {leaked:.1f} bytes of malloc() for each after the first {WARM_UP}, {grown} of address space in all")
    assert leaked < BYTES_A_CYCLE and grown < MAPPED


if __name__ == "__main__":
    main()
