#!/usr/bin/env bash
# Builds the project and tests it. Installs missing packages without prompting, shows its progress, and
# ends with the names of the tests that failed and "N passed, N failed".
#   tests/run.sh          for a first look: the release build, the tests with the labels unit and document, and
#                         the demo
#   tests/run.sh unit     the loop of a change: the release build and the tests with the label unit
#   tests/run.sh full     what CI runs: all of ctest, the address, undefined-behaviour and thread sanitizers,
#                         three versions of SQLite, a big-endian processor, a short form of fuzzing, the
#                         packages, clients, and format and style
#   tests/run.sh all      full, coverage, mutation, valgrind, more versions of SQLite, a 32-bit processor, the
#                         packages of other platforms, programs in other languages with the extension built in,
#                         and the playground, the site and the npm package for WebAssembly in browsers
# docs/testing.md says what each part is for, and lists the long forms.
set -euo pipefail
cd "$(dirname "$0")/.."
source tests/support/setup.sh
source tests/support/check.sh
source tests/support/locale.sh

# Translated messages and decimal commas would not be recognized.
export LC_ALL=C.UTF-8
jobs=$(getconf _NPROCESSORS_ONLN)
# Progress goes to this file descriptor, also from commands whose output is kept in a log.
exec 3>&1

# show_progress NAME: copies the output of a build or of ctest, and reports the progress after each
# quarter of the work and after 30 seconds without a report.
show_progress() {
  local name=$1 line percent shown=0 last=$SECONDS
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
      echo "  $name: $percent % ($SECONDS s)" >&3
    fi
  done
}

# build PRESET [TARGET...]
build() {
  local preset=$1
  shift
  cmake --preset "$preset" && cmake --build --preset "$preset" -j "$jobs" ${1:+--target "$@"} | show_progress "$preset: build"
}

# with_sanitizer_layout PRESET COMMAND...: sanitizers map fixed addresses, which may be in use on kernels
# with strong address-space randomization.
with_sanitizer_layout() {
  case $1 in
    *san*) shift && without_aslr "$@" ;;
    *) shift && "$@" ;;
  esac
}

# run_ctest PRESET TESTS LABELS
run_ctest() {
  cd "build/$1" 2> /dev/null &&
    with_sanitizer_layout "$1" ctest -j "$jobs" -R "$2" -L "$3" --timeout 900 --output-on-failure 2>&1 | show_progress "$1: ctest"
}

# build_and_test PRESET [TESTS [LABELS [TARGET...]]]: builds a preset of CMakePresets.json, whole or only these
# targets, and runs the tests of it whose names and labels match. Each test counts.
build_and_test() {
  local preset=$1 tests=${2:-.} labels=${3:-.} log=build/$1.log numbers
  check "builds without a warning" build "$preset" "${@:4}"
  if ! (run_ctest "$preset" "$tests" "$labels") > "$log"; then
    grep -vE '^ *(Start |[0-9]+/[0-9]+ .* Passed )' "$log" || true
  fi
  # "97% tests passed, 2 tests failed out of 80", skipped ones among them, disabled ones not.
  numbers=$(sed -nE 's/.*tests passed, ([0-9]+) tests failed out of ([0-9]+)/\1 \2/p' "$log")
  if [ -z "$numbers" ]; then
    record_failure "ctest did not finish"
    return
  fi
  local bad=${numbers% *} all=${numbers#* } skipped name
  skipped=$(grep -c '\*\*\*Skipped' "$log" || true)
  passed=$((passed + all - bad - skipped))
  while IFS= read -r name; do
    record_failure "$name"
  done < <(sed -nE '/^The following tests FAILED:/,$ s/^[[:space:]]*[0-9]+ - (.*) \([^()]*\)$/\1/p' "$log")
  reasons_of_skips "build/$preset/Testing/Temporary/LastTest.log"
  echo "  ctest: $((all - bad - skipped)) passed, $bad failed, $skipped skipped"
}

# Prints why tests were skipped, whole or in part, from the log of CTest.
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
  [amalgamation]=tests/release/amalgamation.sh
  [amalgamation-all]="tests/release/amalgamation.sh all"
  [clients]=tests/docs/clients.sh
  [cluster]=tests/examples/cluster.sh
  [coverage]=tests/coverage/coverage.sh
  [embedding]=tests/release/embedding.sh
  [fuzz]=tests/fuzz/run.sh
  [hosts]=tests/docs/hosts.sh
  [i686]="tests/environments/machines.sh i686"
  [metadata]=tests/release/metadata.sh
  [mutation]=tests/coverage/mutation.py
  [older_linux]=tests/release/older_linux.sh
  [packages]=tests/release/packages.sh
  [platforms]=tests/release/platforms.sh
  [playground]=tests/playground/run.sh
  [s390x]="tests/environments/machines.sh s390x"
  [site]=tests/site/run.sh
  [valgrind]=tests/environments/valgrind.sh
  [versions]=tests/environments/versions.sh
  [versions-all]="tests/environments/versions.sh all"
  [wasm]=tests/release/wasm.sh
)

# A script replaces the subshell of side_by_side: the last line of its log is its own count.
run_part() {
  case $1 in
    release) build_and_test release ;;
    asan+ubsan) build_and_test asan+ubsan . 'unit|model|fault' ;;
    tsan) build_and_test tsan faults.threads ;;
    style) check_style ;;
    unit) build_and_test release . unit unit_tests ;;
    first) build_and_test release . 'unit|document' unit_tests document_tests ;;
    demo) check "examples/demo.sh" examples/demo.sh ;;
    *) read -ra command <<< "${scripts[$1]}" && exec "${command[@]}" ;;
  esac
}

sources() { git ls-files '*.h' '*.cc'; }

check_style() {
  # Most checks look at every header of the C++ library again, which is most of their time. So they see
  # the core and sql/ in a few large units. These checks see only the file that is compiled; the analyzer
  # needs minutes, so only 'all' runs it:
  local of_one_file='clang-diagnostic-*,misc-unused-using-decls,misc-unused-alias-decls,bugprone-suspicious-include'
  [ "$form" != all ] || of_one_file+=',clang-analyzer-*'
  check "clang's compile commands" cmake --preset clang
  check "clang's compile commands, large units" cmake --preset clang -B build/clang-units -DBLOOM_UNITY=ON
  # shellcheck disable=SC2046
  check "clang-format" clang-format-14 --dry-run -Werror $(sources)
  # clang-tidy reports the warnings of clang as well.
  check "clang-tidy: core and sql" run-clang-tidy -quiet -j "$jobs" -p build/clang-units \
    -checks='-clang-analyzer-*,-bugprone-suspicious-include' -header-filter='/(core|sql)/.*\.(h|cc)$' '/unity_[0-9]+_cxx'
  # shellcheck disable=SC2046
  check "clang-tidy: core and sql, file by file" run-clang-tidy -quiet -j "$jobs" -p build/clang -checks="-*,$of_one_file" \
    $(sources | grep -E '^(core|sql)/.*\.cc$')
  # shellcheck disable=SC2046
  check "clang-tidy: the other sources" run-clang-tidy -quiet -j "$jobs" -p build/clang \
    $(sources | grep '\.cc$' | grep -vE '^(core|sql|tests)/')
  if [ "$form" = all ]; then
    # Without the analyzer, which needs minutes for the macros of GoogleTest.
    # shellcheck disable=SC2046
    check "clang-tidy of the tests" run-clang-tidy -quiet -j "$jobs" -p build/clang \
      -checks='-clang-analyzer-*' $(sources | grep '\.cc$' | grep '^tests/' | grep -v '^tests/fuzz/')
  fi
  # shellcheck disable=SC2046
  check "shellcheck" shellcheck -x $(git ls-files '*.sh')
}

main() {
  local form=${1:-} packages="g++ cmake make git sqlite3 libsqlite3-dev libgtest-dev libmurmurhash-dev python3 binutils locales codespell"
  case $form in
    '' | unit) ;;
    full | all) packages="$packages clang clang-format-14 clang-tidy shellcheck sqlite-utils python3-sqlalchemy python3-alembic python3-django python3-peewee" ;;
    *)
      echo "tests/run.sh: unknown form: $form (give none, 'unit', 'full' or 'all')" >&2
      exit 2
      ;;
  esac
  # shellcheck disable=SC2086
  install_missing $packages
  mkdir -p build/parts
  make_german_locale || true

  if [ "$form" = unit ]; then
    side_by_side run_part build/parts unit
    conclude
    return
  fi
  if [ -z "$form" ]; then
    side_by_side run_part build/parts first
  else
    # Scripts use the release build. The other parts run as many at a time as there are processors, so
    # that no processor is idle while one part configures, links or waits. The longest come first.
    side_by_side run_part build/parts release
    side_by_side run_part build/parts asan+ubsan versions style s390x fuzz amalgamation tsan packages cluster clients
  fi
  if [ "$form" = all ]; then
    side_by_side run_part build/parts platforms versions-all coverage mutation i686 valgrind amalgamation-all embedding wasm \
      metadata hosts older_linux
    # One after the other: the site contains the playground.
    side_by_side run_part build/parts playground
    side_by_side run_part build/parts site
  fi
  side_by_side run_part build/parts demo
  echo "== end: $SECONDS s, $(du -sh build | cut -f 1) in build/"
  conclude
}

main "$@"
