#!/usr/bin/env bash
# Runs the SQL scripts, the documents and the Python tests in several versions of SQLite, with one
# and the same build of the extension, and checks that too old a version rejects it. Fetches SQLite's
# sources into build/versions, installs missing packages without prompting, and ends with
# "N passed, N failed".
#   tests/environments/versions.sh                  one that is too old, the oldest and the newest
#   tests/environments/versions.sh 3.37.2 3.44.2    these
#   tests/environments/versions.sh all              all, except those with the major and minor number of this machine's
#                                                   SQLite, in which ctest runs
set -euo pipefail
cd "$(dirname "$0")/../.."
source tests/support/setup.sh
source tests/support/check.sh
source tests/support/extension.sh
source tests/support/sql_scripts.sh
source tests/support/sqlite_source.sh

all_versions=(3.26.0 3.31.1 3.37.2 3.40.0 3.44.2 3.53.2 3.54.1)
oldest=3.31.0
extension=$PWD/build/release/bloom.so
folder=$PWD/build/versions
export SQLITE3=$folder/shell

# Linked with the library of this machine; LD_LIBRARY_PATH selects another one.
build_shell() {
  "${CXX:-g++}" -std=c++20 -O1 -o "$SQLITE3" tests/support/shell.cc -lsqlite3
}

build_library() {
  "${CC:-gcc}" -O1 -w -shared -fPIC -Wl,-soname,libsqlite3.so.0 "${sqlite_options[@]}" \
    -o "$1/libsqlite3.so.0" "$1/sqlite3.c" -lm -lpthread -ldl
}

try_version() {
  local version=$1
  check "library" build_library "$folder/$version"
  export LD_LIBRARY_PATH=$folder/$version
  if is_older "$version" "$oldest"; then
    check "too old, and says so" refuses "$version"
  else
    try_suite "$version"
  fi
}

try_suite() {
  local version=$1 name documents
  check "SQLite $version is what the tests run in" hosts_have "$version"
  check_sql_scripts "$extension"
  mapfile -t documents < <(grep -l '^--> ' README.md docs/*.md docs/examples/*.md)
  for document in "${documents[@]}"; do
    # Its queries use ->>, and older versions show other plans.
    if [ "$document" != docs/search.md ] || ! is_older "$version" 3.38.0; then
      check "$document" tests/docs/document_test.sh "$extension" "$document"
    fi
  done
  # Rates and memory do not depend on SQLite.
  check_python functions/functions Keys Statements HostileBytes
  check_python table/growth Layers
  check_python table/tools Scans
  for name in promise/promise promise/check_and_work promise/promise_model table/{affinity,collation,composite,damage,generations} \
    table/{groups,groups_model,groups_source,join_model,plan_shapes,rows,search,search_filter,search_model,search_source,source,source_model,table,table_model}; do
    check_python "$name"
  done
  check_python promise/processes 1
}

# check_python TEST [ARGUMENT...]
check_python() {
  local name=$1
  shift
  check "tests/${name}_test.py $*" /usr/bin/python3 -B "tests/${name}_test.py" "$extension" "$@"
}

hosts_have() {
  [ "$(echo 'SELECT sqlite_version();' | "$SQLITE3" :memory:)" = "$1" ] &&
    [ "$(/usr/bin/python3 -c 'import sqlite3; print(sqlite3.sqlite_version)')" = "$1" ]
}

refuses() {
  local message
  ! message=$("$SQLITE3" -cmd ".load $extension" :memory: 2>&1 < /dev/null) &&
    grep -F "bloom: SQLite must be $oldest or newer, got $1" <<< "$message"
}

is_older() { [ "$1" != "$2" ] && printf '%s\n' "$1" "$2" | sort -V -C; }

other_versions() {
  local system
  system=$(/usr/bin/python3 -c 'import sqlite3; print("%d.%d" % sqlite3.sqlite_version_info[:2])')
  printf '%s\n' "${all_versions[@]}" | grep -v "^${system}[.]"
}

main() {
  local versions=("$@") fetched=()
  case $* in
    '') versions=("${all_versions[@]:0:2}" "${all_versions[-1]}") ;;
    all) mapfile -t versions < <(other_versions) ;;
  esac
  install_missing g++ cmake make libsqlite3-dev python3
  command -v npm > /dev/null || install_missing npm
  mkdir -p "$folder"
  check "extension" build_release bloom
  check "shell" build_shell
  for version in "${versions[@]}"; do
    check "source of $version" sqlite_source "$version" "$folder/$version"
    [ ! -e "$folder/$version/sqlite3.c" ] || fetched+=("$version")
  done
  side_by_side try_version "$folder" "${fetched[@]}"
  conclude
}

main "$@"
