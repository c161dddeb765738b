#!/usr/bin/env bash
# Which lines and branches of core/, sql/ and ext/ the tests run. Builds with clang's coverage of the
# source, runs every test, lists each line and each branch that none of them took, then a table by
# file, and ends with "N passed, N failed": the build, the tests, and at least 98 % of the lines and
# 90 % of the branches. Installs what is missing, asks nothing.
#   tests/coverage/coverage.sh
set -euo pipefail
cd "$(dirname "$0")/../.."
source tests/support/locale.sh
source tests/support/setup.sh
source tests/support/check.sh

# 27 lines need a processor with AVX-512.
least_lines=97
least_branches=90
build=$PWD/build/coverage
jobs=$(getconf _NPROCESSORS_ONLN)

build() {
  cmake --preset coverage && cmake --build --preset coverage -j "$jobs"
}

# The extension writes its counts when the host unloads it or ends. Of each program all processes
# add to one file, which %m names after the program. Left out is what takes long and runs nothing
# that other tests do not.
also='kernel.avx2|determinism|experiments|proxy_ring|shards|url_check|kill|processes'
run_tests() {
  rm -rf "$build/profiles"
  LLVM_PROFILE_FILE=$build/profiles/%m.profraw \
    ctest --test-dir "$build" -j "$jobs" -E "$also" --timeout 900 --output-on-failure
}

# What is in no program of the three is not in the product either.
report() {
  llvm-profdata merge -sparse "$build"/profiles/*.profraw -o "$build/all.profdata"
  llvm-cov show "$build/bloom.so" -object "$build/tests/core_tests" -object "$build/core_example" \
    -instr-profile="$build/all.profdata" -show-branches=count \
    -show-instantiations=false -use-color=false core sql ext 2> "$build/llvm-cov.log" |
    python3 tests/coverage/report.py . "$least_lines" "$least_branches"
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
  record_failure "$least_lines % of the lines and $least_branches % of the branches"
  echo "  FAILED  $least_lines % of the lines and $least_branches % of the branches"
fi
conclude
