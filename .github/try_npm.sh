#!/usr/bin/env bash
# Installs the npm packages of a release on this machine, and uses the file that npm chose.
#   .github/try_npm.sh FOLDER    the folder of the packages
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
release=$(cd "$1" && pwd)
mkdir -p "$root/build/try"
cd "$root/build/try"
node - "$release" << 'END_OF_SCRIPT' > package.json
const { readdirSync } = require("node:fs");
const release = process.argv[2];
const names = readdirSync(release).filter((name) => /^sqlite-bloom-.*\.tgz$/.test(name));
const files = Object.fromEntries(names.map((name) => [name.replace(/-\d.*/, ""), `file:${release}/${name}`]));
const { "sqlite-bloom": base, "sqlite-bloom-wasm": wasm, ...platforms } = files;
console.log(JSON.stringify({ dependencies: { "sqlite-bloom": base }, optionalDependencies: platforms }));
END_OF_SCRIPT
npm install --no-audit --no-fund
node "$root/.github/load.mjs" "$(node -p 'require("sqlite-bloom").getLoadablePath()')"
