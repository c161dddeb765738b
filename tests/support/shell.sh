# shellcheck shell=bash
# Runs SQL from standard input in the sqlite3 shell with the extension loaded. Prints results and
# errors in their order:
#   run_sql EXTENSION [DATABASE] < SCRIPT    DATABASE: in memory by default
# The output is the same for all versions of the shell: errors have no line numbers and do not repeat
# the statement, and plans are reduced by plain_plans. BLOOM_PRELOAD names the runtime library of the
# sanitizers, which must be loaded before an extension that uses them.
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

# Reduces query plans to what all versions of SQLite print: which tables are read, in which order,
# and how. Old versions (3.31) print "SCAN TABLE files AS f" for "SCAN f" and do not mark a LEFT JOIN.
# New versions (3.54) may run EXISTS as a join instead of a subquery.
plain_plans() {
  sed -E '/^[| ]*[|`]--/ {
    s/^[| ]*[|`]--//
    /^CORRELATED SCALAR SUBQUERY/d
    s/^(SCAN|SEARCH) TABLE ([^ ]+ AS )?/\1 /
    s/ (LEFT-JOIN|EXISTS)( |$)/\2/
  }'
}

# Runs a script that contains its expected output in lines that begin with "--> ". Prints the script
# with the actual output of each statement below the statement, in such lines.
#   run_script EXTENSION [DATABASE] < SCRIPT
# A statement ends with a semicolon at the end of a line, so the body of a trigger must be one line.
# Does not run .print, because the script already shows its text.
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
