#!/usr/bin/env bash
# SQL reads filters that the core example writes, and the core example reads filters that SQL writes.
#   tests/examples/core_example_test.sh CORE_EXAMPLE EXTENSION
set -euo pipefail
# shellcheck source=SCRIPTDIR/../support/shell.sh
source "$(dirname "$0")/../support/shell.sh"
example=$1 extension=$2
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

wanted=$'about 3.00313 keys in 1264 bytes\napple: maybe\n42: maybe\nplum: no'
got=$("$example" "$folder/three.bloom" apple 42 plum)
diff <(echo "$wanted") <(echo "$got")
echo "SELECT bloom_contains_all(readfile('$folder/three.bloom'), 'apple', 'pear', 42), bloom_contains(readfile('$folder/three.bloom'), 'plum');" |
  run_sql "$extension" | diff <(echo "1|0") -

echo "SELECT writefile('$folder/sql.bloom', bloom_add(bloom_create(10, 0.01, 'counting'), 'Zoë', 7.0)) > 0;" |
  run_sql "$extension" | diff <(echo 1) -
"$example" "$folder/sql.bloom" Zoë 7 | tail -n 2 | diff <(printf 'Zoë: maybe\n7: maybe\n') -
if "$example" "$0" key 2> /dev/null; then
  echo "a shell script passed as a filter"
  exit 1
fi
echo "core and SQL read each other's filters"
