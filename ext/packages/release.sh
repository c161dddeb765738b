#!/usr/bin/env bash
# Makes everything that a release publishes, in build/release-VERSION, and publishes nothing.
#   ext/packages/release.sh VERSION [ADDRESS] [--untested]
#     VERSION      must be that of CMakeLists.txt and the first of CHANGELOG.md, with a date
#     ADDRESS      URL from which the files will be downloaded. Default: that of a release on GitHub
#     --untested   leaves out tests/run.sh all, for a rehearsal
# Needs a clean clone on x86-64 Debian 12 or later, and installs missing packages without prompting.
# The same commit makes the same bytes, also in another folder. publish.sh in the result uploads them.
set -euo pipefail
# Archives hold the permissions of the files that they pack.
umask 022
cd "$(dirname "$0")/../.."
source tests/support/setup.sh

fail() {
  echo "ext/packages/release.sh: $*" >&2
  exit 1
}

version=${1:-}
[[ $version =~ ^[0-9]+\.[0-9]+\.[0-9]+$ ]] || fail "the first argument is the version, as 1.2.3"
shift
homepage=$(sed -n 's/^ *HOMEPAGE_URL "\(.*\)")$/\1/p' CMakeLists.txt)
address=$homepage/releases/download/v$version
tested=yes
for argument in "$@"; do
  case $argument in
    *://*) address=$argument ;;
    --untested) tested= ;;
    *) fail "unknown argument: $argument" ;;
  esac
done
out=$PWD/build/release-$version

# The text of CHANGELOG.md about the version, without its heading.
notes() {
  awk -v heading="## $version " '/^## / { on = index($0, heading) == 1; next } on' CHANGELOG.md |
    sed -E "s@\]\((docs/|[A-Z]+\.md)@]($homepage/blob/v$version/\1@g"
}

check_state() {
  grep -q "^project(sqlite-bloom VERSION $version " CMakeLists.txt || fail "CMakeLists.txt has another version"
  grep -m 1 '^## ' CHANGELOG.md | grep -Eq "^## ${version//./\\.} \([0-9]{4}-[0-9]{2}-[0-9]{2}\)$" ||
    fail "the first heading of CHANGELOG.md must be: ## $version ($(date +%F))"
  [ -z "$(git status --porcelain)" ] || fail "there are changes that are not committed: git status"
}

build() {
  ext/packages/build.sh all "$address"
  ext/packages/build.sh wasm
  rm -rf "$out"
  mkdir -p "$out"
  cp build/platforms/*.{deb,gz,zip,tgz,whl,json} build/wasm/*.tgz "$out"
  source_packages
  notes > "$out/notes.md"
  cp ext/packages/publish.sh "$out"
  ext/packages/sbom.py "$out" > "$out/sqlite-bloom-$version.cdx.json"
  (cd "$out" && sha256sum -- * > SHA256SUMS)
}

# The amalgamation as an archive, and Debian's source package, which dpkg-buildpackage builds.
source_packages() {
  local work=build/release-work archive="$out/sqlite-bloom-amalgamation-$version.zip"
  SOURCE_DATE_EPOCH=$(git log -1 --format=%ct)
  BLOOM_COMMIT=$(git rev-parse --short=12 HEAD)
  export SOURCE_DATE_EPOCH BLOOM_COMMIT
  rm -rf "$work"
  mkdir -p "$work/sqlite-bloom-$version"
  git -c tar.umask=022 archive HEAD | tar x -C "$work/sqlite-bloom-$version"
  ext/packages/debian.py source "$work/sqlite-bloom-$version"
  (cd "$work" && dpkg-source --build "sqlite-bloom-$version")
  mv "$work"/sqlite-bloom_"$version".{dsc,tar.xz} "$out"
  cp LICENSE build/platforms/amalgamation
  touch -d "@$SOURCE_DATE_EPOCH" build/platforms/amalgamation/{bloom.cc,bloom.h,LICENSE}
  (cd build/platforms/amalgamation && TZ=UTC zip -X -q "$archive" bloom.cc bloom.h LICENSE)
}

check_state
install_missing dpkg-dev python3 zip
[ -z "$tested" ] || tests/run.sh all
build
check_state
echo "The release is in $out:"
ls "$out"
