# shellcheck shell=bash
# The extension as it is released, for scripts that test it; to be sourced, from the root:
#   build_release TARGET    bloom: build/release/bloom.so, up to date; core_tests: its tests
# Scripts that run at the same time wait for each other.
build_release() {
  mkdir -p build
  (
    flock 9
    cmake --preset release &&
      cmake --build --preset release --target "$1" -j "$(getconf _NPROCESSORS_ONLN)"
  ) 9> build/release.lock
}
