# shellcheck shell=bash
# What tests/CMakeLists.txt runs through the sqlite3 shell, for another shell; needs check.sh.
#   check_sql_scripts EXTENSION
# Without examples/space_and_time.sql, which only calculates, in a mode that tests/support/shell.cc
# does not have.
check_sql_scripts() {
  local script
  for script in tests/sql/*.sql examples/{pre_checks,summaries,log_search}.sql; do
    check "$script" tests/sql/script_test.sh "$1" "$script"
  done
}
