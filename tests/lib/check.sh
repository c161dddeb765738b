# shellcheck shell=bash
# Counting what passed and what failed, for scripts that run many tests; to be sourced:
#   check NAME COMMAND...               runs a command as one test
#   side_by_side FUNCTION FOLDER X...   runs FUNCTION X for each X, as many at a time as there are
#                                       processors; what it checks and says goes to FOLDER/X.log
#   conclude                            "N passed, N failed"; fails if any did

passed=0
failed=0

# Shows the output of the command only if it fails, or says that it skipped something: by exit
# status 77, or as Python's unittest does.
check() {
  local name=$1 output status=0
  shift
  output=$("$@" 2>&1) || status=$?
  case $status in
    0)
      passed=$((passed + 1))
      echo "  ok      $name$(sed -n 's/^OK \((skipped=[0-9]*)\)$/ \1/p' <<< "$output")"
      ;;
    77) echo "  skipped $name: ${output##*$'\n'}" ;;
    *)
      failed=$((failed + 1))
      echo "  FAILED  $name"
      tail -n 100 <<< "$output"
      ;;
  esac
}

conclude() {
  echo "$passed passed, $failed failed"
  [ "$failed" -eq 0 ]
}

side_by_side() {
  local function=$1 folder=$2 each
  shift 2
  for each in "$@"; do
    while [ "$(jobs -rp | wc -l)" -ge "$(getconf _NPROCESSORS_ONLN)" ]; do
      wait -n || true
    done
    counted "$function" "$each" > "$folder/$each.log" 2>&1 &
  done
  wait
  for each in "$@"; do
    echo "== $each"
    add_up "$folder/$each.log"
  done
}

counted() {
  passed=0 failed=0
  "$@"
  conclude
}

# Shows a log and adds the numbers at its end; a process that did not get so far has failed.
add_up() {
  local passes failures
  if read -r passes failures < <(sed -nE '$s/^([0-9]+) passed, ([0-9]+) failed$/\1 \2/p' "$1"); then
    sed '$d' "$1"
  else
    cat "$1"
    passes=0 failures=1
  fi
  passed=$((passed + passes))
  failed=$((failed + failures))
}
