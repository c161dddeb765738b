#!/usr/bin/env bash
# Builds all packages with ext/packages/build.sh, and installs and uses each in its own environment: a
# Python environment, an npm folder, an unpacked archive, a Debian root. Installs missing packages
# without prompting, and ends with "N passed, N failed".
set -euo pipefail
cd "$(dirname "$0")/../.."
source tests/support/setup.sh
source tests/support/check.sh

packages=$PWD/build/packages
work=$packages/work
version=$(sed -n 's/^project(sqlite-bloom VERSION \([0-9.]*\).*/\1/p' CMakeLists.txt)
question="SELECT bloom_version(), bloom_contains(bloom_build('a'), 'a')"

# expect WANTED COMMAND...
expect() {
  local wanted=$1 got
  shift
  got=$("$@")
  [ "$got" = "$wanted" ] || {
    printf 'wanted %s\ngot    %s\n' "$wanted" "$got"
    return 1
  }
}

# Unpacks the archive in another folder than the one it was built for.
unpack() {
  tar xzf "$packages"/sqlite-bloom-"$version"-linux-*.tar.gz -C "$work"
  mv "$work/sqlite-bloom-$version"-linux-* "$work/unpacked"
}

loads_from_archive() {
  expect "$version|1" sqlite3 -init /dev/null -cmd ".load $work/unpacked/lib/sqlite3/bloom" :memory: "$question" &&
    expect "$version|1" sqlite3 -init /dev/null -cmd ".load $work/unpacked/lib/mod_bloom" :memory: "$question"
}

loads_from_loadable_archive() {
  mkdir -p "$work/loadable"
  tar xzf "$packages"/sqlite-bloom-"$version"-loadable-linux-*.tar.gz -C "$work/loadable" &&
    expect "$version|1" sqlite3 -init /dev/null -cmd ".load $work/loadable/bloom" :memory: "$question"
}

installs_by_cmake() {
  cmake --install "$packages/linux-$(uname -m)/tree" --prefix "$work/installed" &&
    find "$work/installed" -name mod_bloom.so | grep .
}

# builds_by_cmake PREFIX: builds examples/embed with the package there. Any path must work.
builds_by_cmake() {
  local built=$1/embed
  cmake -S examples/embed -B "$built" -DCMAKE_PREFIX_PATH="$1" && cmake --build "$built" &&
    grep -F "sqlite-bloom_DIR:PATH=$1/" "$built/CMakeCache.txt" &&
    expect "$version|1" "$built/embed" "$question" &&
    "$built/core_example" "$built/three.bloom" apple
}

builds_by_pkg_config() {
  export PKG_CONFIG_PATH=$work/unpacked/lib/pkgconfig
  # shellcheck disable=SC2046
  gcc examples/embed/embed.c $(pkg-config --cflags --libs sqlite-bloom sqlite3) -o "$work/embedded" &&
    expect "$version" pkg-config --modversion sqlite-bloom &&
    expect "$version|1" "$work/embedded" "$question"
}

works_in_python() {
  /usr/bin/python3 -m venv "$work/venv" &&
    "$work/venv/bin/pip" install --no-index "$packages"/sqlite_bloom-*.whl &&
    (cd "$work" && expect "('$version', 1)" venv/bin/python -c "
import sqlite3, sqlite_bloom
db = sqlite3.connect(':memory:')
sqlite_bloom.load(db)
print(db.execute(\"$question\").fetchone())") &&
    expect "Version: $version" grep '^Version:' "$work"/venv/lib/python3*/site-packages/sqlite_bloom-*/METADATA
}

works_in_node() {
  mkdir -p "$work/node"
  (
    cd "$work/node" && echo '{}' > package.json &&
      { npm install --silent --no-audit --no-fund "$packages"/sqlite-bloom*-"$version".tgz libsql@0.5 || {
        is_offline && echo "npm cannot fetch libsql (no network)" && exit 77
        exit 1
      }; } &&
      expect "[ '$version', 1 ]" node -e "
const db = new (require('libsql'))(':memory:');
require('sqlite-bloom').load(db);
console.log(db.prepare(\"$question\").raw().get());"
  )
}

# Deno installs the packages of both C libraries, and would ask for a permission to tell which it needs. A file
# that does not load stands for the first.
npm_package_asks_deno_for_nothing() {
  local modules=$work/deno/node_modules
  mkdir -p "$work/deno"
  cp -r "$work/node/node_modules" "$modules" || return
  cp -r "$modules"/sqlite-bloom-linux-* "$(echo "$modules"/sqlite-bloom-linux-*)-musl" &&
    echo > "$(echo "$modules"/sqlite-bloom-linux-*[0-9])/bloom.so" &&
    (
      cd "$work/deno" && expect "[ '$version', 1 ]" node -e "
const db = new (require('libsql'))(':memory:');
globalThis.Deno = {};
Object.defineProperty(process, 'report', { get() { throw new Error('asks for a permission'); } });
require('sqlite-bloom').load(db);
console.log(db.prepare(\"$question\").raw().get());"
    )
}

# Every file that sqlpkg.json names exists, with the checksum that it names.
sqlpkg_is_right() {
  /usr/bin/python3 - "$packages" "$version" << 'END'
import hashlib, json, os, sys
folder, version = sys.argv[1:]
spec = json.load(open(os.path.join(folder, "sqlpkg.json")))
assets = spec["assets"]
assert spec["version"] == version and assets["path"] == "file://" + folder, spec
for name in assets["files"].values():
    digest = hashlib.sha256(open(os.path.join(folder, name), "rb").read()).hexdigest()
    assert assets["checksums"][name] == "sha256-" + digest, name
END
}

builds_by_debian_package() {
  dpkg-deb --extract "$packages"/libsqlite-bloom-dev_*.deb "$work/development" &&
    builds_by_cmake "$work/development/usr"
}

changes_are_told() { grep -F "## $version" CHANGELOG.md; }

# A Debian root with nothing but sqlite3. Needs the right to make one.
works_in_debian() {
  local root=$work/root
  if [ "$(id -u)" -ne 0 ] || ! command -v debootstrap > /dev/null; then
    echo "a clean Debian needs root and debootstrap"
    return 77
  fi
  # shellcheck source=/dev/null
  debootstrap --variant=minbase --include=sqlite3,libstdc++6 "$(. /etc/os-release && echo "$VERSION_CODENAME")" "$root" || {
    echo "debootstrap cannot make a clean Debian here (no network, or a container without the right to do it)"
    return 77
  }
  cp "$packages"/libsqlite3-mod-bloom_*.deb "$root" &&
    chroot "$root" sh -c 'dpkg --install /*.deb' &&
    expect "$version|1" chroot "$root" sqlite3 -cmd '.load mod_bloom' :memory: "$question" &&
    expect $'libsqlite3-mod-bloom\t'"$version" chroot "$root" dpkg-query --show libsqlite3-mod-bloom
}

same_bytes_again() {
  local sums
  sums=$(cat build/packages/SHA256SUMS)
  ext/packages/build.sh && diff <(echo "$sums") build/packages/SHA256SUMS
}

main() {
  install_missing g++ cmake make libsqlite3-dev sqlite3 pkg-config python3-venv debootstrap || true
  command -v npm > /dev/null || install_missing npm || true
  check "packages are built" ext/packages/build.sh
  check "a second run makes the same bytes" same_bytes_again
  rm -rf --one-file-system "$work"
  mkdir -p "$work"
  check "CHANGELOG.md tells of $version" changes_are_told
  check "archive unpacks" unpack
  check "archive: loaded" loads_from_archive
  check "archive of the module alone: loaded" loads_from_loadable_archive
  check "cmake --install" installs_by_cmake
  check "cmake --install: built in by CMake" builds_by_cmake "$work/installed"
  check "archive: built in by CMake" builds_by_cmake "$work/unpacked"
  check "archive: built in by pkg-config" builds_by_pkg_config
  check "sqlpkg.json" sqlpkg_is_right
  check "Python wheel" works_in_python
  check "npm packages" works_in_node
  check "npm packages: nothing asked in Deno" npm_package_asks_deno_for_nothing
  check "Debian package" works_in_debian
  check "Debian package for development: built in by CMake" builds_by_debian_package
  rm -rf --one-file-system "$work/root"
  conclude
}

main
