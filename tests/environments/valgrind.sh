#!/usr/bin/env bash
# Runs tests under valgrind's memcheck: reads of uninitialized memory or beyond its end, and leaks, are
# failures. Installs missing packages without prompting, and ends with "N passed, N failed".
#   tests/environments/valgrind.sh         the SQL scripts and the quick classes of tests/functions/functions_test.py
#   tests/environments/valgrind.sh long    also hostile bytes, the tests of the core and the other Python tests
set -euo pipefail
cd "$(dirname "$0")/../.."
source tests/support/setup.sh
source tests/support/check.sh
source tests/support/extension.sh
source tests/support/sql_scripts.sh

folder=$PWD/build/valgrind
extension=$PWD/build/release/bloom.so
valgrind=(valgrind --quiet --error-exitcode=1 --leak-check=full --show-leak-kinds=definite
  --errors-for-leak-kinds=definite --keep-debuginfo=yes)

# A command for tests/support/shell.sh. The findings of valgrind come with the results.
make_shell() {
  printf '#!/bin/sh\nexec %s sqlite3 "$@"\n' "${valgrind[*]@Q}" > "$folder/shell"
  chmod +x "$folder/shell"
}

check_python() {
  local name=$1
  shift
  check "tests/${name}_test.py $*" env PYTHONMALLOC=malloc "${valgrind[@]}" \
    /usr/bin/python3 -B "tests/${name}_test.py" "$extension" "$@"
}

main() {
  install_missing g++ cmake make sqlite3 libsqlite3-dev libgtest-dev libmurmurhash-dev python3 valgrind
  mkdir -p "$folder"
  check "extension" build_release bloom
  make_shell
  SQLITE3=$folder/shell check_sql_scripts "$extension"
  # Not its class Memory: valgrind replaces malloc().
  check_python functions/functions Keys Statements
  if [ "${1:-}" = long ]; then
    check "core_tests" build_release core_tests
    check_python functions/functions HostileBytes
    # Tests of rates take hours, and use no other memory.
    check "core tests" "${valgrind[@]}" build/release/tests/core_tests --gtest_brief=1 --gtest_filter=-Rate.*
    check_python table/table
    check_python table/collation
    check_python table/damage
    check_python table/growth
    check_python table/source
    check_python table/table_model 20
    check_python table/source_model 20
  fi
  conclude
}

main "$@"
