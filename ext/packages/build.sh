#!/usr/bin/env bash
# Compiles the extension and makes its packages: Debian packages, archives, Python wheels and sdist, npm
# packages and sqlpkg.json. Installs missing tools without prompting, prints the step that runs, and ends with a
# table of the platforms and the paths of the packages.
#   ext/packages/build.sh [PLATFORM...] [ADDRESS]
#     no PLATFORM      this machine's, in build/packages
#     wasm             the npm package sqlite-bloom-wasm alone, in build/wasm
#     all, PLATFORM... all that ext/packages/compile.sh knows, or these, in build/platforms
#     ADDRESS          URL of the folder where the files will be published, for sqlpkg.json. Default:
#                      the local output folder
# The packages of one commit are the same bytes each time. Their files have the time SOURCE_DATE_EPOCH,
# by default that of the commit.
set -euo pipefail
cd "$(dirname "$0")/../.."
source tests/support/setup.sh
source ext/packages/compile.sh
source ext/packages/wasm/compile.sh

native=linux-$(uname -m)
requested=()
address=
for argument in "$@"; do
  case $argument in
    *://*) address=$argument ;;
    all) requested+=("${all_platforms[@]}") ;;
    *) requested+=("$argument") ;;
  esac
done
out=$PWD/build/packages
[ ${#requested[@]} -eq 0 ] || out=$PWD/build/platforms
[ "${requested[*]}" != wasm ] || out=$PWD/build/wasm
platforms=("${requested[@]:-$native}")
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2> /dev/null || echo 315532800)}
BLOOM_COMMIT=${BLOOM_COMMIT:-$(git rev-parse --short=12 HEAD 2> /dev/null || true)}
export SOURCE_DATE_EPOCH BLOOM_COMMIT LC_ALL=C.UTF-8

pack() { /usr/bin/python3 -B ext/packages/pack.py "$out" "${address:-file://$out}" "${platforms[@]}"; }

amalgamation() { ext/packages/amalgamation.py "$out/amalgamation"; }

checksums() { (cd "$out" && sha256sum -- *.{deb,gz,zip,tgz,whl,json} > SHA256SUMS); }

# Runs a step. Its output goes to a log, which is shown if the step fails.
run() {
  log=$out/$1.log
  echo "$1${2:+ $2} ($SECONDS s)"
  "$@" > "$log" 2>&1
}

build_platforms() {
  local platform
  # shellcheck disable=SC2046 # names of packages hold no blanks
  install_missing binutils python3 libsqlite3-dev $(tools_of "${platforms[@]}")
  for platform in "${platforms[@]}"; do
    run compile "$platform" "$out"
    case $platform in
      linux-*-musl) ;;
      linux-*) run debian_packages "$platform" "$out" ;;
    esac
  done
  run amalgamation
  run pack
  printf '%-20s%s\n' "platform" "compatible with"
  for platform in "${platforms[@]}"; do
    printf '%-20s%s\n' "$platform" "$(ext/packages/platform_tag.py "$out/$platform"/loadable/bloom.*)"
  done
}

build_wasm() {
  # shellcheck disable=SC2046 # names of packages hold no blanks
  install_missing python3 $(wasm_tools)
  run wasm_compile "$out"
  run pack
}

main() {
  mkdir -p "$out"
  shopt -s nullglob
  rm -f "$out"/*.{deb,gz,zip,tgz,whl,json} "$out/SHA256SUMS"
  exec 3>&2
  trap '[ "$?" -eq 0 ] || cat "${log:-/dev/null}" >&3' EXIT
  if [ "${requested[*]}" = wasm ]; then build_wasm; else build_platforms; fi
  run checksums
  echo "Packages, with their checksums in SHA256SUMS:"
  ls "$out"/*.{deb,gz,zip,tgz,whl,json}
  echo "docs/install.md says how to install each, and on which platforms they were tested."
}

main
