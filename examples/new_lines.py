#!/usr/bin/python3
"""Which lines of a stream are new? Remembers them in a Bloom filter, from run to run:

    find / -xdev 2>/dev/null | examples/new_lines.py seen.db    # all are new
    find / -xdev 2>/dev/null | examples/new_lines.py seen.db    # those that came since

Prints the new lines as they come, each once, and to standard error how many of how many they are. A line that was there
before never passes as new; of the new ones 1 in 1,000 may be taken for an old one. For up to 10,000,000 lines of all times
the filter takes 18 MB at most; the size is fixed when the database is made (see CAPACITY).

Needs the extension, built by examples/demo.sh or as README.md has it (extension.py looks for it).
"""

import argparse
import os
import sys

from extension import connect

CAPACITY = 10_000_000


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("database", help="made if it does not exist")
    path = parser.parse_args().database
    db = connect(path, timeout=600)  # two at once wait for each other
    lines = new = 0
    db.execute("BEGIN IMMEDIATE")
    db.execute(f"CREATE VIRTUAL TABLE IF NOT EXISTS seen USING bloom(capacity={CAPACITY}, fpr=0.001)")
    for line in sys.stdin.buffer:
        # A key is bytes, whatever they are. What was seen before is skipped, and does not count.
        inserted = db.execute("INSERT OR IGNORE INTO seen(key) VALUES (?)", (line.rstrip(b"\n"),)).rowcount
        if inserted:
            sys.stdout.buffer.write(line)
        lines += 1
        new += inserted
    db.execute("COMMIT")
    (keys,) = db.execute("SELECT keys FROM seen").fetchone()
    print(f"{new:,} new of {lines:,} lines; about {keys:,} in all, in {os.path.getsize(path) >> 10:,} KiB", file=sys.stderr)


if __name__ == "__main__":
    main()
