#!/usr/bin/env bash
# Fuzzes the extension with libFuzzer and the address and undefined-behaviour sanitizers, and prints the
# results. Installs missing packages without prompting. Inputs that break something are kept in
# build/fuzz/findings, and the exit code is then not 0.
#   tests/fuzz/run.sh         replays the seeds of tests/fuzz/corpus and fuzzes each target for some seconds
#   tests/fuzz/run.sh N       N executions in all, most of them of the fast targets
#   tests/fuzz/run.sh keep    adds the new inputs of earlier runs to tests/fuzz/corpus
set -euo pipefail
cd "$(dirname "$0")/../.."
source tests/support/setup.sh

out=build/fuzz
# Name of the target, its share of N in thousandths, the maximum length of an input.
targets="filter 719 300
core 255 100
script 15 600
number 5 32
shadow 2 400
group 1 200
search 1 200
sql 2 250"

links_libfuzzer() {
  echo 'extern "C" int LLVMFuzzerTestOneInput(const char*, unsigned long) { return 0; }' |
    clang++ -fsanitize=fuzzer,address -x c++ - -o /dev/null 2> /dev/null
}

# The libraries of the sanitizers are part of clang, or a package of their own.
prepare() {
  install_missing clang cmake make libsqlite3-dev python3
  links_libfuzzer || install_missing libclang-rt-dev
  mkdir -p "$out/findings"
  cmake --preset fuzz > "$out/build.log" && cmake --build --preset fuzz -j "$(nproc)" >> "$out/build.log"
}

# Fast, at the price of short stack traces. Run a finding again without these options for a full trace.
export ASAN_OPTIONS=malloc_context_size=0:quarantine_size_mb=1:thread_local_quarantine_size_kb=64

# Runs libFuzzer on a target. The committed seeds are in $out/seeds, the inputs of earlier runs in $out/corpus.
libfuzzer() {
  local target=$1 max_len=$2
  shift 2
  rm -rf "$out/seeds/$target"
  tests/fuzz/seeds.py unpack "tests/fuzz/corpus/$target.seeds" "$out/seeds/$target"
  mkdir -p "$out/corpus/$target"
  local options=(-max_len="$max_len" -len_control=0 -timeout=10 -rss_limit_mb=1500 -entropic=0 -print_final_stats=1
    -artifact_prefix="$out/findings/$target-")
  if [ -e "tests/fuzz/$target.dict" ]; then
    options+=(-dict="tests/fuzz/$target.dict")
  fi
  without_aslr "$out/tests/fuzz/${target}_fuzz" "${options[@]}" "$@"
}

fuzz() {
  local target=$1 max_len=$2 code=0
  shift 2
  libfuzzer "$target" "$max_len" "$@" "$out/corpus/$target" "$out/seeds/$target" \
    > "$out/$target.log" 2>&1 || code=$?
  echo "$code" > "$out/$target.code"
}

# A run that was stopped is a failure, but not a finding.
row() {
  local target=$1 log=$out/$1.log findings runs corpus coverage
  case $(cat "$out/$target.code") in
    0) findings=0 ;;
    72) findings=stopped ;;
    *) findings=1 ;;
  esac
  runs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")
  coverage=$(sed -nE 's/.*cov: ([0-9]+) ft: ([0-9]+) corp: ([0-9]+).*/\1 | \2 | \3/p' "$log" | tail -n 1)
  corpus=${coverage##* }
  echo "| $target | ${runs:-0} | $corpus | ${coverage% | *} | $findings |"
  total=$((total + ${runs:-0}))
  [ "$findings" = 0 ] || failed=$((failed + 1))
}

report() {
  local total=0 failed=0 target
  echo "| target | executions | corpus | edges | features | findings |"
  echo "| --- | --- | --- | --- | --- | --- |"
  while read -r target _; do
    row "$target"
  done <<< "$targets"
  echo "$total executions"
  while read -r target _; do
    if [ "$(cat "$out/$target.code")" -ne 0 ]; then
      echo "== $target"
      grep -aE 'BROKEN|ERROR|SUMMARY|runtime error|Test unit written' -A 1 "$out/$target.log" || tail -n 20 "$out/$target.log"
    fi
  done <<< "$targets"
  while read -r target _; do
    [ "$(cat "$out/$target.code")" -eq 0 ] || echo "failed: $target"
  done <<< "$targets"
  echo "$(($(wc -l <<< "$targets") - failed)) passed, $failed failed"
  [ "$failed" -eq 0 ]
}

# Runs as many targets at a time as there are processors.
run_all() {
  local runs=$1 seconds=$2 target share max_len
  while read -r target share max_len; do
    while [ "$(jobs -rp | wc -l)" -ge "$(nproc)" ]; do
      wait -n
    done
    if [ "$runs" -gt 0 ]; then
      fuzz "$target" "$max_len" -runs=$((runs * share / 1000)) &
    else
      fuzz "$target" "$max_len" -max_total_time="$seconds" &
    fi
  done <<< "$targets"
  wait
}

# Keeps a small set of seeds that reaches all edges, and every seed with a name.
keep() {
  local target max_len merged
  while read -r target _ max_len; do
    merged=$out/merged/$target
    rm -rf "$merged"
    mkdir -p "$merged"
    libfuzzer "$target" "$max_len" -set_cover_merge=1 -use_counters=0 "$merged" "$out/seeds/$target" \
      "$out/corpus/$target" > "$out/$target.merge.log" 2>&1
    find "$out/seeds/$target" -name '*-*' -exec cp {} "$merged" \;
    tests/fuzz/seeds.py pack "$merged" "tests/fuzz/corpus/$target.seeds"
  done <<< "$targets"
  du -sh --apparent-size tests/fuzz/corpus
}

prepare
case ${1:-} in
  keep) keep ;;
  "") run_all 0 4 && report ;;
  *) run_all "$1" 0 && report ;;
esac
