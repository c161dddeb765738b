#!/usr/bin/env bash
# Builds everything and runs every test: with g++, with clang++ and the coverage of the source, with
# the address, undefined-behaviour and thread sanitizers; in several versions of SQLite, for other
# processors, under valgrind; short forms of fuzzing and mutation; and the checks of format and
# style. Installs what is missing, asks nothing, and ends with "N passed, N failed".
#   tests/run.sh          all of it
#   tests/run.sh quick    g++ only
#   tests/run.sh all      the page in examples/playground as well, which takes a gigabyte of tools
# docs/testing.md says what each part is for, and gives the long forms.
set -euo pipefail
cd "$(dirname "$0")/.."
source tests/lib/setup.sh
source tests/lib/check.sh
source tests/lib/locale.sh

jobs=$(getconf _NPROCESSORS_ONLN)

# A heading, with the seconds since the start.
part() { echo "== $* ($SECONDS s)"; }

build() {
  cmake --preset "$1" && cmake --build --preset "$1" -j "$jobs"
}

# build_and_test PRESET [TESTS [OTHERS]]: builds a preset of CMakePresets.json and runs those of its
# tests whose names match TESTS and do not match OTHERS; each counts.
build_and_test() {
  local preset=$1 tests=${2:-.} others=${3:-^$} log=build/$1.log numbers
  part "$preset"
  check "$preset builds without a warning" build "$preset"
  if (cd "build/$preset" 2> /dev/null && ctest -j "$jobs" -R "$tests" -E "$others" --timeout 900 --output-on-failure) > "$log" 2>&1; then
    grep -E '^Total Test time|\(Skipped\)$' "$log"
  else
    grep -vE '^ *(Start |[0-9]+/[0-9]+ .* Passed )' "$log" || true
  fi
  # "97% tests passed, 2 tests failed out of 80", skipped ones among them, disabled ones not.
  numbers=$(sed -nE 's/.*tests passed, ([0-9]+) tests failed out of ([0-9]+)/\1 \2/p' "$log")
  if [ -z "$numbers" ]; then
    failed=$((failed + 1))
    return
  fi
  local bad=${numbers% *} all=${numbers#* } skipped
  skipped=$(grep -c '\*\*\*Skipped' "$log" || true)
  failed=$((failed + bad))
  passed=$((passed + all - bad - skipped))
}

# A script of its own, with what it counts.
run_script() {
  local script=tests/$1.sh log=build/scripts/$1.said
  case $1 in
    fuzz) script=tests/fuzz/run.sh ;;
    mutation) script=tests/mutation.py ;;
  esac
  "$script" > "$log" 2>&1 || true
  add_up "$log"
  part "$1 ends"
}

sources() { git ls-files '*.h' '*.cc'; }

check_style() {
  part style
  check "clang's compile commands" cmake --preset clang
  # shellcheck disable=SC2046
  check "clang-format" clang-format --dry-run -Werror $(sources)
  # What clang warns of is among what clang-tidy finds.
  # shellcheck disable=SC2046
  check "clang-tidy" run-clang-tidy -quiet -j "$jobs" -p build/clang \
    $(sources | grep '\.cc$' | grep -v '^tests/')
  # GoogleTest's macros keep the analyzer busy for minutes.
  # shellcheck disable=SC2046
  check "clang-tidy of the tests" run-clang-tidy -quiet -j "$jobs" -p build/clang \
    -checks='-clang-analyzer-*' $(sources | grep '\.cc$' | grep '^tests/' | grep -v '^tests/fuzz/')
  # shellcheck disable=SC2046
  check "shellcheck" shellcheck -x $(git ls-files '*.sh')
}

main() {
  local packages="g++ cmake make git sqlite3 libsqlite3-dev libgtest-dev libmurmurhash-dev python3 binutils locales"
  if [ "${1:-}" != quick ]; then
    packages="$packages clang clang-format clang-tidy shellcheck"
  fi
  # shellcheck disable=SC2086
  install_missing $packages
  mkdir -p build/scripts
  make_german_locale || true

  build_and_test release
  if [ "${1:-}" != quick ]; then
    build_and_test asan+ubsan . '^Rate[.]'
    build_and_test tsan faults.threads
    check_style
    # Two at a time: much of the time they wait.
    part scripts
    side_by_side run_script build/scripts coverage versions machines packages cluster clients valgrind \
      mutation fuzz
  fi
  if [ "${1:-}" = all ]; then
    run_script playground
  fi
  part demo
  check "examples/demo.sh" examples/demo.sh
  conclude
}

main "$@"
