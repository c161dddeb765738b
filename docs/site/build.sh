#!/usr/bin/env bash
# Builds the site: README.md and docs/ as HTML with navigation, search and the playground. Installs what is
# missing, VitePress from npm among it, asks nothing.
#   docs/site/build.sh [BASE]    gives build/site/html; any static server can serve it as BASE ("/" when not given)
set -euo pipefail
cd "$(dirname "$0")/../.."
source tests/support/setup.sh

here=docs/site
build=$PWD/build/site
pages=$build/pages

install_vitepress() {
  cmp -s "$here/package-lock.json" "$build/installed.json" && return
  cp "$here"/package*.json "$build"
  npm install --silent --no-audit --no-fund --prefix "$build"
  cp "$here/package-lock.json" "$build/installed.json"
}

write_pages() {
  rm -rf "$pages"
  mkdir -p "$pages/.vitepress" "$pages/public"
  python3 -B "$here/pages.py" "$pages"
  cp -r "$here/config.mjs" "$here/theme" "$pages/.vitepress"
  cp "$here/playground.md" "$pages"
  cp build/playground/index.html "$pages/public/playground-app.html"
}

main() {
  install_missing python3
  command -v npm > /dev/null || install_missing nodejs npm
  mkdir -p "$build"
  [ -e build/playground/index.html ] || examples/playground/build.sh
  install_vitepress
  write_pages
  SITE_BASE=${1:-/} "$build/node_modules/.bin/vitepress" build "$pages" --outDir "$build/html"
  echo "$build/html: $(du -sh "$build/html" | cut -f 1)"
}

main "$@"
