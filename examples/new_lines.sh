#!/bin/sh
# Which lines of a stream are new? Remembers them in a Bloom filter, a few bytes for each, for the
# next time:
#     find / -xdev 2>/dev/null | examples/new_lines.sh seen.db    # all are new
#     find / -xdev 2>/dev/null | examples/new_lines.sh seen.db    # those that came since
# Prints the new lines, each once, and to standard error how many of how many they are. A line that
# was there before never passes as new; one new line in a thousand may be taken for an old one.
# Needs sqlite3 and the extension, which examples/demo.sh builds; $BLOOM names it elsewhere.
set -eu
# The most lines that may come, of all times; more make more new lines pass as old.
capacity=10000000

database=${1:?usage: COMMAND | new_lines.sh DATABASE}
repo=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd -P)
bloom=${BLOOM:-$repo/build/demo/bloom}

# The lines come as file 3, the SQL as file 0.
exec sqlite3 -init /dev/null -batch -bail -cmd ".load '$bloom'" "$database" 3<&0 <<END
CREATE VIRTUAL TABLE IF NOT EXISTS seen USING bloom(capacity=$capacity, fpr=0.001);
CREATE TEMP TABLE line(text);
-- In this mode a line is a line, whatever quotes or commas it holds.
.mode ascii
.separator "\037" "\n"
.import /dev/fd/3 line

BEGIN;
SELECT DISTINCT text FROM line WHERE NOT EXISTS (SELECT 1 FROM seen WHERE key = text);
INSERT OR IGNORE INTO seen(key) SELECT text FROM line;
CREATE TEMP TABLE counted AS SELECT changes() AS fresh, (SELECT count(*) FROM line) AS lines;
.once '|cat >&2'
SELECT printf('%,d new of %,d lines; about %,d in all, in %,d KiB', fresh, lines,
              json_extract(info, '$.keys'), json_extract(info, '$.bytes') / 1024)
  FROM counted, seen;
COMMIT;
END
