#!/usr/bin/env bash
# Runs the SQL of a Markdown document, all of its ```sql blocks in one session, and compares what
# comes out with the lines "--> ..." that stand below the statements. Reports each difference with
# the document and the line of the promise; a line that no promise asks for, with the promise before it.
#   tests/docs/document_test.sh EXTENSION DOCUMENT.md
set -euo pipefail
# shellcheck source=SCRIPTDIR/../support/shell.sh
source "$(dirname "$0")/../support/shell.sh"

# The document loads the extension as a reader would; here it is loaded already.
sql_of() { awk '/^```/ { on = ($0 == "```sql"); next } on && !/^\.load /' "$1"; }

# Prints each promised line after the number of its line in the document and a space. plain_plans may
# drop lines, so the numbers pass through it in lines of their own.
promises_of() {
  awk '/^```/ { on = ($0 == "```sql"); next }
       on && sub(/^--> ?/, "") { print "@line " NR; print }' "$1" |
    plain_plans |
    awk '/^@line / { number = $2; next } { print number " " $0 }'
}

extension=$1 document=$2
promises=$(promises_of "$document")
[ -n "$promises" ] || { echo "$document promises nothing"; exit 1; }
{ diff --unchanged-line-format=$'=%dn\n' --old-line-format='-%dn %L' --new-line-format='+%L' \
  <(echo "$promises" | cut -d ' ' -f 2-) <(sql_of "$document" | run_sql "$extension") || true; } |
  awk -v document="$document" '
    FNR == NR { line[NR] = $1; next }
    function report(what, text) { print document ":" line[at] ": " what ": " text; failed = 1 }
    BEGIN { at = 1 }
    { kind = substr($0, 1, 1) }
    kind != "+" { at = substr($1, 2) + 0 }
    kind == "-" { report("promised", substr($0, length($1) + 2)) }
    kind == "+" { report("printed", substr($0, 2)) }
    END { exit failed }' <(echo "$promises") -
echo "as promised: $(echo "$promises" | wc -l) lines"
