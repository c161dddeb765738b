#!/usr/bin/env bash
# Runs the programs of examples/clients, each in its own language, and compares what they print with
# what the README there says they print. That page also has the packages and the commands that are
# used here. Works in build/clients, installs missing packages without prompting, and ends with
# "N passed, N failed". A client that cannot be installed counts as failed, or as skipped without network.
#   tests/docs/clients.sh              the small clients that build quickly
#   tests/docs/clients.sh all          all clients
#   tests/docs/clients.sh java perl    these clients, by the first words of their headings
# BLOOM names the extension, in place of build/release/bloom.so, which is built if it is not there.
set -euo pipefail
cd "$(dirname "$0")/../.."
source tests/support/setup.sh
source tests/support/check.sh
source tests/support/extension.sh
source tests/support/page.sh

clients=$PWD/examples/clients
page=$clients/README.md
tests=$PWD/tests/docs
folder=$PWD/build/clients
extension=$(realpath -m "${BLOOM:-build/release/bloom.so}")
small=(sqlite3 python apsw libsql java perl tcl)

promised() { block text < "$page"; }

# Makes an empty project, with the extension where the programs expect it.
make_project() {
  local project=$folder/$1 program
  program=$(compgen -G "$clients/$1.*") || {
    echo "examples/clients has no program '$1'"
    return 1
  }
  rm -rf "$project"
  mkdir "$project"
  cp "$extension" "$project/bloom.so"
  echo '{}' > "$project/package.json"
  cp "$program" "$project/client.${program##*.}"
}

# All commands but the last, which runs the program.
prepare() {
  # shellcheck disable=SC2046 # names of packages hold no blanks
  if require_present $(packages "$1") && cd "$folder/$1" && bash -euo pipefail -c "$(commands "$1" | sed '$d')"; then
    touch "$folder/$1/prepared"
  elif is_offline; then
    echo "its packages cannot be installed (no network)"
    return 77
  else
    return 1
  fi
}

# What comes out is what was promised, but for the words that libraries put around an error. The
# sqlite3 shell fails after one.
keeps_promise() {
  local status=0
  cd "$folder/$1" || return
  [ -e prepared ] || {
    echo "its packages are missing"
    return 77
  }
  bash -euo pipefail -c "$(commands "$1" | tail -n 1)" > printed.txt 2> errors.txt || status=$?
  [ $status -le 1 ] || echo "exit status $status" >> errors.txt
  diff -u <(promised) <(cat printed.txt errors.txt | sed -E 's/^.*(bloom_contains: .*[.]{3}\)\)).*/error: \1/')
}

with_extension() { sqlite3 -cmd ".load ./bloom" written.db "$@"; }

# The driver writes without the extension. The shell has it and looks up what the table has then.
keeps_filters_in_sync() {
  local filter
  cd "$folder/$1" || return
  [ -e prepared ] || {
    echo "its packages are missing"
    return 77
  }
  rm -f written.db*
  with_extension "CREATE TABLE t(id INTEGER PRIMARY KEY, k); INSERT INTO t(k) VALUES ('first'), ('second'), ('third');
    CREATE VIRTUAL TABLE standard USING bloom(source=t, column=k);
    CREATE VIRTUAL TABLE counting USING bloom(source=t, column=k, kind=counting, capacity=1000);"
  cp "$tests/foreign_writer.js" .
  node foreign_writer.js written.db
  for filter in standard counting; do
    with_extension "SELECT '$filter lacks ' || k FROM t LEFT JOIN $filter ON key = k WHERE k IS NOT NULL AND key IS NULL;
      SELECT '$filter has nothing pending' FROM $filter WHERE pending = 0;
      INSERT INTO $filter($filter) VALUES ('integrity-check'), ('merge'), ('integrity-check');
      SELECT '$filter lacks ' || k || ' after merge' FROM t LEFT JOIN $filter ON key = k WHERE k IS NOT NULL AND key IS NULL;"
  done > lost.txt
  cat lost.txt
  [ ! -s lost.txt ] && [ "$(with_extension "SELECT count(*), max(k = 'after VACUUM') FROM t")" = '11|1' ]
}

try_client() {
  make_project "$1"
  check "has what it needs" prepare "$1"
  check "prints what examples/clients/README.md says" keeps_promise "$1"
  [ "$1" != better-sqlite3 ] || check "writes to the source of a filter without the extension" keeps_filters_in_sync "$1"
}

main() {
  local names=("$@")
  case ${1:-} in
    '') names=("${small[@]}") ;;
    all) mapfile -t names < <(sections_with_commands) ;;
  esac
  mkdir -p "$folder"
  use_own_caches "$folder/cache"
  if [ ! -e "$extension" ]; then
    install_missing g++ cmake make libsqlite3-dev
    check "extension" build_release bloom
  fi
  install_packages "${names[@]}" || true
  is_installed sqlite3 || install_missing sqlite3 || true
  side_by_side try_client "$folder" "${names[@]}"
  conclude
}

main "$@"
