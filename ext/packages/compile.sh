# shellcheck shell=bash
# Compiles the extension for each platform of its packages; to be sourced, from the root:
#   all_platforms               their names
#   tools_of PLATFORM...        the Debian packages that compile() needs
#   compile PLATFORM OUT        puts the file to load into OUT/PLATFORM/loadable, stripped, and, for
#                               Linux with glibc, the whole installation into OUT/PLATFORM/installed
#   debian_packages PLATFORM OUT
#                               makes the Debian packages in OUT, after compile()
# Linux with glibc is built with CMake, the others from the amalgamation with one command. The C++
# library is linked statically there. SQLite's headers are those of this machine.
# shellcheck source=SCRIPTDIR/zig.sh
source "$(dirname "${BASH_SOURCE[0]}")/zig.sh"

# shellcheck disable=SC2034
all_platforms=(linux-x86_64 linux-aarch64 linux-x86_64-musl linux-aarch64-musl windows-x86_64 macos-universal)

tools_of() {
  local platform
  for platform in "$@"; do
    case $platform in
      linux-*-musl) command -v npm > /dev/null || echo npm ;;
      "linux-$(uname -m)") echo g++ cmake make dpkg-dev file ;;
      linux-aarch64) echo g++-aarch64-linux-gnu cmake make dpkg-dev file ;;
      windows-x86_64) echo g++-mingw-w64-x86-64-posix ;;
      macos-universal) echo llvm-16 lld-16 && { command -v npm > /dev/null || echo npm; } ;;
    esac
  done
}

compile() {
  local platform=$1 out=$2 folder=$2/$1
  rm -rf "$folder/loadable" "$folder/installed"
  mkdir -p "$folder/loadable" "$out/sqlite"
  cp /usr/include/sqlite3.h /usr/include/sqlite3ext.h "$out/sqlite"
  case $platform in
    linux-*-musl) compile_musl "${platform#linux-}" "$folder" "$out/sqlite" ;;
    linux-*) compile_glibc "${platform#linux-}" "$folder" "$out/sqlite" ;;
    windows-x86_64) compile_windows "$folder" "$out/sqlite" ;;
    macos-universal) compile_macos "$folder" "$out/sqlite" ;;
    *)
      echo "unknown platform: $platform (one of: ${all_platforms[*]}, all)" >&2
      return 1
      ;;
  esac
}

# configure PROCESSOR FOLDER SQLITE OPTION...: one build tree serves archive and Debian packages, so
# that nothing is compiled twice.
configure() {
  local processor=$1 folder=$2 sqlite=$3 cross=()
  shift 3
  [ "$processor" = "$(uname -m)" ] || cross=(-DCMAKE_SYSTEM_NAME=Linux "-DCMAKE_SYSTEM_PROCESSOR=$processor"
    "-DCMAKE_CXX_COMPILER=$processor-linux-gnu-g++" "-DSQLITE3_INCLUDE_DIR=$sqlite")
  cmake -S . -B "$folder/tree" -DCMAKE_BUILD_TYPE=Release -DBLOOM_TESTS=OFF -DCMAKE_INSTALL_PREFIX=/usr \
    "-DBLOOM_COMMIT=${BLOOM_COMMIT:-}" "${cross[@]}" "$@"
}

compile_glibc() {
  local processor=$1 folder=$2 sqlite=$3
  # Without Debian's files, which debian_packages() has left in the cache of an earlier run.
  configure "$processor" "$folder" "$sqlite" -DCMAKE_INSTALL_LIBDIR=lib -DCMAKE_INSTALL_DOCDIR=share/doc/sqlite-bloom \
    -DBLOOM_DEBIAN_FILES=
  cmake --build "$folder/tree" --target bloom bloom_auto sqlite_bloom -j "$(getconf _NPROCESSORS_ONLN)"
  cmake --install "$folder/tree" --prefix "$folder/installed" --strip
  cp "$folder/installed/lib/sqlite3/bloom.so" "$folder/loadable"
}

# Debian packages use Debian's folders.
debian_packages() {
  local processor=${1#linux-} out=$2 folder=$2/$1 architecture
  architecture=$(sed 's/x86_64/amd64/; s/aarch64/arm64/' <<< "$processor")
  ext/packages/debian.py files "$folder/debian"
  configure "$processor" "$folder" "$out/sqlite" -DCMAKE_INSTALL_DOCDIR=share/doc/sqlite-bloom-doc \
    "-DBLOOM_DEBIAN_FILES=$folder/debian" "-DCMAKE_INSTALL_LIBDIR=lib/$processor-linux-gnu" \
    "-DBLOOM_DEBIAN_ARCHITECTURE=$architecture" "-DBLOOM_DEBIAN_DEPENDS=$(dependencies "$folder/loadable/bloom.so")"
  (cd "$folder/tree" && cpack -G DEB -B "$folder/cpack")
  mv "$folder"/cpack/*.deb "$out"
}

# The Debian packages that a module needs that was compiled for another processor: the oldest libc6 with
# the symbols that it uses, the oldest libraries of GCC that tests/release/platforms.sh allows, and the SQLite
# that libbloom_auto.so names.
dependencies() {
  local glibc
  glibc=$(ext/packages/platform_tag.py "$1" | sed -E 's/manylinux_([0-9]+)_([0-9]+)_.*/\1.\2/')
  echo "libc6 (>= $glibc), libgcc-s1 (>= 3.4), libsqlite3-0 (>= 3.5.9), libstdc++6 (>= 5.2)"
}

compile_musl() {
  local processor=${1%-musl} folder=$2 sqlite=$3
  zig_present
  ext/packages/amalgamation.py "$folder"
  "$zig" c++ -target "$processor-linux-musl" -std=c++20 -O2 -g0 -fPIC -shared -s -I "$sqlite" "$folder/bloom.cc" \
    -Wl,--version-script=ext/bloom.map -Wl,-z,nodelete -o "$folder/loadable/bloom.so"
}

# By default, the linker makes the base address out of the path of the DLL.
compile_windows() {
  local folder=$1 sqlite=$2
  ext/packages/amalgamation.py "$folder"
  x86_64-w64-mingw32-g++-posix -std=c++20 -O2 -shared -static -s -I "$sqlite" "$folder/bloom.cc" \
    -Wl,--no-insert-timestamp,--disable-auto-image-base -o "$folder/loadable/bloom.dll"
}

# Zig's own linker exports every symbol of the C++ library, so LLVM's links.
compile_macos() {
  local folder=$1 sqlite=$2 processor libraries
  zig_present
  ext/packages/amalgamation.py "$folder"
  for processor in x86_64 aarch64; do
    "$zig" c++ -target "$processor-macos.11.0" -std=c++20 -O2 -g0 -fPIC -fno-omit-frame-pointer -fvisibility=hidden \
      -fvisibility-inlines-hidden -I "$sqlite" -c "$folder/bloom.cc" -o "$folder/$processor.o"
    mapfile -t libraries < <(zig_libraries "$processor-macos.11.0" "$folder")
    ld64.lld-16 -arch "${processor/aarch64/arm64}" -dylib -platform_version macos 11.0 11.0 \
      -install_name @rpath/bloom.dylib -exported_symbol _sqlite3_bloom_init -exported_symbol _sqlite3_modbloom_init \
      -dead_strip -S -x "$folder/$processor.o" "${libraries[@]}" "${zig%/*}/lib/libc/darwin/libSystem.11.tbd" \
      -o "$folder/$processor.dylib"
  done
  llvm-lipo-16 -create "$folder/x86_64.dylib" "$folder/aarch64.dylib" -output "$folder/loadable/bloom.dylib"
}
