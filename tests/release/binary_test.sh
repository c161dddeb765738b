#!/usr/bin/env bash
# The shared object exports only the entry point under its two names, has position-independent code, and
# depends only on the libraries of the compiler, in versions that RHEL 8, Debian 10 and Ubuntu 18.04 have.
#   tests/release/binary_test.sh EXTENSION
# The test of library versions is skipped, with exit status 77, where the C library is newer than
# Debian 12's: the compiler then uses newer symbols, and releases are not built there.
set -euo pipefail
# readelf translates its output.
export LC_ALL=C
extension=$1

expect() {
  local what=$1 wanted=$2 got=$3
  if [ "$wanted" != "$got" ]; then
    printf '%s: wanted\n%s\ngot\n%s\n' "$what" "$wanted" "$got"
    exit 1
  fi
}

expect "exported symbols" $'sqlite3_bloom_init\nsqlite3_modbloom_init' \
  "$(nm -D --defined-only "$extension" | awk '{print $3}' | sort)"
expect "text relocations" "" "$(readelf -d "$extension" | grep TEXTREL || true)"
others=$(readelf -d "$extension" | sed -n 's/.*Shared library: \[\(.*\)\]/\1/p' |
  grep -vE '^(libc|libm|libstdc\+\+|libgcc_s|ld-linux[^.]*)\.so' || true)
expect "other dependencies" "" "$others"

# Symbols that need a newer library than NEWEST (as in GLIBC_2.31), with the version that they need.
symbols_after() {
  local newest=$1 symbol version
  objdump -T "$extension" |
    sed -nE "s/.*\\*UND\\*.*\\(?(${newest%_*}_[0-9.]+)\\)? +(.*)/\\2 \\1/p" |
    while read -r symbol version; do
      printf '%s\n' "$version" "$newest" | sort -V -C || echo "$symbol needs $version"
    done
}
here=$(getconf GNU_LIBC_VERSION | cut -d ' ' -f 2)
if ! printf '%s\n' "$here" 2.36 | sort -V -C; then
  echo "one entry point, no text relocations, no other dependency; symbol versions need glibc 2.36 or older, here is $here"
  exit 77
fi
for newest in GLIBC_2.24 GLIBCXX_3.4.22 CXXABI_1.3.10 GCC_7.0.0; do
  expect "symbols of libraries after $newest" "" "$(symbols_after "$newest")"
done
echo "one entry point, no text relocations, no other dependency, none too new"
