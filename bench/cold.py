"""Pages read from the file per lookup in a filter that is far larger than SQLite's page cache.

    /usr/bin/python3 bench/cold.py EXTENSION [MIB [LOOKUPS]]    # 1024 200000

The filter has MIB mebibytes, and every chunk has keys. The table's own cache holds one chunk (option cache), so every lookup
reads through SQLite's page cache. The pages are SQLITE_DBSTATUS_CACHE_MISS, as the shell's .stats shows it. Fewer is better.
"""

import os
import subprocess
import sys
import tempfile

from support import Report, connect

EXTENSION = os.path.abspath(sys.argv[1])
MIB = int(sys.argv[2]) if len(sys.argv) > 2 else 1024
LOOKUPS = int(sys.argv[3]) if len(sys.argv) > 3 else 200_000


def build(path):
    """Stores all chunks, with half of their bits set at random: the fill of a filter at its capacity."""
    db = connect(path, EXTENSION)
    chunks = MIB * 2**20 // 3968
    cells = chunks * 31744
    db.execute("PRAGMA journal_mode = off")
    db.execute("PRAGMA synchronous = off")
    db.execute(f"CREATE VIRTUAL TABLE f USING bloom(capacity={int(cells / 9.6)}, cache=4096)")
    made = int(db.execute("SELECT info ->> 'cells' FROM f").fetchone()[0]) // 31744
    db.execute(
        "WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n LIMIT ?) INSERT INTO f_data SELECT i, randomblob(3968) FROM n", (made,)
    )
    db.close()


def misses(path, pages):
    questions = f"WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT {LOOKUPS})"
    script = f"""
.load {os.path.splitext(EXTENSION)[0]}
PRAGMA cache_size = {pages};
SELECT count(*) FROM f WHERE key = 'warm';
.stats on
{questions} SELECT count(*) FROM n JOIN f ON f.key = 'key ' || i;
"""
    out = subprocess.run(["sqlite3", path], input=script, capture_output=True, text=True, check=True).stdout
    return int(next(line for line in out.splitlines() if line.startswith("Page cache misses")).split()[-1])


def main():
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "db")
        build(path)
        report = Report(f"Cold lookups in a filter of {MIB} MiB")
        for megabytes, pages, goal in ((2, 500, 1.7), (8, 2000, 1.2)):
            report.line(f"pages read per lookup, page cache of {megabytes} MB", "one page", misses(path, pages) / LOOKUPS, goal)


if __name__ == "__main__":
    main()
