#!/usr/bin/env bash
# Runs the programs of examples/hosts/ in their hosts: each must find the key that it added, and not
# the other. Also loads the schema files of Rails, and runs migrations of Rails and Knex. Works in
# build/hosts, installs missing packages without prompting, and ends with "N passed, N failed". A host
# that cannot be installed without network is skipped.
#   tests/docs/hosts.sh [PROGRAM...]    for example: pdo.php deno.mjs. Default: all
set -euo pipefail
cd "$(dirname "$0")/../.."
source tests/support/setup.sh
source tests/support/check.sh
source tests/support/extension.sh
source tests/support/page.sh

folder=$PWD/build/hosts
programs=$PWD/examples/hosts
rails_schema=$PWD/tests/docs/rails_schema.rb
knex_migration=$PWD/tests/docs/knex_migration.js

packages_of() {
  case $1 in
    *.js | *.mjs) command -v npm > /dev/null || echo npm ;;
    pdo.php) echo php-cli php-sqlite3 ;;
    qt.cc) echo g++ pkg-config qtbase5-dev libqt5sql5-sqlite ;;
    odbc.c) echo gcc unixodbc-dev libsqliteodbc odbcinst ;;
    rsqlite.R) echo r-cran-rsqlite ;;
    active_record.rb) echo ruby-activerecord ruby-sqlite3 ;;
    erlang.escript) echo erlang-base erlang-p1-sqlite3 ;;
  esac
}

# from_npm PACKAGE...: status 77 if npm cannot fetch it.
from_npm() {
  echo '{}' > package.json
  npm install --silent --no-audit --no-fund "$@" || {
    is_offline && echo "npm cannot fetch $* (no network)" && exit 77
    exit 1
  }
}

run_program() {
  case $1 in
    bun.mjs) from_npm bun@1 && node_modules/.bin/bun "$1" ;;
    deno.mjs) from_npm deno@2 && node_modules/.bin/deno run --no-prompt --allow-ffi --allow-read "$1" ;;
    node-sqlite3.js) from_npm sqlite3@6 knex@3 && node "$1" && cp "$knex_migration" . && node knex_migration.js ;;
    pdo.php) LD_PRELOAD=./libbloom_auto.so php "$1" ;;
    qt.cc) pkg-config --cflags --libs Qt5Sql | xargs g++ -fPIC "$1" -o qt && LD_PRELOAD=./libbloom_auto.so ./qt ;;
    odbc.c) gcc "$1" -lodbc -o odbc && ./odbc ;;
    rsqlite.R) Rscript "$1" ;;
    active_record.rb) ruby "$1" && ruby "$rails_schema" ;;
    erlang.escript) escript "$1" ;;
  esac
}

finds_its_key() {
  local printed
  rm -rf "${folder:?}/$1"
  mkdir -p "$folder/$1"
  cp "$programs/$1" build/release/bloom.so build/release/libbloom_auto.so "$folder/$1"
  cd "$folder/$1"
  # shellcheck disable=SC2046 # names of packages hold no blanks
  require_present $(packages_of "$1") || { is_offline && exit 77; exit 1; }
  printed=$(run_program "$1") || exit
  [ "$printed" = $'Bonn 1\nRome 0' ] || {
    echo "$printed"
    exit 1
  }
}

main() {
  local names=("$@") name wanted=()
  [ $# -gt 0 ] || mapfile -t names < <(ls "$programs")
  mkdir -p "$folder"
  use_own_caches "$folder/cache"
  install_missing g++ cmake make libsqlite3-dev python3
  check "extension" build_release bloom_auto
  for name in "${names[@]}"; do
    # shellcheck disable=SC2207 # names of packages hold no blanks
    wanted+=($(packages_of "$name"))
  done
  [ ${#wanted[@]} -eq 0 ] || install_missing "${wanted[@]}" || true
  for name in "${names[@]}"; do
    check "$name" finds_its_key "$name"
  done
  conclude
}

main "$@"
