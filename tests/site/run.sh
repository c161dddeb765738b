#!/usr/bin/env bash
# Builds the site of docs/site and clicks through it in Chromium: navigation, search, dark mode, every link, axe-core.
# Installs what is missing, asks nothing, and ends with "N passed, N failed".
# Leaves pictures of the site in build/site/pictures.
set -euo pipefail
cd "$(dirname "$0")/../.."
source tests/support/setup.sh
source tests/support/check.sh
source tests/support/browser.sh

build=build/site
# As a forge serves the pages of a project; an address without the base leads nowhere.
base=/sqlite-bloom/

main() {
  local log=$build/run.log
  install_browsers chromium
  mkdir -p "$build"
  check "the site builds" docs/site/build.sh "$base"
  check "the modules of the test" install_modules
  node tests/site/run.mjs "$build/html" "$base" "$build/pages/.vitepress/menu.json" "$browser_modules" \
    "$build/pictures" > "$log" 2>&1 || true
  add_up "the site in Chromium" "$log"
  conclude
}

main "$@"
