#!/usr/bin/env bash
# Reproduces the figures of docs/experiments.md: builds the extension in build/demo (or uses the one that $BLOOM names),
# measures with it, and writes CSV files and charts to docs/experiments. Installs what is missing, asks nothing, takes some
# minutes. The keys and the seeds are fixed, so every run gives the same numbers.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
repo=$here/../..
# shellcheck source=SCRIPTDIR/../../tests/support/setup.sh
source "$repo/tests/support/setup.sh"

build() {
  cmake -S "$repo" -B "$repo/build/demo" -DCMAKE_BUILD_TYPE=Release -DBLOOM_TESTS=OFF &&
    cmake --build "$repo/build/demo" --target bloom -j "$(getconf _NPROCESSORS_ONLN)"
}

extension=${BLOOM:-}
install_missing sqlite3
command -v gnuplot > /dev/null || install_missing gnuplot-nox
if [ -z "$extension" ]; then
  install_missing g++ make cmake libsqlite3-dev
  log=$(build 2>&1) || { echo "$log"; exit 1; }
  extension=$repo/build/demo/bloom.so
fi
extension=$(realpath "$extension")

mkdir -p "$repo/docs/experiments"
cd "$repo/docs/experiments"
for script in positions families rates bits; do
  echo "$script.sql"
  sqlite3 -init /dev/null -batch -bail -cmd ".load '$extension'" :memory: < "$here/$script.sql"
done
gnuplot "$here/charts.gp"
ls -1 -- *.svg
