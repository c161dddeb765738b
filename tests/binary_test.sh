#!/usr/bin/env bash
# The shared object: one exported symbol, position-independent text, no dependency but the
# compiler's own libraries.
#   binary_test.sh EXTENSION
set -euo pipefail
extension=$1

expect() {
  local what=$1 wanted=$2 got=$3
  if [ "$wanted" != "$got" ]; then
    printf '%s: wanted\n%s\ngot\n%s\n' "$what" "$wanted" "$got"
    exit 1
  fi
}

expect "exported symbols" "sqlite3_bloom_init" "$(nm -D --defined-only "$extension" | awk '{print $3}')"
expect "text relocations" "" "$(readelf -d "$extension" | grep TEXTREL || true)"
others=$(readelf -d "$extension" | sed -n 's/.*Shared library: \[\(.*\)\]/\1/p' |
  grep -vE '^(libc|libm|libstdc\+\+|libgcc_s|ld-linux[^.]*)\.so' || true)
expect "other dependencies" "" "$others"
echo "one symbol, no text relocations, no other dependency"
