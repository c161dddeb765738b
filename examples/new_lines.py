#!/usr/bin/python3
"""Which lines of a stream are new? Remembers them in a Bloom filter, from run to run:

    find / -xdev 2>/dev/null | examples/new_lines.py seen.db    # all are new
    find / -xdev 2>/dev/null | examples/new_lines.py seen.db    # those that came since

Prints the new lines as they come, each once, and to standard error how many of how many they are. A line that was there
before never passes as new; of the new ones 1 in 1,000 may be taken for an old one. For up to 10,000,000 lines of all times
the filter takes 18 MB at most; the size is fixed when the database is made (see CAPACITY).

Needs the extension, built by examples/demo.sh or as README.md has it ($BLOOM names it elsewhere), and a Python whose sqlite3
module can load extensions, as Debian's can.
"""

import os
import sqlite3
import sys

CAPACITY = 10_000_000
REPOSITORY = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
PLACES = [os.environ.get("BLOOM"), *(os.path.join(REPOSITORY, "build", *sub, "bloom") for sub in ((), ("demo",), ("release",)))]


def extension():
    for place in filter(None, PLACES):
        if os.path.exists(place) or os.path.exists(place + ".so"):
            return place
    sys.exit("new_lines.py: the extension is not built yet: run examples/demo.sh")


def connect(path):
    # Two at once wait for each other.
    db = sqlite3.connect(path, isolation_level=None, timeout=600)
    db.enable_load_extension(True)
    db.load_extension(extension())
    return db


def main():
    if len(sys.argv) != 2:
        sys.exit("usage: COMMAND | new_lines.py DATABASE")
    db = connect(sys.argv[1])
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
    (keys,) = db.execute("SELECT json_extract(info, '$.keys') FROM seen").fetchone()
    print(f"{new:,} new of {lines:,} lines; about {keys:,} in all, in {os.path.getsize(sys.argv[1]) >> 10:,} KiB", file=sys.stderr)


if __name__ == "__main__":
    main()
