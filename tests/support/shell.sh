# shellcheck shell=bash
# Runs SQL from standard input through the sqlite3 shell with the extension loaded, results and
# errors in the order in which they come:
#   run_sql EXTENSION [DATABASE] < SCRIPT    in memory where no database is given
# Errors have the same form in all versions of the shell: without line numbers, and without the statement
# that some versions repeat below them. So have plans (plain_plans). An extension with sanitizers needs their
# runtime loaded first: BLOOM_PRELOAD names it.
run_sql() {
  # The shell buffers results but not errors; stdbuf keeps them in order.
  LD_PRELOAD=${BLOOM_PRELOAD:-} stdbuf -oL "${SQLITE3:-sqlite3}" -batch -init /dev/null \
    -cmd ".load $1" "${2:-:memory:}" 2>&1 |
    awk '/^-- Loading resources from/ { next }
         /^([A-Z][a-z]+ )?[Ee]rror(:| )(near )?/ && /near line [0-9]+: / {
           sub(/^.*near line [0-9]+: /, "Error: "); print; after_error = 1; next
         }
         after_error && /^  / { next }
         { after_error = 0; print }' |
    plain_plans
}

# Brings the plans in a text to what all versions of SQLite say: which tables are read, in which
# order, and how. Old ones (3.31) say "SCAN TABLE files AS f" for "SCAN f" and do not mark a LEFT JOIN,
# and new ones (3.54) may make a join of EXISTS instead of a subquery.
plain_plans() {
  sed -E '/^[| ]*[|`]--/ {
    s/^[| ]*[|`]--//
    /^CORRELATED SCALAR SUBQUERY/d
    s/^(SCAN|SEARCH) TABLE ([^ ]+ AS )?/\1 /
    s/ (LEFT-JOIN|EXISTS)( |$)/\2/
  }'
}

# Runs a script that holds its own expected output: prints the script with the output of each
# statement below it, each line after "--> ". Lines of the script that begin so are left out first.
#   run_script EXTENSION [DATABASE] < SCRIPT
# A statement ends with a semicolon at the end of a line; the body of a trigger stays in one line.
# Does not run .print: the script has that text already.
run_script() {
  local script
  script=$(grep -v '^-->' || true)
  # After each statement the shell prints how many lines of the script it has read. The shell fails
  # after a script with an error, which may be the expected one.
  awk '/^\.print / { next }
       { print }
       /^\./ && !statement || /;( *--.*)?$/ { print ".print @line " NR; statement = 0; next }
       !/^(--|$)/ { statement = 1 }' <<< "$script" |
    { run_sql "$@" || true; } |
    awk 'FNR == NR { script[++lines] = $0; next }
         function copy_to(last) { while (copied < last) print script[++copied] }
         /^@line / { copy_to($2); printf "%s", output; output = ""; next }
         { sub(/ +$/, ""); output = output "--> " $0 "\n" }
         END { copy_to(lines); printf "%s", output }' <(echo "$script") -
}
