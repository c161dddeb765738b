#!/usr/bin/env bash
# Compares examples/new_lines.py with sort and comm: no old line is reported as new, and nearly all new
# lines are reported.
#   tests/examples/new_lines_test.sh EXTENSION
set -euo pipefail
export BLOOM=$1 LC_ALL=C
here=$(cd "$(dirname "$0")/../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

new_lines() { LD_PRELOAD=${BLOOM_PRELOAD:-} ASAN_OPTIONS=detect_leaks=0 "$here/examples/new_lines.py" seen.db; }

# Help is no database.
help=$("$here/examples/new_lines.py" --help < /dev/null)
grep -q '^usage: ' <<< "$help"
[ -z "$(ls)" ]

# Paths, the same on every machine, and lines with special characters.
awk 'BEGIN { for (i = 0; i < 60000; ++i) print "/usr/share/package" i % 997 "/file" i ".txt" }' > all.txt
printf '%s\n' "it's" 'say "hi"' 'a,b|c' '  spaced  ' '42' '42.0' 'é' $'a\037b' $'a\037c' '' $'\377' >> all.txt
head -n 30000 all.txt > before.txt
tail -n 40000 all.txt > after.txt

new_lines < before.txt > first.txt 2> count.txt
new_lines < after.txt > second.txt 2>> count.txt
new_lines < all.txt > third.txt 2>> count.txt

old_called_new=$(comm -12 <(sort -u before.txt) <(sort -u second.txt) | wc -l)
really_new=$(comm -13 <(sort -u before.txt) <(sort -u after.txt) | wc -l)
called_new=$(wc -l < second.txt)
missed=$((really_new - called_new))
cat count.txt
echo "$really_new new lines, $called_new found, $old_called_new old ones called new"
[ "$(sort -u before.txt | wc -l)" -le $(($(wc -l < first.txt) + 100)) ]
[ "$old_called_new" -eq 0 ] && [ "$missed" -ge 0 ] && [ "$missed" -lt 100 ] && [ ! -s third.txt ]
# The counts match the printed lines.
[ "$(sed -n 's/ new of .*//p' count.txt | tr -d , | tr '\n' ' ')" = "$(wc -l < first.txt) $called_new 0 " ]
