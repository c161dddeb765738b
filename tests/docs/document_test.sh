#!/usr/bin/env bash
# Runs the SQL of a Markdown document, all of its ```sql blocks in one session, and compares what
# comes out with the lines "--> ..." that stand below the statements:
#   tests/docs/document_test.sh EXTENSION DOCUMENT.md
set -euo pipefail
# shellcheck source=SCRIPTDIR/../support/shell.sh
source "$(dirname "$0")/../support/shell.sh"

sql_of() { awk '/^```/ { on = ($0 == "```sql"); next } on' "$1"; }

extension=$1 document=$2
promised=$(sql_of "$document" | sed -n 's/^--> \{0,1\}//p' | plain_plans)
[ -n "$promised" ] || { echo "$document promises nothing"; exit 1; }
# The document loads the extension as a reader would; here it is loaded already.
diff -u <(echo "$promised") <(sql_of "$document" | sed '/^\.load /d' | run_sql "$extension")
echo "as promised: $(echo "$promised" | wc -l) lines"
