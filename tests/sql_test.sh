#!/usr/bin/env bash
# Runs an SQL script through the sqlite3 shell and compares what comes out with the .expected file:
#   sql_test.sh EXTENSION SCRIPT.sql EXPECTED
set -euo pipefail
# shellcheck source=SCRIPTDIR/lib/shell.sh
source "$(dirname "$0")/lib/shell.sh"

extension=$1 script=$2 expected=$3
cd "$(dirname "$script")"  # scripts name files beside them
diff -u "$expected" <(run_sql "$extension" < "$script")
echo "as expected: $(wc -l < "$expected") lines"
