#!/usr/bin/env bash
# Builds the page of examples/playground, clicks through it in Chromium, Firefox and WebKit, and compares
# what it says with the extension. Installs what is missing (emscripten and the browsers: more than a
# gigabyte), asks nothing, and ends with "N passed, N failed".
#   tests/playground/run.sh             pictures of the page go to build/playground/pictures
#   tests/playground/run.sh pictures    and to docs/playground
#   tests/playground/run.sh NAME...     in chromium, firefox or webkit only
set -euo pipefail
cd "$(dirname "$0")/../.."
source tests/support/setup.sh
source tests/support/check.sh
source tests/support/extension.sh
source tests/support/browser.sh

build=build/playground

# The page itself says what it may load, and from where.
is_one_file() {
  ! grep -nE '(src|href)="[^#]' <(sed '/<script type=/,/<\/script>/d' "$build/index.html") | grep -v 'href="data:'
}

main() {
  local name browsers=("$@")
  case ${1:-pictures} in pictures) browsers=(chromium firefox webkit) ;; esac
  install_missing g++ cmake make libsqlite3-dev python3
  install_browsers "${browsers[@]}"
  mkdir -p "$build"
  check "the extension builds" build_release bloom
  check "the page builds" examples/playground/build.sh
  check "the page loads nothing else" is_one_file
  check "the modules of the test" install_modules
  for name in "${browsers[@]}"; do
    test_in_browser "$name" "the page" "$build/$name.log" \
      tests/playground/run.mjs "$build/index.html" build/release/bloom.so "$browser_modules" "$build/pictures"
  done
  if [ "${1:-}" = pictures ]; then
    mkdir -p docs/playground
    cp "$build"/pictures/*.png docs/playground/
  fi
  conclude
}

main "$@"
