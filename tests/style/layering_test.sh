#!/usr/bin/env bash
# The order of the layers. Includes run ext -> sql -> core, and within core and sql from later groups
# to earlier ones. sql/sqlite/ knows nothing of filters, core knows nothing of SQLite, and exceptions
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

# in_order LAYER GROUP...: a group of the layer may include itself and those before it.
in_order() {
  local layer=$1
  shift
  while [ $# -gt 1 ]; do
    local group=$1
    shift
    local later
    later=$(IFS='|' && echo "$*")
    none "$layer/$group includes a later group" "#include \"$layer/(($later)/|[a-z0-9_]+\.h\")" \
      "$layer/$group"
  done
}

in_order core support hashing layout sizing filter operations
in_order sql sqlite values table functions
none "sql/functions includes the virtual table" '#include "sql/table/' sql/functions
none "core has files outside of its groups" '#include "core/[a-z0-9_]+\.h"' core sql ext
none "core includes another layer" '#include "(sql|ext|tests)/' core
none "core names SQLite's interface" 'sqlite3' core
none "sql includes ext" '#include "ext/' sql
none "sql/sqlite includes filters" '#include "core/([^s]|si)' sql/sqlite
if grep -rlE '\bcatch \(' core sql ext | grep -v '^sql/sqlite/guard.h$'; then
  echo "exceptions are caught outside sql/sqlite/guard.h"
  exit 1
fi
echo "every include and every catch is in its layer"
