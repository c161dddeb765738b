#!/usr/bin/env bash
# Makes the packages of several platforms by ext/packages/build.sh, and tests the file to load out of
# each wheel where it runs: arm64 in qemu, Windows in Wine, musl by Debian's loader of it. There it runs the
# tests of the core, the SQL scripts and an exchange of databases with this machine. macOS cannot be
# run here: its file is only read. Needs x86-64 Linux. Installs missing packages without prompting, and
# ends with "N passed, N failed".
#   tests/release/platforms.sh [PLATFORM...]    default: all that ext/packages/compile.sh knows
set -euo pipefail
cd "$(dirname "$0")/../.."
source tests/support/setup.sh
source tests/support/check.sh
source tests/support/extension.sh
source tests/support/foreign.sh
source tests/support/locale.sh
source tests/support/shell.sh
source tests/support/sql_scripts.sh
source tests/support/sqlite_source.sh
source tests/support/machines.sh
source ext/packages/compile.sh

export LC_ALL=C.UTF-8
# One time and commit for both builds, even if someone commits between them.
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(date +%s)}
BLOOM_COMMIT=${BLOOM_COMMIT:-$(git rev-parse --short=12 HEAD)}
export SOURCE_DATE_EPOCH BLOOM_COMMIT
packages=$PWD/build/platforms
folder=$packages/tests
version=$(sed -n 's/^project(sqlite-bloom VERSION \([0-9.]*\).*/\1/p' CMakeLists.txt)
googletest=/usr/src/googletest/googletest
export WINEPREFIX=$folder/wine WINEDEBUG=-all

# expect WHAT WANTED GOT
expect() {
  [ "$2" = "$3" ] || {
    printf '%s: wanted\n%s\ngot\n%s\n' "$1" "$2" "$3"
    return 1
  }
}

# Everything is compiled again, in another folder, and Zig's cache is empty. sqlpkg.json names the folder.
same_bytes_twice() {
  local again=$PWD/build/another-folder
  rm -rf "$again"
  mkdir -p "$again/build"
  ln -s "$PWD/build/tools" "$again/build"
  git ls-files -z | xargs -0 cp --parents -t "$again" &&
    (cd "$again" && ZIG_LOCAL_CACHE_DIR=$again/zig-cache ext/packages/build.sh "$@") &&
    diff <(grep -v sqlpkg.json "$packages/SHA256SUMS") <(grep -v sqlpkg.json "$again/build/platforms/SHA256SUMS") && rm -rf "$again"
}

# ---- What a platform has: compilers, the command that starts a program, names and tags.

processor() { local name=${1#*-} && echo "${name%-musl}"; }

cc() {
  case $1 in
    linux-x86_64) echo gcc ;;
    linux-aarch64) echo aarch64-linux-gnu-gcc ;;
    linux-*-musl) echo "$zig cc -target $(processor "$1")-linux-musl" ;;
    windows-x86_64) echo x86_64-w64-mingw32-gcc-posix ;;
  esac
}

cxx() { cc "$1" | sed 's/ cc / c++ /; s/gcc/g++/'; }

emulator() {
  case $1 in
    linux-aarch64) echo "qemu-aarch64 -L /usr/aarch64-linux-gnu" ;;
    linux-aarch64-musl) echo "qemu-aarch64 -L $folder/$1/root" ;;
    windows-x86_64) echo wine ;;
  esac
}

wheel_tag() {
  case $1 in
    linux-*-musl) echo "musllinux_1_2_$(processor "$1")" ;;
    linux-*) echo "manylinux_2_24_${1#linux-}" ;;
    windows-x86_64) echo win_amd64 ;;
    macos-universal) echo macosx_11_0_universal2 ;;
  esac
}

# The options by which npm installs for another machine, and the name of its package.
npm_machines() {
  case $1 in
    linux-x86_64) echo "--os=linux --cpu=x64 --libc=glibc sqlite-bloom-linux-x64" ;;
    linux-aarch64) echo "--os=linux --cpu=arm64 --libc=glibc sqlite-bloom-linux-arm64" ;;
    linux-x86_64-musl) echo "--os=linux --cpu=x64 --libc=musl sqlite-bloom-linux-x64-musl" ;;
    linux-aarch64-musl) echo "--os=linux --cpu=arm64 --libc=musl sqlite-bloom-linux-arm64-musl" ;;
    windows-x86_64) echo "--os=win32 --cpu=x64 sqlite-bloom-win32-x64" ;;
    macos-universal)
      echo "--os=darwin --cpu=x64 sqlite-bloom-darwin-x64"
      echo "--os=darwin --cpu=arm64 sqlite-bloom-darwin-arm64"
      ;;
  esac
}

# ---- The packages.

# pip refuses a wheel with a wrong tag, name or checksum. The file in it is what the tests load.
wheel_installs() {
  local platform=$1 target=$folder/$1/python
  rm -rf "$target"
  /usr/bin/python3 -m pip install --quiet --no-index --no-deps --only-binary=:all: --platform "$(wheel_tag "$platform")" \
    --target "$target" "$packages"/sqlite_bloom-"$version"-py3-none-"$(wheel_tag "$platform")".whl &&
    cmp "$target"/sqlite_bloom/bloom.* "$packages/$platform"/loadable/bloom.* &&
    cp "$target"/sqlite_bloom/bloom.* "$folder/$platform"
}

# Prints the command of an npm that knows --os, --cpu and --libc. That of Debian 12 does not.
npm_for_machines() {
  if [ "$(npm --version | cut -d . -f 1)" -ge 10 ]; then
    echo npm
    return
  fi
  [ -e "$folder/npm" ] || npm install --silent --prefix "$folder/npm" npm@10 > /dev/null || return
  echo "$folder/npm/node_modules/.bin/npm"
}

# npm installs the package of the platform, and no other, beside the one that users name.
npm_chooses() {
  local platform=$1 project=$folder/$1/node options name npm
  npm=$(npm_for_machines) || return
  while read -r options; do
    name=${options##* }
    rm -rf "$project"
    mkdir -p "$project"
    /usr/bin/python3 - "$packages" "$version" > "$project/package.json" << 'END'
import glob, json, os, sys
packages, version = sys.argv[1:]
files = {os.path.basename(path)[: -len(f"-{version}.tgz")]: "file:" + path for path in glob.glob(f"{packages}/*.tgz")}
base = {"sqlite-bloom": files.pop("sqlite-bloom")}
print(json.dumps({"dependencies": base, "optionalDependencies": files}))
END
    # shellcheck disable=SC2086 # word by word
    (cd "$project" && "$npm" install --silent --offline ${options% *}) || return
    expect "installed for ${options% *}" "$(printf '%s\n' sqlite-bloom "$name")" "$(ls "$project/node_modules")" || return
    cmp "$project/node_modules/$name"/bloom.* "$packages/$platform"/loadable/bloom.* || return
  done < <(npm_machines "$platform")
}

archive_has_the_file() {
  local platform=$1 target=$folder/$1/archive
  rm -rf "$target"
  mkdir -p "$target"
  case $platform in
    windows-*) /usr/bin/python3 -m zipfile -e "$packages/sqlite-bloom-$version-loadable-$platform.zip" "$target" ;;
    *) tar xzf "$packages/sqlite-bloom-$version-loadable-$platform.tar.gz" -C "$target" ;;
  esac
  cmp "$target"/bloom.* "$packages/$platform"/loadable/bloom.* && [ -e "$target/LICENSE" ]
}

# The Debian package for another processor holds the same file where its loader looks for it.
debian_package_has_the_file() {
  local architecture=$1 triplet=$2 platform=$3 root=$folder/$3/debian
  rm -rf "$root"
  dpkg-deb --extract "$packages/libsqlite3-mod-bloom_${version}_$architecture.deb" "$root" &&
    cmp "$root/usr/lib/$triplet/mod_bloom.so" "$packages/$platform/loadable/bloom.so" &&
    expect "architecture" "$architecture" "$(dpkg-deb --field "$packages/libsqlite3-mod-bloom_${version}_$architecture.deb" Architecture)" &&
    expect "dependencies" "libc6 (>= 2.24), libgcc-s1 (>= 3.4), libsqlite3-0 (>= 3.5.9), libstdc++6 (>= 5.2)" \
      "$(dpkg-deb --field "$packages/libsqlite3-mod-bloom_${version}_$architecture.deb" Depends)"
}

sums_are_right() { (cd "$packages" && sha256sum --check --strict SHA256SUMS); }

# ---- The file: what it exports and needs.

entry_points=$'sqlite3_bloom_init\nsqlite3_modbloom_init'

file_is_right() {
  local file
  file=$(echo "$packages/$1"/loadable/bloom.*)
  expect "wheel tag" "$(wheel_tag "$1")" "$(ext/packages/platform_tag.py "$file")" || return
  case $1 in
    linux-*) elf_is_right "$1" "$file" ;;
    windows-*)
      expect "exports" "$entry_points" "$(x86_64-w64-mingw32-objdump -p "$file" | sed -n '/^\[Ordinal\/Name Pointer\] Table/,/^$/ s/^\t\[.*\] //p' | sort)" &&
        expect "libraries" $'KERNEL32.dll\nmsvcrt.dll' "$(x86_64-w64-mingw32-objdump -p "$file" | sed -n 's/.*DLL Name: //p' | sort)"
      ;;
    macos-*) mach_o_is_right "$file" x86_64 && mach_o_is_right "$file" arm64 ;;
  esac
}

elf_is_right() {
  local platform=$1 file=$2 needed=$'libc.so.6\nlibgcc_s.so.1\nlibm.so.6\nlibstdc++.so.6'
  [[ $platform != *-musl ]] || needed=libc.so
  expect "exports" "$entry_points" \
    "$(readelf -W --dyn-syms "$file" | awk '$7 != "UND" && $5 != "LOCAL" && NR > 3 { sub(/@.*/, "", $8); print $8 }' | sort)" &&
    expect "libraries" "$needed" "$(readelf -W --dynamic "$file" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' | sort)" &&
    expect "text relocations" "" "$(readelf -W --dynamic "$file" | grep TEXTREL || true)" &&
    readelf -W --dynamic "$file" | grep NODELETE &&
    expect "newest versions of symbols" "$([[ $platform = *-musl ]] || echo 'CXXABI_1.3.9 GLIBCXX_3.4.21')" \
      "$(readelf -W --version-info "$file" | grep -oE '(GLIBCXX|CXXABI)_[0-9.]+' | sort -uV | awk -F _ '{ newest[$1] = $0 } END { if (NR) print newest["CXXABI"], newest["GLIBCXX"] }')"
}

# mach_o_is_right FILE PROCESSOR: exports, libraries, the oldest macOS, and the signature that arm64 needs.
mach_o_is_right() {
  local file=$1 processor=$2 headers
  headers=$(llvm-objdump-16 --macho "--arch=$processor" --private-headers "$file")
  expect "exports" "_${entry_points//$'\n'/$'\n'_}" \
    "$(llvm-nm-16 "--arch=$processor" --defined-only --extern-only --just-symbol-name "$file" | grep . | sort)" &&
    expect "libraries" "/usr/lib/libSystem.B.dylib" "$(sed -n '/LC_LOAD_DYLIB/,/name/ s/ *name \(.*\) (.*/\1/p' <<< "$headers")" &&
    expect "oldest macOS" "11.0" "$(sed -n 's/ *minos //p' <<< "$headers")" &&
    expect "file type" "DYLIB" "$(grep -o DYLIB <<< "$headers" | sort -u | head -n 1)" &&
    { [ "$processor" != arm64 ] || grep -q LC_CODE_SIGNATURE <<< "$headers"; }
}

# ---- Running it.

make_machine() {
  local platform=$1 options=()
  case $platform in
    linux-x86_64 | linux-aarch64) options=(-lm -lpthread -ldl) ;;
    windows-x86_64) options=(-static) ;;
    linux-*-musl)
      make_musl_shell "$platform"
      return
      ;;
  esac
  build_shell "$folder/$platform" "$(cc "$platform")" "$(cxx "$platform")" "${options[@]}" &&
    make_runner "$folder/$platform" "$(emulator "$platform")"
}

make_musl_shell() {
  local machine=$folder/$1
  zig_present &&
    { [ "$1" != linux-aarch64-musl ] || loader_for_arm64 "$machine"; } &&
    compile_shell "$machine" "$(cc "$1")" "$(cxx "$1")" &&
    link_musl "$(processor "$1")" "$machine/shell" "$machine"/{shell,sqlite3}.o &&
    make_runner "$machine" "$(emulator "$1")"
}

# Debian's package of musl, unpacked into FOLDER/root.
loader_for_arm64() {
  fetch_for arm64 "$1/apt" musl || {
    echo "apt-get cannot fetch musl for arm64 (no network?)"
    return 77
  }
  dpkg-deb --extract "$1"/apt/archives/musl_*.deb "$1/root"
}

# link_musl PROCESSOR PROGRAM OBJECT...: for Debian's loader of musl. `zig c++` links musl statically
# only, and such a program cannot load anything.
link_musl() {
  local processor=$1 program=$2
  shift 2
  "$zig" build-exe -dynamic -target "$processor-linux-musl" -lc -lc++ --dynamic-linker "/lib/ld-musl-$processor.so.1" \
    --name "${program##*/}" "-femit-bin=$program" "$@"
}

# build_core_tests PLATFORM: without CMake, so that any compiler can. The core is one unit, as in the
# amalgamation, to save time.
build_core_tests() {
  local platform=$1 objects=$folder/$1/core program=$folder/$1/core_tests
  rm -rf "$objects"
  mkdir -p "$objects"
  compiler=$(cxx "$platform")
  export compiler objects googletest
  printf '#include "%s"\n' core/*/*.cc > "$objects/core.cc"
  # shellcheck disable=SC2016,SC2046 # the inner shell expands it; word by word
  printf '%s\n' "$objects/core.cc" "$googletest"/src/gtest{-all,_main}.cc $(core_tests_of "$platform") |
    xargs -P "$(getconf _NPROCESSORS_ONLN)" -n 1 bash -c 'compile_core_test "$1"' compile || return
  case $platform in
    linux-*-musl) link_musl "$(processor "$platform")" "$program" "$objects"/*.o ;;
    windows-x86_64) $compiler "$objects"/*.o -static -o "$program" ;;
    *) $compiler "$objects"/*.o -o "$program" ;;
  esac
}

# Zig's runtime library lacks __cpu_model, with which cpu_test.cc compares.
core_tests_of() {
  case $1 in
    *-musl) printf '%s\n' tests/core/*.cc | grep -v /cpu_test.cc ;;
    *) printf '%s\n' tests/core/*.cc ;;
  esac
}

compile_core_test() {
  $compiler -std=c++20 -O1 -g0 -I . -isystem "$googletest/include" -I "$googletest" "-DBLOOM_TEST_DATA=\"$PWD/tests/data\"" \
    "-DBLOOM_TEST_GOLDEN=\"$PWD/tests/golden\"" -c "$1" -o "$objects/${1//\//_}.o"
}
export -f compile_core_test

# Without the tests of rates: they take minutes in an emulator, and equal bits have equal rates.
core_tests_pass() {
  # shellcheck disable=SC2046 # word by word
  $(emulator "$1") "$(echo "$folder/$1"/core_tests*)" --gtest_brief=1 --gtest_filter=-Rate.*
}

# From a folder with blanks and letters that are not ASCII, and by names of the platform's own form. A
# table lies in such a folder, too.
loads_from() {
  local machine=$folder/$1 odd="$folder/$1/Größe 10 µm" file files
  mkdir -p "$odd"
  cp "$machine"/bloom.* "$odd"
  files=("$odd/bloom" "$odd"/bloom.*)
  if [ "$1" = windows-x86_64 ]; then
    file=$(winepath -w "$machine/bloom.dll")
    files+=("$file" "${file//\\//}")
  fi
  for file in "${files[@]}"; do
    rm -f "$odd/data.db"
    expect "from $file" 1 "$("$machine/run" :memory: 2>&1 << END | grep .
SELECT load_extension('$file');
ATTACH '$odd/data.db' AS odd;
CREATE VIRTUAL TABLE odd.t USING bloom;
INSERT INTO odd.t(key) VALUES ('a');
SELECT count(*) FROM odd.t WHERE key = 'a';
END
    )" && [ -e "$odd/data.db" ] || return
  done
}

# The answers do not depend on the language of the host, which may write numbers with a comma.
same_in_german() {
  make_german_locale && LC_ALL=de_DE.UTF-8 exchange "$folder/linux-x86_64-here" "$folder/$1"
}

# The Python tests whose time in an emulator is bearable, in Debian's Python, SQLite and sqlite3 shell.
check_python_on_arm64() {
  local machine=$folder/linux-aarch64 programs=$folder/linux-aarch64/programs name
  check "Python for it" foreign_programs arm64 "$programs" qemu-aarch64
  [ -x "$programs/bin/python3" ] || return 0
  for name in functions/functions table/table table/groups promise/promise; do
    check "tests/${name}_test.py" env "PATH=$programs/bin:$PATH" \
      "$programs/bin/python3" -B "tests/${name}_test.py" "$machine/bloom.so"
  done
}

try_platform() {
  local platform=$1 machine=$folder/$1
  mkdir -p "$machine"
  check "file: exports, libraries, wheel tag" file_is_right "$platform"
  check "wheel" wheel_installs "$platform"
  check "npm chooses the package" npm_chooses "$platform"
  check "archive" archive_has_the_file "$platform"
  [ "$platform" != linux-aarch64 ] || check "Debian package" debian_package_has_the_file arm64 aarch64-linux-gnu "$platform"
  [ "$platform" != macos-universal ] || return 0
  check "SQLite for it" make_machine "$platform"
  SQLITE3=$machine/run check_sql_scripts "$(echo "$machine"/bloom.*)"
  check "exchanges databases with this machine" exchange "$folder/linux-x86_64-here" "$machine"
  check "the same with German numbers" same_in_german "$platform"
  check "loads from any folder" loads_from "$platform"
  check "core tests: built" build_core_tests "$platform"
  check "core tests" core_tests_pass "$platform"
  [ "$platform" != linux-aarch64 ] || check_python_on_arm64
}

main() {
  local platforms=("$@") platform
  [ $# -gt 0 ] || platforms=("${all_platforms[@]}")
  # shellcheck disable=SC2046 # names of packages hold no blanks
  install_missing g++ cmake make libsqlite3-dev googletest python3 python3-pip binutils locales qemu-user wine wine64 musl $(tools_of "${platforms[@]}")
  mkdir -p "$folder"
  check "source of SQLite $sqlite_version" sqlite_source "$sqlite_version" "$sqlite"
  check "packages are built" ext/packages/build.sh "${platforms[@]}"
  check "checksums" sums_are_right
  check "builds here" build_here "$folder/linux-x86_64-here"
  case " ${platforms[*]} " in *" windows"*) check "Wine" wineboot --init ;; esac
  # One after the other: their compilers use all processors.
  for platform in "${platforms[@]}"; do
    echo "-- $platform ($SECONDS s)"
    try_platform "$platform"
  done
  check "two runs make the same bytes" same_bytes_twice "${platforms[@]}"
  conclude
}

main "$@"
