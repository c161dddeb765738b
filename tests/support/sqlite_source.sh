# shellcheck shell=bash
# SQLite's source in one file, in some versions; to be sourced:
#   sqlite_source VERSION FOLDER    FOLDER/sqlite3.c, sqlite3.h and sqlite3ext.h, if not there yet;
#                                   status 77 if npm cannot fetch them
# The source is in the npm packages of better-sqlite3. Each release has one version of SQLite.

# Features that the tests and Python need, and that at least one version does not have by default.
# shellcheck disable=SC2034
sqlite_options=(-DSQLITE_THREADSAFE=1 -DSQLITE_ENABLE_JSON1 -DSQLITE_ENABLE_DESERIALIZE -DSQLITE_ENABLE_FTS5
  -DSQLITE_ENABLE_RTREE)

sqlite_source() {
  local version=$1 folder=$2 release work
  release=$(release_with "$version") || return
  [ ! -e "$folder/sqlite3.c" ] || return 0
  work=$folder/package
  mkdir -p "$work"
  npm pack --silent --pack-destination "$work" "better-sqlite3@$release" > /dev/null || {
    echo "npm cannot fetch better-sqlite3@$release, the source of SQLite $version (no network?)"
    return 77
  }
  tar xzf "$work"/*.tgz -C "$work" --strip-components=2 --wildcards 'package/deps/sqlite3*' || return
  # Older releases have an archive within the archive.
  if [ -e "$work/sqlite3.tar.gz" ]; then
    tar xzf "$work/sqlite3.tar.gz" -C "$work"
  fi
  find "$work" -name 'sqlite3*.[ch]' -exec mv {} "$folder" \;
  rm -r "$work"
  grep -q "define SQLITE_VERSION  *\"$version\"" "$folder/sqlite3.h"
}

release_with() {
  case $1 in
    3.26.0) echo 5.4.0 ;;
    3.31.1) echo 7.0.0 ;;
    3.37.2) echo 7.5.0 ;;
    3.40.0) echo 8.0.0 ;;
    3.44.2) echo 9.2.0 ;;
    3.53.2) echo 12.11.1 ;;
    3.54.1) echo 13.2.0 ;;
    *)
      echo "no package is known that has SQLite $1" >&2
      return 1
      ;;
  esac
}
