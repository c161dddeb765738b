#!/usr/bin/env bash
# Compiles the amalgamation with the compiler of this machine, in build/native, for the workflows.
#   .github/compile.sh FILE [OPTION...]
set -euo pipefail
cd "$(dirname "$0")/.."
source tests/support/sqlite_source.sh
file=$1
shift
sqlite_source 3.53.2 "$PWD/build/native"
python=$(command -v python3 || command -v python)
"$python" ext/packages/amalgamation.py build/native
cd build/native
"${CXX:-c++}" -std=c++20 -O2 -fPIC -shared -I. bloom.cc "$@" -o "$file"
