#!/usr/bin/env bash
# All measurements of docs/performance.md: prints Markdown, and leaves results.md, CSV files and charts
# (SVG, if gnuplot is available) in build/bench. Takes 40 minutes, without questions.
#   bench/run.sh          full size
#   bench/run.sh quick    smaller sizes, a few minutes: checks that everything runs
set -euo pipefail
cd "$(dirname "$0")/.."
source tests/support/setup.sh

out=build/bench
extension=build/release/bloom.so

prepare() {
  install_missing g++ cmake make git sqlite3 libsqlite3-dev libgtest-dev libmurmurhash-dev python3 gnuplot-nox libbloom-dev librocksdb-dev
  cmake --preset release
  cmake --build --preset release -j "$(getconf _NPROCESSORS_ONLN)"
}

# ns per lookup of a present key by size, one at a time and in batches, which some libraries do not have.
core_csv() {
  echo "size,filter,single,batch"
  awk -F ' *\\| *' -v OFS=, '
    /^### Filters/ { size = $0; sub(/.*of /, "", size); sub(/,.*/, "", size) }
    /^\| `?(block=|libbloom|RocksDB)/ && NF > 8 { gsub(/`/, "", $2); print size, $2, $4, $6 }'
}

charts() {
  mkdir -p "$out/charts"
  gnuplot -e "data='$out'; charts='$out/charts'" bench/charts.gp
}

python() { /usr/bin/python3 -B "$@"; }

measure() {
  echo "$(date -u +%F), SQLite $(sqlite3 --version | cut -d ' ' -f 1), $(uname -m), $(c++ --version | head -n 1)"
  python bench/lookups.py "$extension" "$keys"
  python bench/functions.py "$extension" "$keys"
  python bench/table.py "$extension" "$keys"
  python bench/cold.py "$extension" "$cold_mib"
  python bench/semi_joins.py "$extension" "$keys"
  python bench/search_lookups.py "$extension" "$keys"
  printf '\n### Lookups by number of members\n\n'
  python bench/groups.py "$extension" "$members" 500 "$out/groups.csv"
  python bench/retention.py "$extension" "$members" "$days" "$out/retention.csv"
  build/release/bench/core_bench "$core_mib" | tee "$out/core.md"
  core_csv <"$out/core.md" >"$out/core.csv"
  printf '\n### Time and bytes per key by number of keys\n\n'
  python bench/scaling.py "$extension" "$largest" "$out/scaling.csv"
}

main() {
  keys=1000000 cold_mib=1024 core_mib=256 largest=100000000 members=100000 days=10000
  if [ "${1:-}" = quick ]; then
    keys=100000 cold_mib=64 core_mib=1 largest=100000 members=1000 days=1000
  fi
  mkdir -p "$out"
  prepare >"$out/build.log" 2>&1 || { cat "$out/build.log"; exit 1; }
  rm -f "$out/results.csv"
  export BLOOM_BENCH_CSV=$out/results.csv
  measure | tee "$out/results.md"
  charts
}

main "$@"
