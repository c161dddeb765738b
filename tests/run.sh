#!/usr/bin/env bash
# Builds the project and tests it. Installs what is missing, asks nothing, shows what runs, and ends
# with the names of the tests that failed and "N passed, N failed".
#   tests/run.sh          what a first look needs: the release build, all of ctest, and the demo
#   tests/run.sh full     every test: also clang++ with the coverage of the source, the address,
#                         undefined-behaviour and thread sanitizers, several versions of SQLite,
#                         other processors, valgrind, short forms of fuzzing and mutation, and the
#                         checks of format and style
#   tests/run.sh all      full, and the page in examples/playground, whose tools take a gigabyte
# docs/testing.md says what each part is for, and gives the long forms.
set -euo pipefail
cd "$(dirname "$0")/.."
source tests/support/setup.sh
source tests/support/check.sh
source tests/support/locale.sh

# Translated messages and decimal commas would not be recognized.
export LC_ALL=C.UTF-8
jobs=$(getconf _NPROCESSORS_ONLN)
# Progress goes here, also from within a command whose output is kept.
exec 3>&1

# A heading, with the seconds since the start.
part() { echo "== $* ($SECONDS s)"; }

# show_progress WORD: copies the output of a build or of ctest, and reports each quarter of the work
# and, after 30 seconds without a report, how far it is.
show_progress() {
  local word=$1 line percent shown=0 last=$SECONDS
  while IFS= read -r line; do
    printf '%s\n' "$line"
    if [[ $line =~ ^\[\ *([0-9]+)%\] ]]; then
      percent=${BASH_REMATCH[1]}
    elif [[ $line =~ ^\ *([0-9]+)/([0-9]+)\ Test ]]; then
      percent=$((100 * BASH_REMATCH[1] / BASH_REMATCH[2]))
    else
      continue
    fi
    if [ "$percent" -ge $((shown + 25)) ] || [ $((SECONDS - last)) -ge 30 ]; then
      shown=$((percent / 25 * 25))
      last=$SECONDS
      echo "  $word: $percent % ($SECONDS s)" >&3
    fi
  done
}

build() {
  cmake --preset "$1" && cmake --build --preset "$1" -j "$jobs" | show_progress build
}

# with_sanitizer_layout PRESET COMMAND...: sanitizers map fixed addresses, which kernels with much
# randomization may have given away.
with_sanitizer_layout() {
  case $1 in
    *san*) shift && without_aslr "$@" ;;
    *) shift && "$@" ;;
  esac
}

# run_ctest PRESET TESTS OTHERS
run_ctest() {
  cd "build/$1" 2> /dev/null &&
    with_sanitizer_layout "$1" ctest -j "$jobs" -R "$2" -E "$3" --timeout 900 --output-on-failure 2>&1 | show_progress ctest
}

# build_and_test PRESET [TESTS [OTHERS]]: builds a preset of CMakePresets.json and runs those of its
# tests whose names match TESTS and do not match OTHERS; each counts.
build_and_test() {
  local preset=$1 tests=${2:-.} others=${3:-^$} log=build/$1.log began=$SECONDS numbers
  part "$preset"
  check "$preset builds without a warning" build "$preset"
  if ! (run_ctest "$preset" "$tests" "$others") > "$log"; then
    grep -vE '^ *(Start |[0-9]+/[0-9]+ .* Passed )' "$log" || true
  fi
  # "97% tests passed, 2 tests failed out of 80", skipped ones among them, disabled ones not.
  numbers=$(sed -nE 's/.*tests passed, ([0-9]+) tests failed out of ([0-9]+)/\1 \2/p' "$log")
  if [ -z "$numbers" ]; then
    record_failure "$preset: ctest did not finish"
    return
  fi
  local bad=${numbers% *} all=${numbers#* } skipped name
  skipped=$(grep -c '\*\*\*Skipped' "$log" || true)
  passed=$((passed + all - bad - skipped))
  while IFS= read -r name; do
    record_failure "$preset: $name"
  done < <(sed -nE '/^The following tests FAILED:/,$ s/^[[:space:]]*[0-9]+ - (.*) \([^()]*\)$/\1/p' "$log")
  reasons_of_skips "build/$preset/Testing/Temporary/LastTest.log"
  echo "== $preset: $((all - bad - skipped)) passed, $bad failed, $skipped skipped, $((SECONDS - began)) s"
}

# What CTest's log says of tests that were skipped, whole or in part.
reasons_of_skips() {
  awk '
    / Test: / { name = $3; reason = "" }
    /^skipped: / { print "  skipped in " name ": " substr($0, 10); next }
    /^<end of output>/ { after_output = 1; next }
    /^Test Skipped/ { print "  skipped " name ": " reason }
    /^Output:/ { after_output = 0; next }
    !after_output && NF && !/^\[|^Note: |^Running main|^-+$|: Skipped$/ { reason = $0 }
  ' "$1"
}

declare -A scripts=(
  [clients]=tests/docs/clients.sh
  [cluster]=tests/examples/cluster.sh
  [coverage]=tests/coverage/coverage.sh
  [fuzz]=tests/fuzz/run.sh
  [machines]=tests/environments/machines.sh
  [mutation]=tests/coverage/mutation.py
  [packages]=tests/release/packages.sh
  [playground]=tests/playground/run.sh
  [valgrind]=tests/environments/valgrind.sh
  [versions]=tests/environments/versions.sh
)

# Replaces the subshell of side_by_side, so that the last line of the log is the script's own.
run_script() {
  exec "${scripts[$1]}"
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

run_demo() {
  local began=$SECONDS
  part demo
  check "examples/demo.sh" examples/demo.sh
  echo "== demo: $((SECONDS - began)) s"
}

main() {
  local form=${1:-} packages="g++ cmake make git sqlite3 libsqlite3-dev libgtest-dev libmurmurhash-dev python3 binutils locales"
  case $form in
    '') ;;
    full | all) packages="$packages clang clang-format clang-tidy shellcheck" ;;
    *)
      echo "tests/run.sh: unknown form: $form (give none, 'full' or 'all')" >&2
      exit 2
      ;;
  esac
  # shellcheck disable=SC2086
  install_missing $packages
  mkdir -p build/scripts
  make_german_locale || true

  build_and_test release
  if [ -n "$form" ]; then
    build_and_test asan+ubsan . '^Rate[.]'
    build_and_test tsan faults.threads
    check_style
    # Two at a time: much of the time they wait.
    part scripts
    side_by_side run_script build/scripts coverage versions machines packages cluster clients valgrind \
      mutation fuzz
  fi
  if [ "$form" = all ]; then
    side_by_side run_script build/scripts playground
  fi
  run_demo
  echo "== end: $SECONDS s, $(du -sh build | cut -f 1) in build/"
  conclude
}

main "$@"
