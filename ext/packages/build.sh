#!/usr/bin/env bash
# Builds every package of this machine's platform into build/packages: Debian packages, archives, a
# Python wheel, npm packages and sqlpkg.json. Installs missing tools without prompting, prints the step
# that runs, and ends with the paths of the packages.
#   ext/packages/build.sh [ADDRESS]    ADDRESS: URL of the folder where the files will be published,
#                                      for sqlpkg.json. Default: the local output folder
set -euo pipefail
cd "$(dirname "$0")/../.."
source tests/support/setup.sh

address=${1:-file://$PWD/build/packages}
packages=$PWD/build/packages
tree=$packages/tree
templates=$tree/ext/packages
loadable=$packages/loadable

# Debian packages use Debian's folders, other packages the usual ones. One build tree serves both, so
# nothing is compiled twice.
configure() {
  cmake -S . -B "$tree" -DCMAKE_BUILD_TYPE=Release -DBLOOM_TESTS=OFF \
    -DBLOOM_RELEASES="$address" -DCMAKE_INSTALL_PREFIX=/usr "$@"
}

build() {
  configure -DCMAKE_INSTALL_LIBDIR=lib -DCMAKE_INSTALL_DOCDIR=share/doc/sqlite-bloom
  cmake --build "$tree" --target bloom sqlite_bloom -j "$(getconf _NPROCESSORS_ONLN)"
}

cpack_as() { (cd "$tree" && cpack -G "$1" -B "$packages/cpack" && mv "$packages"/cpack/*."$2" "$packages"); }

archive() { cpack_as TGZ tar.gz; }

deb() {
  configure -DCMAKE_INSTALL_LIBDIR="lib/$(dpkg-architecture -qDEB_HOST_MULTIARCH)" -DCMAKE_INSTALL_DOCDIR=share/doc/libsqlite3-mod-bloom
  cpack_as DEB deb
}

# The stripped module, which the other packages contain.
strip_module() {
  mkdir -p "$loadable"
  strip --strip-unneeded -o "$loadable/bloom.so" "$tree/bloom.so"
  cp LICENSE "$loadable"
}

sqlpkg() {
  local name sum
  name=$(sed -n 's/.*": "\(.*-loadable-.*\.tar\.gz\)" },*/\1/p' "$templates/sqlpkg.json")
  tar czf "$packages/$name" -C "$loadable" bloom.so LICENSE
  sum=$(sha256sum "$packages/$name" | cut -d ' ' -f 1)
  sed "s/SHA256/$sum/" "$templates/sqlpkg.json" > "$packages/sqlpkg.json"
}

# filled FOLDER: copies FOLDER of ext/packages to build/packages, with its templates filled in.
filled() {
  rm -rf "${packages:?}/$1"
  mkdir -p "$packages/$1"
  cp -r "ext/packages/$1/." "$packages/$1"
  find "$packages/$1" -name '*.in' -delete
  cp -r "$templates/$1/." "$packages/$1"
}

# Prints the platform tag of the wheel, which installers check. It names the newest glibc version that
# the module requires.
wheel_tag() {
  local newest
  newest=$(objdump -T "$loadable/bloom.so" | sed -n 's/.*(GLIBC_\([0-9.]*\)).*/\1/p' | sort -V | tail -n 1)
  echo "manylinux_${newest/./_}_$(uname -m)"
}

wheel() {
  filled python
  cp README.md LICENSE "$packages/python"
  cp "$loadable/bloom.so" "$packages/python/sqlite_bloom"
  printf '[bdist_wheel]\npython_tag = py3\nplat_name = %s\n' "$(wheel_tag)" > "$packages/python/setup.cfg"
  /usr/bin/python3 -m pip wheel --no-build-isolation --no-deps --no-index -w "$packages" "$packages/python"
}

npm_packages() {
  local folder
  filled npm
  cp "$loadable/bloom.so" "$packages/npm/platform"
  for folder in base platform; do
    cp LICENSE "$packages/npm/$folder"
    npm pack --silent --pack-destination "$packages" "$packages/npm/$folder"
  done
}

main() {
  install_missing g++ cmake make libsqlite3-dev binutils dpkg-dev file python3 python3-pip python3-setuptools python3-wheel
  command -v npm > /dev/null || install_missing npm
  rm -rf "$packages"/*.{deb,gz,tgz,whl,json} "$packages/cpack"
  mkdir -p "$packages"
  exec 3>&2
  trap '[ "$?" -eq 0 ] || cat "$packages/$step.log" >&3' EXIT
  for step in build archive deb strip_module sqlpkg wheel npm_packages; do
    echo "$step ($SECONDS s)"
    "$step" > "$packages/$step.log" 2>&1
  done
  (cd "$packages" && sha256sum ./*.{deb,gz,tgz,whl,json} > SHA256SUMS)
  echo "Packages, with their checksums in SHA256SUMS:"
  ls "$packages"/*.{deb,gz,tgz,whl,json}
  echo "docs/packages.md says how to install each."
}

main
