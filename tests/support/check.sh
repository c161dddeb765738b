# shellcheck shell=bash
# Counts what passed and what failed, for scripts that run many tests; to be sourced:
#   check NAME COMMAND...               runs a command as one test
#   record_failure NAME                 counts a test that failed
#   side_by_side FUNCTION FOLDER X...   runs FUNCTION X for each X, as many at a time as there are
#                                       processors; the output goes to FOLDER/X.log
#   is_offline                          succeeds if the name of npm's registry cannot be resolved
#   add_up PART LOG                     shows the log of a script and adds its counts
#   conclude                            a line "failed: NAME" for each failed test, then
#                                       "N passed, N failed"; fails if any test failed

passed=0
failed=0
failures=()

record_failure() {
  failed=$((failed + 1))
  failures+=("$1")
}

# Shows the output of the command if the command fails. Shows the reason if the command skipped a
# test: it then exits with status 77, or prints lines "skipped: ...".
check() {
  local name=$1 output status=0
  shift
  output=$("$@" 2>&1) || status=$?
  case $status in
    0)
      passed=$((passed + 1))
      echo "  ok      $name"
      sed -n 's/^skipped: /          skipped: /p' <<< "$output"
      ;;
    77) echo "  skipped $name: ${output##*$'\n'}" ;;
    *)
      record_failure "$name"
      echo "  FAILED  $name"
      tail -n 100 <<< "$output"
      ;;
  esac
}

is_offline() { ! getent hosts registry.npmjs.org > /dev/null; }

conclude() {
  if [ ${#failures[@]} -gt 0 ]; then
    printf 'failed: %s\n' "${failures[@]}"
  fi
  echo "$passed passed, $failed failed"
  [ "$failed" -eq 0 ]
}

# Prints a line when a part starts, and the counts and seconds of the part when it ends. The empty
# element at the end of the list makes the loop wait for all parts.
side_by_side() {
  local function=$1 folder=$2 each process
  local -A running=() starts=()
  shift 2
  for each in "$@" ''; do
    while [ ${#running[@]} -ge "$(getconf _NPROCESSORS_ONLN)" ] || { [ -z "$each" ] && [ ${#running[@]} -gt 0 ]; }; do
      wait -n -p process "${!running[@]}" || true
      add_up "${running[$process]}" "$folder/${running[$process]}.log" "$((SECONDS - starts[$process]))"
      unset "running[$process]"
    done
    if [ -n "$each" ]; then
      echo "-- $each starts"
      counted "$function" "$each" > "$folder/$each.log" 2>&1 &
      running[$!]=$each
      starts[$!]=$SECONDS
    fi
  done
}

counted() {
  passed=0 failed=0 failures=()
  "$@"
  conclude
}

# add_up PART LOG [SECONDS]: the part has failed if its log does not end with the counts.
add_up() {
  local part=$1 log=$2 time=${3:+, $3 s} passes failed_here names
  if read -r passes failed_here < <(sed -nE '$s/^([0-9]+) passed, ([0-9]+) failed$/\1 \2/p' "$log"); then
    mapfile -t names < <(tac "$log" | sed -n '1d; /^failed: /!q; s/^failed: //p' | tac)
    head -n "-$((1 + ${#names[@]}))" "$log"
    [ "$failed_here" -eq 0 ] || [ ${#names[@]} -gt 0 ] || names=("$failed_here of its checks, shown above")
    echo "== $part: $passes passed, $failed_here failed$time"
  else
    cat "$log"
    passes=0 failed_here=1 names=("did not finish")
    echo "== $part: did not finish$time"
  fi
  passed=$((passed + passes))
  failed=$((failed + failed_here))
  [ ${#names[@]} -eq 0 ] || failures+=("${names[@]/#/"$part: "}")
}
