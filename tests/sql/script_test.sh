#!/usr/bin/env bash
# Runs an SQL script through the sqlite3 shell and compares what comes out with the .expected file:
#   tests/sql/script_test.sh EXTENSION SCRIPT.sql EXPECTED
# A script that begins with "-- Needs SQLite 3.35" is skipped, with exit status 77, in older ones.
set -euo pipefail
# shellcheck source=SCRIPTDIR/../support/shell.sh
source "$(dirname "$0")/../support/shell.sh"

extension=$(realpath -e "$1")
script=$(realpath -e "$2")
expected=$(realpath -e "$3")
needed=$(sed -n '1s/^-- Needs SQLite \([0-9.]*[0-9]\).*/\1/p' "$script")
version=$(echo 'SELECT sqlite_version();' | run_sql "$extension")
if [ -n "$needed" ] && ! printf '%s\n' "$needed" "$version" | sort -V -C; then
  echo "needs SQLite $needed, here is $version"
  exit 77
fi
cd "$(dirname "$script")"  # scripts name files beside them
diff -u <(plain_plans < "$expected") <(run_sql "$extension" < "$script")
echo "as expected: $(wc -l < "$expected") lines"
