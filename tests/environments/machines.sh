#!/usr/bin/env bash
# Builds the extension for other machines, warnings as errors, and runs there the tests of the core,
# golden files among them, and the SQL scripts; then each machine reads and changes a database that
# the other one made, and the files must stay the same byte for byte. Installs what is missing, asks
# nothing, and ends with "N passed, N failed".
#   tests/environments/machines.sh             s390x, which is big-endian, and i686, which has 32 bits
#   tests/environments/machines.sh aarch64     these; tests/release/platforms.sh runs the packages for arm64
set -euo pipefail
cd "$(dirname "$0")/../.."
source tests/support/setup.sh
source tests/support/check.sh
source tests/support/extension.sh
source tests/support/shell.sh
source tests/support/sql_scripts.sh
source tests/support/sqlite_source.sh
source tests/support/machines.sh

folder=$PWD/build/machines

# emulator MACHINE: the command before a program of that machine, word by word. i686 is emulated too:
# many kernels refuse programs of 32 bits.
emulator() {
  local processor=$1
  [ "$1" != i686 ] || processor=i386
  printf '%s\n' "qemu-$processor" -L "/usr/$1-linux-gnu"
}

# cross_build MACHINE SOURCE BUILD TARGET [OPTION...]
cross_build() {
  local machine=$1 source=$2 build=$3 target=$4
  shift 4
  cmake -S "$source" -B "$build" -DCMAKE_SYSTEM_NAME=Linux -DCMAKE_SYSTEM_PROCESSOR="$machine" \
    -DCMAKE_CXX_COMPILER="$machine-linux-gnu-g++" -DCMAKE_BUILD_TYPE=None -DCMAKE_CXX_FLAGS=-O1 \
    -DCMAKE_CROSSCOMPILING_EMULATOR="$(emulator "$machine" | paste -s -d ';')" "$@" &&
    cmake --build "$build" --target "$target"
}

build_googletest() {
  cross_build "$1" /usr/src/googletest "$folder/$1/googletest" install -DBUILD_GMOCK=OFF \
    -DINSTALL_GTEST=ON -DCMAKE_INSTALL_PREFIX="$folder/$1/installed" -DCMAKE_INSTALL_LIBDIR=lib
}

# build_ours MACHINE TARGET
build_ours() {
  cross_build "$1" . "$folder/$1" "$2" -DBLOOM_WARNINGS_AS_ERRORS=ON -DBLOOM_UNITY=ON -DSQLITE3_INCLUDE_DIR="$sqlite" \
    -DGTest_DIR="$folder/$1/installed/lib/cmake/GTest"
}

# Without the tests of rates: they take minutes in an emulator, and equal bits have equal rates.
test_core() {
  local command
  mapfile -t command < <(emulator "$1")
  "${command[@]}" "$folder/$1/tests/core_tests" --gtest_brief=1 --gtest_filter=-Rate.*
}

try_machine() {
  local machine=$1
  mkdir -p "$folder/$machine"
  check "GoogleTest" build_googletest "$machine"
  check "extension, without a warning" build_ours "$machine" bloom
  check "core_tests, without a warning" build_ours "$machine" core_tests
  check "shell" build_shell "$folder/$machine" "$machine-linux-gnu-gcc" "$machine-linux-gnu-g++" -lm -lpthread -ldl
  # shellcheck disable=SC2046 # word by word
  make_runner "$folder/$machine" $(emulator "$machine")
  check "core tests" test_core "$machine"
  SQLITE3=$folder/$machine/run check_sql_scripts "$folder/$machine/bloom.so"
  check "exchanges databases with this machine" exchange "$folder/here" "$folder/$machine"
}

main() {
  local machines=("$@")
  [ $# -gt 0 ] || machines=(s390x i686)
  # shellcheck disable=SC2046 # names of packages hold no blanks
  install_missing g++ cmake make libsqlite3-dev googletest qemu-user $(printf "g++-%s-linux-gnu " "${machines[@]}")
  command -v npm > /dev/null || install_missing npm
  check "source of SQLite $sqlite_version" sqlite_source "$sqlite_version" "$sqlite"
  if [ ! -e "$sqlite/sqlite3.c" ]; then
    conclude
    return
  fi
  check "builds here" build_here "$folder/here"
  side_by_side try_machine "$folder" "${machines[@]}"
  conclude
}

main "$@"
