#!/usr/bin/env bash
# Measures which lines and branches of core/, sql/ and ext/ the tests run. Builds with clang's source
# coverage and runs the tests. Lists each line and branch that did not run, prints a table by file, and
# ends with "N passed, N failed": the build, the tests, and the shares of lines and branches below.
# Installs missing packages without prompting.
#   tests/coverage/coverage.sh
set -euo pipefail
cd "$(dirname "$0")/../.."
source tests/support/locale.sh
source tests/support/setup.sh
source tests/support/check.sh

# 27 lines need a processor with AVX-512.
min_lines=97
min_branches=90
build=$PWD/build/coverage
jobs=$(getconf _NPROCESSORS_ONLN)

build() {
  cmake --preset coverage && cmake --build --preset coverage -j "$jobs"
}

# The extension writes its counts when the host unloads it or ends. All processes of a program add to
# one file; %m in its name is a hash of the program. Left out are long tests that run no code of their
# own.
left_out='kernel.avx2|Rate[.]|bench[.]|amalgamation|load|promise.extension|determinism|experiments|proxy_ring|shards|url_check|kill|processes|faults.power_cuts'
run_tests() {
  rm -rf "$build/profiles"
  LLVM_PROFILE_FILE=$build/profiles/%m.profraw \
    ctest --test-dir "$build" -j "$jobs" -E "$left_out" --timeout 900 --output-on-failure
}

# Code that is in none of these three programs is not in the product.
report() {
  llvm-profdata merge -sparse "$build"/profiles/*.profraw -o "$build/all.profdata"
  llvm-cov show "$build/bloom.so" -object "$build/tests/core_tests" -object "$build/core_example" \
    -instr-profile="$build/all.profdata" -show-branches=count \
    -show-instantiations=false -use-color=false core sql ext 2> "$build/llvm-cov.log" |
    python3 tests/coverage/report.py . "$min_lines" "$min_branches"
}

install_missing clang llvm libclang-rt-dev cmake make git sqlite3 libsqlite3-dev libgtest-dev \
  libmurmurhash-dev python3 binutils locales
mkdir -p build
make_german_locale || true
check "builds" build
check "every test passes" run_tests
if report; then
  passed=$((passed + 1))
else
  record_failure "$min_lines % of the lines and $min_branches % of the branches"
  echo "  FAILED  $min_lines % of the lines and $min_branches % of the branches"
fi
conclude
