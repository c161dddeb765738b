"""Time from sqlite3_interrupt() to the end of the statement, for functions that read or write full filters.

    /usr/bin/python3 bench/interrupts.py EXTENSION [MB]    # 100: size of the filters; with blocks of one cell, a fifth of it

Each statement is interrupted five times, at five moments of its run.
"""

import sqlite3
import sys
import threading
import time

MOMENTS = (0.1, 0.3, 0.5, 0.7, 0.9)

EVERY = ("bloom_count({})", "bloom_info({})", "bloom_halve({})", "bloom_fold({}, 0.1)", "bloom_union({0}, {0})", "bloom_intersect({0}, {0})",
         "bloom_add({}, 1)", "bloom_contains(bloom_open({}), 1)", "bloom_union({0}, bloom_halve({0}))")
COUNTING = ("bloom_standard({})", "bloom_remove(bloom_add({}, 1), 1)")


def connect(extension):
    db = sqlite3.connect(":memory:", check_same_thread=False, isolation_level=None)
    db.enable_load_extension(True)
    db.load_extension(extension)
    return db


def time_of(db, sql, filter):
    began = time.perf_counter()
    db.execute(sql, (filter,)).fetchall()
    return time.perf_counter() - began


def after_interrupt(db, sql, filter, moment):
    """Returns the seconds from the interrupt to the end of the statement; None if the statement had ended before."""
    interrupted = None

    def stop():
        nonlocal interrupted
        interrupted = time.perf_counter()
        db.interrupt()

    timer = threading.Timer(moment, stop)
    timer.start()
    try:
        db.execute(sql, (filter,)).fetchall()
        return None
    except sqlite3.OperationalError:
        return time.perf_counter() - interrupted
    finally:
        timer.cancel()
        timer.join()


def worst(db, sql, filter):
    whole = time_of(db, sql, filter)
    return whole, max((after_interrupt(db, sql, filter, moment * whole) or 0 for moment in MOMENTS))


def main():
    db = connect(sys.argv[1])
    bits = int(sys.argv[2] if len(sys.argv) > 2 else 100) * 8_000_000
    forms = {
        "bits": (f"bloom_create_sized({bits}, 7)", EVERY),
        "counters": (f"bloom_create_sized({bits // 4}, 7, 'counting')", EVERY + COUNTING),
        "blocks of one cell": (f"bloom_create_sized({bits // 5 // 8 * 8}, 1, 'standard', 1)", EVERY[:5]),
    }
    statements = {f"{form}: {call.format('f')}": (make, f"SELECT length({call.format('?1')})")
                  for form, (make, calls) in forms.items() for call in calls}
    rows = f"WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT {bits // 200}) SELECT {{}} FROM n"
    statements["bloom_build(i)"] = ("NULL", rows.format("?1, length(bloom_build(i))"))
    print("| | of | worst |\n| --- | --- | --- |")
    for name, (make, sql) in statements.items():
        whole, seconds = worst(db, sql, db.execute(f"SELECT {make}").fetchone()[0])
        print(f"| {name} | {whole * 1000:.0f} ms | {seconds * 1000:.0f} ms |", flush=True)


if __name__ == "__main__":
    main()
