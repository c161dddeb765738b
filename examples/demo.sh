#!/bin/sh
# Looks up phrases of this machine's licence files in an index of its header files, with a Bloom
# filter in front of the index and without one. Shows what the filter gains, and where it loses.
# Takes no input and no arguments. Writes only to build/demo; apt may install packages.
set -eu
# Byte order, so that `sort` sorts as SQLite's index does.
export LC_ALL=C

repo=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd -P)
build=$repo/build/demo
licences=/usr/share/common-licenses
documents=/usr/share/doc
headers=/usr/include
packages='g++ make cmake libsqlite3-dev sqlite3'
steps=8
rounds=5
# The small page cache. 200 KiB are 50 pages.
small_kib=200
# These limits keep the demo short on a machine with many packages.
most_header_phrases=1500000
most_licence_phrases=1000000
most_lookups=200000

# shellcheck source=SCRIPTDIR/../tests/support/setup.sh
. "$repo/tests/support/setup.sh"

main() {
  introduce
  mkdir -p "$build"
  work=$(mktemp -d "$build/work.XXXXXX")
  trap 'rm -rf "$work"' EXIT
  trap 'exit 130' HUP INT TERM
  # Compiler, sort and SQLite put their temporary files there too.
  export TMPDIR="$work" SQLITE_TMPDIR="$work"
  # File names in SQL are relative from here on, so no path needs quoting.
  cd "$work"

  step 'installing missing packages'
  # shellcheck disable=SC2086 # one word per package
  install_missing $packages || fail 'packages are missing'
  took
  step 'building the extension (Release)'
  build_extension
  took
  step 'reading licence files and header files'
  list_licence_phrases
  list_header_phrases
  took
  step 'loading the phrases into demo.db, building the filter'
  rm -f ../demo.db ../demo.db-journal
  sql <"$repo/examples/demo.sql"
  expect_empty 'the filter calls stored phrases absent' lost
  took

  job 'licence phrases' 'SELECT phrase FROM licence ORDER BY rowid'
  step 'looking them up with equal memory for both'
  measure 'licence phrases' small+filter
  took
  job 'the same, sorted' 'SELECT phrase FROM licence ORDER BY phrase'
  job 'header phrases' 'SELECT phrase FROM repeated ORDER BY rowid'
  # The views of demo.db show the first job to the reader.
  fill_lookups 'SELECT phrase FROM licence ORDER BY rowid'
  report
}

introduce() {
  cat <<END
sqlite-bloom demo: which phrases of licence files are quoted in source code?

This demo
- installs these packages through apt, where they are missing: $packages
  (as root, or with sudo where sudo needs no password),
- reads the licence files $documents/*/copyright and $licences,
- reads the header files in $headers (C and C++ source code),
- compiles the extension and writes only to $build.
It uses the network only for apt, and it takes no input.

END
}

fail() {
  printf '\ndemo failed: %s\n' "$*" >&2
  exit 1
}

done_steps=0
step() {
  done_steps=$((done_steps + 1))
  began=$(date +%s)
  printf '[%d/%d] %s ... ' "$done_steps" "$steps" "$*"
}

took() { printf '%d s\n' "$(($(date +%s) - began))"; }

# Ignores the user's ~/.sqliterc. Does not wait for the disk: each run rebuilds the database.
sql() {
  sqlite3 -init /dev/null -batch -bail -cmd '.load ../bloom' -cmd 'PRAGMA synchronous = OFF' \
    ../demo.db "$@"
}

build_extension() {
  {
    cmake -S "$repo" -B "$build" -DCMAKE_BUILD_TYPE=Release -DBLOOM_TESTS=OFF &&
      cmake --build "$build" --target bloom -j "$(getconf _NPROCESSORS_ONLN)"
  } >build.log 2>&1 || {
    cat build.log >&2
    fail 'the extension does not build'
  }
}

# Each phrase once: many packages come with the same licence text.
list_licence_phrases() {
  find "$licences" "$documents" -maxdepth 2 -type f \
    \( -path "$licences/*" -o -name copyright \) -print0 2>/dev/null |
    phrases | head -n "$most_licence_phrases" |
    awk -v most="$most_lookups" '!seen[$0]++ { print; if (++n == most) exit }' >licence.txt
  [ -s licence.txt ] || fail "found no licence text in $licences and $documents"
}

list_header_phrases() {
  find "$headers" -type f -print0 2>/dev/null |
    phrases | head -n "$most_header_phrases" >all.txt
  [ -s all.txt ] || fail "found no header file in $headers"
  head -n "$most_lookups" all.txt >repeated.txt
  sort -u all.txt >code.txt
}

# phrases: for the files named on standard input, each run of five words. Words are lower case and
# may be on several lines, so the layout of a comment does not matter. Unreadable files are skipped.
phrases() {
  # shellcheck disable=SC2016 # the fields are awk's
  sort -z | xargs -0 awk '
    FNR == 1 { words = 0 }
    {
      line = tolower($0)
      gsub(/[^a-z0-9]+/, " ", line)
      count = split(line, word, " ")
      for (i = 1; i <= count; i++) {
        a = b; b = c; c = d; d = e; e = word[i]
        if (++words >= 5) print a " " b " " c " " d " " e
      }
    }' 2>/dev/null
}

# expect_empty PROBLEM VIEW
expect_empty() {
  found=$(sql "SELECT count(*) FROM $2")
  [ "$found" = 0 ] || fail "$1: $found, for example '$(sql "SELECT phrase FROM $2 LIMIT 1")'"
}

# job NAME QUERY: looks up the phrases of QUERY. Times are only shown; they never fail the demo.
job() {
  step "looking up $1, with the filter and without"
  fill_lookups "$2"
  sql "INSERT INTO counted SELECT '$1', * FROM count_lookups"
  expect_empty "$1 have different results with the filter" differs
  measure "$1" large
  measure "$1" small
  took
}

fill_lookups() { sql 'DELETE FROM lookups' "INSERT INTO lookups $1"; }

# measure JOB large|small|small+filter
measure() {
  passes=$(passes_needed)
  kib_with=$small_kib
  kib_without=$small_kib
  case $2 in
    large)
      kib_with=$(database_kib)
      kib_without=$kib_with
      ;;
    small+filter) kib_without=$((small_kib + $(filter_kib))) ;;
  esac
  {
    echo '.output /dev/null'
    echo 'CREATE TEMP TABLE clock AS SELECT 0.0 AS started;'
    # Reads the whole index into the page cache, if the page cache is large enough.
    echo "PRAGMA cache_size = -$kib_with;"
    echo 'SELECT sum(length(phrase)) FROM code;'
    for round in $(seq "$rounds"); do
      timed "'$1', '$2', $round, 'without'" found_without "$kib_without"
      timed "'$1', '$2', $round, 'with'" found_with "$kib_with"
    done
  } | sql
}

# SQLite's clock has a resolution of 1 ms, so short queries run several times.
passes_needed() { sql "SELECT max(1, $most_lookups / max(1, count(*))) FROM lookups"; }

database_kib() {
  sql 'SELECT page_count * page_size / 1024 FROM pragma_page_count, pragma_page_size'
}

filter_kib() { sql 'SELECT length(filter) / 1024 FROM filters'; }

# timed LABELS VIEW KIB: prints the SQL that measures one way once.
timed() {
  echo "PRAGMA cache_size = -$3;"
  echo "UPDATE clock SET started = julianday('now');"
  for _ in $(seq "$passes"); do
    echo "SELECT count(*) FROM $2;"
  done
  echo "INSERT INTO measured
          SELECT $1, (julianday('now') - started) * 86400000 / $passes FROM clock;"
}

report() {
  cat <<END

RESULT
$(sql 'SELECT line FROM report_found')
  The query returns the same rows with the filter and without the filter. For example:
$(sql 'SELECT line FROM report_examples')

GAIN
$(sql 'SELECT line FROM report_gain')

SIZE
$(sql 'SELECT line FROM report_size')

WHERE THE FILTER GAINS LESS, AND WHERE IT LOSES
  lookups            misses   page cache    without       with   with the filter
$(sql 'SELECT line FROM report_jobs')

  licence phrases   The phrases of the licence files, in the order of the files.
                    Nearly all lookups miss. This is the case for a filter.
  the same, sorted  In the order of the index, neighbouring lookups read the same page.
                    A lookup is cheap then, so the filter saves less.
  header phrases    Phrases that are all in the index. The filter stops no lookup and only adds
                    its own time. Do not use a filter where most lookups hit.

  Each job runs $rounds rounds. Each round runs both ways, one after the other.
  The times are those of the round with the median ratio.
  large         The page cache holds the whole database, so the index is in memory.
  small         The page cache has $small_kib KiB. The filter takes $(filter_kib) KiB of memory in addition.
  small+filter  Equal memory: without the filter, the page cache has $((small_kib + $(filter_kib))) KiB.
  The operating system still caches the file. Where a page costs a disk read, the filter saves more.

WHAT TO TYPE NEXT
  cd '$build' && sqlite3 demo.db

.load ./bloom
-- The filter, and the phrases that it finds:
SELECT bloom_info(filter) FROM filters;
SELECT phrase FROM found_with LIMIT 20;
-- One key: 0 means certainly absent, 1 means maybe present.
SELECT bloom_contains(filter, 'the gnu general public license'),
       bloom_contains(filter, 'five words in no header') FROM filters;
-- The same query without the filter and with it:
.timer on
SELECT count(*) FROM found_without;
SELECT count(*) FROM found_with;

Continue with docs/getting-started.md, which puts a filter in front of your own table.
END
}

thousands() { sql "SELECT printf('%,d', $(wc -l))"; }

main
