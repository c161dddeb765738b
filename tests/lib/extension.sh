# shellcheck shell=bash
# The extension as it is released, for scripts that test it; to be sourced, from the root:
#   build_extension    build/release/bloom.so, up to date
# Scripts that run at the same time wait for each other.
build_extension() {
  mkdir -p build
  (
    flock 9
    cmake --preset release && cmake --build --preset release --target bloom -j "$(getconf _NPROCESSORS_ONLN)"
  ) 9> build/release.lock
}
