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
in_order sql sqlite values vtab segments source 'bloom_table|group_table|search_table|functions'
for room in bloom_table group_table search_table functions; do
  others=$(echo 'bloom_table|group_table|search_table|functions' | sed -E "s/(^|\\|)$room//; s/^\\|//")
  none "sql/$room includes another room of its floor" "#include \"sql/($others)/" "sql/$room"
done
# Only its owner names a shadow table in a string: "_data", "t_data", "... FROM {data} ...".
# only_in NAMES OWNER...: the files of the owner may name these tables.
only_in() {
  local names=$1
  shift
  local found
  found=$(grep -rnE "^[^/]*\"[^\"]*(_($names)[\" ]|\\{($names)\\})" sql ext | grep -vE "^($(IFS='|' && echo "$*"))" || true)
  if [ -n "$found" ]; then
    printf '%s\n' "$found" "the name of a shadow table outside its owner"
    exit 1
  fi
}
stores='sql/bloom_table/paged/bloom_store|sql/group_table/store/group_store|sql/search_table/ranges/search_store'
only_in config "$stores" sql/vtab/
only_in data "$stores" sql/segments/ sql/search_table/table_filter/table_filter_store
only_in members sql/group_table/store/group_members sql/values/info_json  # "false_members" is JSON
only_in wide sql/segments/ sql/search_table/ranges/search_store
only_in ranges sql/search_table/ranges/search_store sql/search_table/search_cursor
only_in rowlog sql/vtab/row_log
large=$(find core sql -type f -printf '%h\n' | sort | uniq -c | awk '$1 > 20')
long=$(find core sql -type f -exec wc -l {} + | awk '$1 > 400 && $2 != "total"')
if [ -n "$large$long" ]; then
  echo "more than 20 files in a folder, or more than 400 lines in a file: $large $long"
  exit 1
fi
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
