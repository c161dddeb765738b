# shellcheck shell=bash
# Runs SQL from standard input through the sqlite3 shell with the extension loaded, results and
# errors in the order in which they come:
#   run_sql EXTENSION < SCRIPT
# Errors are brought to one form, without line numbers and without the statement that some versions
# of the shell repeat below them; plans, too (plain_plans). An extension with sanitizers needs their runtime loaded first:
# BLOOM_PRELOAD names it.
run_sql() {
  # The shell buffers results but not errors; stdbuf keeps them in order.
  LD_PRELOAD=${BLOOM_PRELOAD:-} stdbuf -oL "${SQLITE3:-sqlite3}" -batch -init /dev/null \
    -cmd ".load $1" :memory: 2>&1 |
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
