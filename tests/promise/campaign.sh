#!/usr/bin/env bash
# The long form of tests/promise/promise_model_test.py: every command on every form of table, at any
# time, in several versions of SQLite, and with the address and undefined-behaviour sanitizers. Uses
# the builds that tests/run.sh full leaves behind. Ends with "N passed, N failed".
#   tests/promise/campaign.sh [STEPS [SEED]]    STEPS: in all, 1,000,000 unless given
set -euo pipefail
cd "$(dirname "$0")/../.."
source tests/support/setup.sh
source tests/support/check.sh

per_run=500
runs=15 # of one call of the model

# run_model PRESET LIBRARY_PATH SEED
run_model() {
  local preload=()
  if [ "$1" = asan+ubsan ]; then
    preload=(LD_PRELOAD="$(g++ -print-file-name=libasan.so):$(g++ -print-file-name=libubsan.so)" ASAN_OPTIONS=detect_leaks=0)
  fi
  without_aslr env "${preload[@]}" LD_LIBRARY_PATH="$2" /usr/bin/python3 -B tests/promise/promise_model_test.py \
    "build/$1/bloom.so" "$per_run" "$3"
}

main() {
  local steps=${1:-1000000} seed=${2:-$RANDOM} hosts=("release:") i
  for version in 3.31.1 3.54.1; do
    if [ -e "build/versions/$version/libsqlite3.so.0" ]; then
      hosts+=("release:$PWD/build/versions/$version")
    fi
  done
  echo "seed $seed; asan+ubsan and ${#hosts[@]} hosts: ${hosts[*]}"
  for ((i = 0; i * per_run * runs < steps; i++)); do
    local host=${hosts[i % ${#hosts[@]}]}
    # Sanitizers need several times as long.
    [ $((i % 8)) -ne 7 ] || host=asan+ubsan:
    check "$host, seed $seed" run_model "${host%%:*}" "${host#*:}" "$seed"
    seed=$((seed + runs))
  done
  conclude
}

main "$@"
