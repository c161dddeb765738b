# shellcheck shell=bash
# Runs the SQL scripts of tests/CMakeLists.txt in another shell than sqlite3. Needs check.sh.
#   check_sql_scripts EXTENSION
# Leaves out examples/space_and_time.sql, which only calculates and uses an output mode that
# tests/support/shell.cc lacks.
check_sql_scripts() {
  local script
  for script in tests/sql/*.sql examples/{pre_checks,summaries,log_search,tour}.sql; do
    check "$script" tests/sql/script_test.sh "$1" "$script"
  done
}
