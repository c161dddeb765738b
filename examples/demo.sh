#!/bin/sh
# Races a mailing list and a log search, with a filter and without, and shows where the filter loses.
# Takes no input and no arguments. Writes only to build/demo; apt may install packages.
set -eu

repo=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd -P)
build=$repo/build/demo
packages='g++ make cmake libsqlite3-dev sqlite3'
steps=4
rounds=3

# shellcheck source=SCRIPTDIR/../tests/support/setup.sh
. "$repo/tests/support/setup.sh"

main() {
  cat <<END
sqlite-bloom demo. It installs these packages with apt, where they are missing: $packages
It compiles the extension and writes only to $build. It takes no input.

END
  mkdir -p "$build"
  # File names are relative from here on, so no path needs quoting in SQL. SQLite's temporary files go there too.
  cd "$build"
  export SQLITE_TMPDIR="$build"

  step 'installing missing packages'
  # shellcheck disable=SC2086 # one word per package
  install_missing $packages || fail 'packages are missing'
  took
  step 'compiling the extension:'
  compile
  took
  step 'making 200,000 addresses and 200,000 log lines, and their filters'
  rm -f demo.db demo.db-journal
  sql <"$repo/examples/demo.sql"
  took
  step 'racing, with a filter and without'
  race >race.sql
  sql <race.sql
  took
  report
}

fail() {
  printf '\ndemo failed: %s\n' "$*" >&2
  exit 1
}

done_steps=0
step() {
  done_steps=$((done_steps + 1))
  began=$(date +%s)
  printf '[%d/%d] %s ' "$done_steps" "$steps" "$*"
}

took() { printf '(%d s)\n' "$(($(date +%s) - began))"; }

# Ignores the user's ~/.sqliterc. Does not wait for the disk: each run makes the database again.
sql() {
  sqlite3 -init /dev/null -batch -bail -cmd '.load ./bloom' -cmd 'PRAGMA synchronous = OFF' demo.db "$@"
}

# Large units take a third of the processor time of single files.
compile() {
  {
    cmake -S "$repo" -B "$build" -DCMAKE_BUILD_TYPE=Release -DBLOOM_TESTS=OFF -DBLOOM_UNITY=ON &&
      cmake --build "$build" --target bloom -j "$(getconf _NPROCESSORS_ONLN)" || echo 'the build failed'
  } 2>&1 | tee build.log | show_progress
  if grep -q 'the build failed' build.log; then
    cat build.log >&2
    fail 'the extension does not build'
  fi
}

# A dot for each twentieth that make has done.
show_progress() {
  shown=0
  while IFS= read -r line; do
    case $line in
      '['*'%] '*)
        percent=${line%%\%*}
        percent=${percent##*[\[ ]}
        while [ "$shown" -lt "$((percent / 5))" ]; do
          printf '.'
          shown=$((shown + 1))
        done
        ;;
    esac
  done
  printf ' '
}

# The SQL of all rounds. Both ways of a round run one after the other, so a busy machine slows both.
race() {
  echo '.output /dev/null'
  echo 'CREATE TEMP TABLE clock AS SELECT 0.0 AS started;'
  sql 'SELECT job, runs FROM jobs ORDER BY job' | tr '|' ' ' | while read -r job runs; do
    for _ in $(seq "$rounds"); do
      timed "$job" plain 1
      timed "$job" filtered "$runs"
    done
  done
}

# timed JOB WAY RUNS: SQLite's clock has a resolution of 1 ms, so what is fast runs several times.
timed() {
  echo "UPDATE clock SET started = julianday('now');"
  echo "INSERT INTO counted SELECT '$1', '$2', found FROM ${1}_$2;"
  for _ in $(seq 2 "$3"); do
    echo "SELECT found FROM ${1}_$2;"
  done
  echo "INSERT INTO measured SELECT '$1', '$2', (julianday('now') - started) * 86400000 / $3 FROM clock;"
}

# Times are only shown; different results fail the demo.
report() {
  wrong=$(sql 'SELECT group_concat(job) FROM differs')
  [ -z "$wrong" ] || fail "different results with the filter: $wrong"
  sql 'SELECT line FROM report'
  cat <<END

Both ways return the same rows. The times are medians of $rounds rounds, with SQLite's page cache of 2 MB.

WHAT TO TYPE NEXT
  cd '$build' && sqlite3 demo.db
.load ./bloom
.timer on
SELECT address FROM recipients AS r WHERE EXISTS (SELECT 1 FROM checked WHERE key = r.address) LIMIT 3;
SELECT id, line FROM log_search WHERE line LIKE '%$(sql 'SELECT part FROM wanted')%';
SELECT id, line FROM log        WHERE line LIKE '%$(sql 'SELECT part FROM wanted')%';

Continue with docs/getting-started.md, which puts a filter in front of your own table.
END
}

main
