#!/bin/sh
# Finds the files of this machine that no package owns, with a Bloom filter in front of the exact
# lookup and without one, and shows what the filter costs and saves. Asks nothing, needs no
# arguments, leaves nothing behind but build/demo.
set -eu
# Bytes, not letters: the order of sort is then the order of SQLite's index.
export LC_ALL=C

repo=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd -P)
build=$repo/build/demo
lists=/var/lib/dpkg/info
steps=7
rounds=5
# Keeps the demo short on a file server.
most_files=400000

# shellcheck source=SCRIPTDIR/../tests/lib/setup.sh
. "$repo/tests/lib/setup.sh"

main() {
  work=$(mktemp -d)
  trap 'rm -rf "$work"' EXIT
  trap 'exit 130' HUP INT TERM
  # Names within SQL are relative from here on: no path needs quoting there.
  cd "$work"
  work=$(pwd -P)

  step 'getting the tools that are missing'
  install_missing g++ make cmake libsqlite3-dev sqlite3 ||
    fail 'tools are missing'
  took
  step 'building the extension (Release)'
  build_extension
  took
  step 'listing the files here and the paths that packages own'
  list_found
  list_owned
  took
  step 'loading both lists, building the filter of the owned paths'
  sql <"$repo/examples/demo.sql"
  expect_none 'owned paths that the filter calls absent' lost
  took

  job 'files found' 'not_owned' 'SELECT path FROM found'
  sql 'SELECT path FROM not_owned_without' >unowned.txt
  job 'backup names' 'owned' "SELECT path || '~' FROM owned"
  job 'owned paths' 'owned' 'SELECT path FROM owned'
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
  printf '[%d/%d] %s ... ' "$done_steps" "$steps" "$*"
}

took() { printf '%d s\n' "$(($(date +%s) - began))"; }

# Without the user's ~/.sqliterc, and without waiting for the disk: the database is thrown away.
sql() {
  sqlite3 -init /dev/null -batch -bail -cmd '.load ./bloom' -cmd 'PRAGMA synchronous = OFF' \
    demo.db "$@"
}

build_extension() {
  {
    cmake -S "$repo" -B "$build" -DCMAKE_BUILD_TYPE=Release -DBLOOM_TESTS=OFF &&
      cmake --build "$build" --target bloom -j "$(getconf _NPROCESSORS_ONLN)"
  } >build.log 2>&1 || {
    cat build.log >&2
    fail 'the extension does not build'
  }
  ln -s "$build/bloom.so" bloom.so
}

# Names with control characters are left out: a newline would make two paths of one. Directories
# that may not be read are passed over, so find's own status says nothing.
list_found() {
  find / -xdev \( -path /proc -o -path /sys -o -path /dev -o -path /run \
    -o -path "$repo/build" -o -path "$work" -o -name '*[[:cntrl:]]*' \) -prune \
    -o ! -type d -print 2>/dev/null | head -n "$most_files" >found.txt
  [ -s found.txt ] || fail 'found no file at all'
}

# A directory of lists alone says little: other systems have the dpkg command too.
has_dpkg() { [ -f "$lists/dpkg.list" ]; }

# Without dpkg every second file found plays an owned one.
list_owned() {
  if has_dpkg; then
    dpkg_paths >named.txt
    where_they_are named.txt | sort -u >owned.txt
  else
    awk 'NR % 2' found.txt | sort -u >owned.txt
  fi
}

# What packages own, and the names to which dpkg-divert moved a file of one (the second
# line of each three).
dpkg_paths() {
  cat "$lists"/*.list | grep -v -x '/\.'
  if [ -f "$lists/../diversions" ]; then
    awk 'NR % 3 == 2' "$lists/../diversions"
  fi
}

# The lists say /bin/ls where find says /usr/bin/ls: resolves the directory of each path.
where_they_are() {
  sed 's|[^/]*$||' "$1" | sort -u >listed.txt
  tr '\n' '\0' <listed.txt | xargs -0 readlink -m -- >real.txt
  paste listed.txt real.txt | awk -F '\t' '
    NR == FNR { real[$1] = $2 == "/" ? "" : $2; next }
    { match($0, /[^\/]*$/); print real[substr($0, 1, RSTART - 1)] "/" substr($0, RSTART) }
  ' - "$1"
}

# expect_none WHAT VIEW
expect_none() {
  found=$(sql "SELECT count(*) FROM $2")
  [ "$found" = 0 ] || fail "$1: $found, first $(sql "SELECT path FROM $2 LIMIT 1")"
}

# job NAME VIEW QUESTIONS: asks the questions in two orders, by the views VIEW_with and
# VIEW_without.
job() {
  step "asking about $1, with the filter and without"
  fill_asked "$3"
  sql "INSERT INTO counted SELECT '$1', * FROM count_asked"
  expect_none "$1 answered differently with the filter" "$2_differs"
  measure "$1" "$2" directory all
  fill_asked "$3 ORDER BY random()"
  expect_none "$1 answered differently with the filter" "$2_differs"
  measure "$1" "$2" random all
  measure "$1" "$2" random 1/16
  took
}

fill_asked() { sql 'DELETE FROM asked' "INSERT INTO asked $1"; }

# measure JOB VIEW ORDERING CACHE
measure() {
  passes=$(passes_needed)
  kib_with=$(cache_kib "$4")
  # The memory that the filter takes is cache for the other way.
  kib_without=$(sql "SELECT $kib_with + length(filter) / 1024 FROM filters")
  {
    echo '.output /dev/null'
    echo 'CREATE TEMP TABLE clock AS SELECT 0.0 AS started;'
    for _ in $(seq "$rounds"); do
      timed "'$1', '$3', '$4', 'without'" "$2_without" "$kib_without"
      timed "'$1', '$3', '$4', 'with'" "$2_with" "$kib_with"
    done
  } | sql
}

# SQLite's clock ticks in milliseconds: few questions are asked several times over.
passes_needed() { sql 'SELECT 1 + 200000 / (1 + count(*)) FROM asked'; }

# cache_kib all|1/16: SQLite's page cache, as a share of the index.
cache_kib() {
  case $1 in
    all) sql 'SELECT page_count * page_size / 1024 FROM pragma_page_count, pragma_page_size' ;;
    *) sql "SELECT max(40, index_bytes / 1024 / ${1#1/}) FROM size" ;;
  esac
}

# timed LABELS VIEW KIB: the SQL that measures one way once.
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

Which of $(thousands <found.txt) files found here are not owned?
$(thousands <unowned.txt), most of them in
$(cut -d / -f 1-3 unowned.txt | sort | uniq -c | sort -rn | head -n 5)
(The search ends at $most_files files.) $(origin)
$(sql 'SELECT line FROM report_size')

CHECKED: no owned path is called absent; all questions below have the same answers with the filter
and without.
  files found   which of them are not owned?
  backup names  does any owned path + '~' exist in the list? Nearly none: the filter's best case.
  owned paths   are they owned? All are, so the filter can only add its own time: its worst case.

                              exact lookups             false positives
  questions      absent    without      with   saved        met  predicted
$(sql 'SELECT line FROM report_counted')

Time in ms, medians of $rounds interleaved rounds
  questions     order      page cache    without      with  times as fast
$(sql 'SELECT line FROM report_measured')

- The filter pays where most questions find nothing; where they find something, its time is added.
- Where whole directories are unowned, their lookups all end at one place of the index, which the
  processor keeps at hand: saving those saves little time.
- Page cache 1/16: a sixteenth of the index, as when a database outgrows its memory; "without" gets
  the memory of the filter on top. The kernel still holds the file, so a page costs a copy; where it
  costs a disk read, each lookup saved is worth far more.
END
}

origin() {
  printf 'Owned are %s paths, ' "$(thousands <owned.txt)"
  if has_dpkg; then
    echo "by dpkg's lists:"
  else
    echo 'every second file found, as there is no dpkg:'
  fi
}

thousands() { sql "SELECT printf('%,d', $(wc -l))"; }

main
