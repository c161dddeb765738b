#!/usr/bin/env bash
# Runs the shell block of docs/recipes.md that makes a filter of a text file: the filter has every line, and the database
# stores none of them.
#   tests/docs/import_test.sh EXTENSION
set -euo pipefail
extension=$(realpath "$1")
here=$(cd "$(dirname "$0")/../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
ln -s "$extension" bloom.so

awk 'BEGIN { for (i = 0; i < 20000; ++i) print "/usr/share/package" i % 97 "/a name of a file " i ".txt" }' > big.txt
printf '%s\n' "it's" 'say "hi"' '"quoted"' '"open' 'a,b|c' '  spaced  ' '42' 'é' $'a\tb' >> big.txt

awk '/^## / { on = ($0 == "## Make a filter of a large text file") } /^```/ { code = (on && $0 == "```sh"); next } code' \
  "$here/docs/recipes.md" > recipe.sh
grep -q '^\.import ' recipe.sh
LD_PRELOAD=${BLOOM_PRELOAD:-} ASAN_OPTIONS=detect_leaks=0 bash -e recipe.sh

LD_PRELOAD=${BLOOM_PRELOAD:-} ASAN_OPTIONS=detect_leaks=0 /usr/bin/python3 - << 'END'
import sqlite3

db = sqlite3.connect("my.db")
db.enable_load_extension(True)
db.load_extension("./bloom")
with open("big.txt", "rb") as file:
    lines = file.read().decode().split("\n")[:-1]
found = sum(db.execute("SELECT count(*) FROM lines WHERE key = ?", (line,)).fetchone()[0] for line in lines)
others = sum(db.execute("SELECT count(*) FROM lines WHERE key = ?", (line + "?",)).fetchone()[0] for line in lines)
print(f"{len(lines)} lines, {found} found, {others} others found")
assert len(lines) > 20000 and found == len(lines) and others < len(lines) / 50
END
# Neither the parts of a line between separators are keys, nor is a line stored.
if grep -q 'a name of a file' my.db; then
  echo "the database has the text of lines"
  exit 1
fi
