#!/usr/bin/env bash
# Builds the npm package sqlite-bloom-wasm, installs it in an empty folder, and tests it in Node and in pages of
# Chromium, Firefox and WebKit. Runs the program of docs/embedding.md, and compares databases and filters with the
# extension. Works in build/wasm, installs what is missing (emscripten and the browsers: more than a
# gigabyte) without prompting, and ends with "N passed, N failed".
set -euo pipefail
cd "$(dirname "$0")/../.."
source tests/support/setup.sh
source tests/support/check.sh
source tests/support/extension.sh
source tests/support/page.sh
source tests/support/browser.sh

root=$PWD
page=$root/docs/embedding.md
out=$root/build/wasm
folder=$out/installed

# Compiles everything again, in another folder.
same_bytes_twice() {
  local again=$root/build/wasm-again
  rm -rf "$again"
  mkdir -p "$again"
  git ls-files -z | xargs -0 cp --parents -t "$again" &&
    (cd "$again" && SOURCE_DATE_EPOCH=$(git -C "$root" log -1 --format=%ct) ext/packages/build.sh wasm) &&
    diff "$out/SHA256SUMS" "$again/build/wasm/SHA256SUMS" && rm -rf "$again"
}

installs() {
  rm -rf "$folder"
  mkdir -p "$folder"
  cp tests/release/wasm/checks.mjs "$folder"
  (cd "$folder" && echo '{}' > package.json && npm install --silent --no-audit --no-fund "$out"/sqlite-bloom-wasm-*.tgz)
}

# The program of the page, and what the page says it prints.
documented_program_works() {
  section webassembly | block js > "$folder/program.mjs"
  diff <(section webassembly | block text) <(cd "$folder" && node program.mjs)
}

# The declarations name what the module exports.
types_name_the_exports() {
  diff <(cd "$folder" && node -e 'import("sqlite-bloom-wasm").then((module) => console.log(Object.keys(module).sort().join("\n")))') \
    <(sed -nE 's/^export (class|function) (\w+).*/\2/p' ext/packages/wasm/index.d.ts | sort)
}

main() {
  local name browsers=(chromium firefox webkit) log=$out/node.log
  install_missing g++ cmake make sqlite3 libsqlite3-dev python3
  install_browsers "${browsers[@]}"
  check "the extension builds" build_release bloom
  check "the package is built" ext/packages/build.sh wasm
  check "two runs make the same bytes" same_bytes_twice
  check "installs" installs
  check "the program of docs/embedding.md" documented_program_works
  check "the types name the exports" types_name_the_exports
  (cd "$folder" && node "$root/tests/release/wasm/node.mjs" "$root/build/release/bloom" "$root") > "$log" 2>&1 || true
  add_up "Node" "$log"
  check "the modules of the test" install_modules
  for name in "${browsers[@]}"; do
    test_in_browser "$name" "a page" "$out/$name.log" tests/release/wasm/browser.mjs "$folder" "$browser_modules"
  done
  conclude
}

main "$@"
