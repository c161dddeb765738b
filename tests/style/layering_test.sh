#!/usr/bin/env bash
# The order of the layers. Includes run ext -> sql -> core, and within core from later groups to
# earlier ones. sql/sqlite/ knows nothing of filters, core knows nothing of SQLite, and exceptions
# are caught in one file.
set -euo pipefail
cd "$(dirname "$0")/../.."

none() {
  local what=$1
  shift
  if grep -rnE "$@"; then
    echo "$what"
    exit 1
  fi
}

# A group may include itself and those before it.
groups=(support hashing layout sizing filter operations)
for ((i = 0; i < ${#groups[@]}; i++)); do
  later=$(IFS='|' && echo "${groups[*]:i+1}")
  if [ -n "$later" ]; then
    none "core/${groups[i]} includes a later group" "#include \"core/($later)/" "core/${groups[i]}"
  fi
done
none "core has files outside of its groups" '#include "core/[a-z0-9_]+\.h"' core sql ext
none "core includes another layer" '#include "(sql|ext|tests)/' core
none "core names SQLite's interface" 'sqlite3' core
none "sql includes ext" '#include "ext/' sql
none "sql/sqlite includes filters" '#include "(sql/(table/)?[a-z_]+\.h|core/([^s]|si))' sql/sqlite
if grep -rlE '\bcatch \(' core sql ext | grep -v '^sql/sqlite/guard.h$'; then
  echo "exceptions are caught outside sql/sqlite/guard.h"
  exit 1
fi
echo "every include and every catch is in its layer"
