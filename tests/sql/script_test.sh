#!/usr/bin/env bash
# Runs an SQL script through the sqlite3 shell. The script holds its own expected output: below each
# statement, the lines that the shell prints, each after "--> ".
#   tests/sql/script_test.sh EXTENSION SCRIPT           shows each difference, and fails if there is one
#   tests/sql/script_test.sh EXTENSION SCRIPT update    writes what the shell prints into the script
# A script whose first line begins with "-- Needs SQLite 3.35" is skipped in older versions (exit
# status 77).
set -euo pipefail
# shellcheck source=SCRIPTDIR/../support/shell.sh
source "$(dirname "$0")/../support/shell.sh"

extension=$(realpath -e "$1")
script=$(realpath -e "$2")
needed=$(sed -n '1s/^-- Needs SQLite \([0-9.]*[0-9]\).*/\1/p' "$script")
version=$(echo 'SELECT sqlite_version();' | run_sql "$extension")
if [ -n "$needed" ] && ! printf '%s\n' "$needed" "$version" | sort -V -C; then
  echo "needs SQLite $needed, this is $version"
  exit 77
fi
cd "$(dirname "$script")"  # scripts name files beside them
case ${3:-} in
  update)
    transcript=$(run_script "$extension" < "$script")
    echo "$transcript" > "$script"
    ;;
  *)
    diff -u "$script" <(run_script "$extension" < "$script")
    echo "as expected: $(grep -c '^--> ' "$script") lines"
    ;;
esac
