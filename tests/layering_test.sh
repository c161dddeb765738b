#!/usr/bin/env bash
# The order of the house: includes run ext -> sql -> core, sql/sqlite/ knows nothing of filters,
# core knows nothing of SQLite, and exceptions are caught in one file.
set -euo pipefail
cd "$(dirname "$0")/.."

none() {
  local what=$1
  shift
  if grep -rnE "$@"; then
    echo "$what"
    exit 1
  fi
}

none "core includes another room" '#include "(sql|ext|tests)/' core
none "core names SQLite's interface" 'sqlite3' core
none "sql includes ext" '#include "ext/' sql
none "sql/sqlite includes filters" '#include "(sql/(table/)?[a-z_]+\.h|core/([^ep]|p[^a]))' sql/sqlite
if grep -rlE '\bcatch \(' core sql ext | grep -v '^sql/sqlite/guard.h$'; then
  echo "exceptions are caught outside sql/sqlite/guard.h"
  exit 1
fi
echo "every include and every catch stands in its room"
