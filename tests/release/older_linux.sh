#!/usr/bin/env bash
# Runs the release build with the C and C++ libraries of Ubuntu 18.04 (glibc 2.27, libstdc++ of GCC 8),
# which are older than those of RHEL 8 (glibc 2.28, GCC 8). The libraries are unpacked, not installed.
# Needs x86-64 Linux, and installs missing packages without prompting. Ends with "N passed, N failed".
set -euo pipefail
cd "$(dirname "$0")/../.."
source tests/support/setup.sh
source tests/support/check.sh
source tests/support/extension.sh
source tests/support/foreign.sh
source tests/support/shell.sh
source tests/support/sql_scripts.sh
source tests/support/sqlite_source.sh
source tests/support/machines.sh
source ext/packages/zig.sh

export LC_ALL=C.UTF-8
folder=$PWD/build/older
libraries=$folder/root/lib/x86_64-linux-gnu:$folder/root/usr/lib/x86_64-linux-gnu
loader=$folder/root/lib/x86_64-linux-gnu/ld-2.27.so

# `trusted` because Debian does not have Ubuntu's keys. Nothing of these packages is kept.
libraries_of_ubuntu() {
  local package
  mkdir -p "$folder/apt"
  echo 'deb [trusted=yes] http://archive.ubuntu.com/ubuntu bionic main' > "$folder/apt/sources.list"
  sources=$folder/apt/sources.list fetch_for amd64 "$folder/apt" libc6 libstdc++6 || {
    echo "apt-get cannot fetch the libraries of Ubuntu 18.04 (no network?)"
    return 77
  }
  rm -rf "${folder:?}/root"
  for package in "$folder"/apt/archives/*.deb; do
    dpkg-deb --extract "$package" "$folder/root" || return
  done
}

# Zig knows the symbols of every glibc, and brings its own C++ library.
machine() {
  zig_present &&
    build_shell "$folder" "$zig cc -target x86_64-linux-gnu.2.27" "$zig c++ -target x86_64-linux-gnu.2.27" -lm -lpthread -ldl &&
    make_runner "$folder" "$loader" --library-path "$libraries"
}

runs_with_old_libraries() {
  local list name
  list=$("$loader" --library-path "$libraries" --list "$folder/bloom.so")
  echo "$list"
  for name in libc.so.6 libm.so.6 libgcc_s.so.1 libstdc++.so.6; do
    grep -F "$name => $folder/root/" <<< "$list" || return
  done
}

main() {
  install_missing g++ cmake make libsqlite3-dev
  command -v npm > /dev/null || install_missing npm
  check "extension" build_release bloom
  check "libraries of Ubuntu 18.04" libraries_of_ubuntu
  check "source of SQLite $sqlite_version" sqlite_source "$sqlite_version" "$sqlite"
  if [ -x "$loader" ] && [ -e "$sqlite/sqlite3.c" ]; then
    cp build/release/bloom.so "$folder"
    check "SQLite for it" machine
    check "the libraries are those of Ubuntu 18.04" runs_with_old_libraries
    SQLITE3=$folder/run check_sql_scripts "$folder/bloom.so"
  fi
  conclude
}

main
