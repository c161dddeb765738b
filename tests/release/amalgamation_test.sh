#!/usr/bin/env bash
# Writes the amalgamation, and compiles it without generating code. Two sources that use one name for
# different things fail here, unless one of them has it in an unnamed namespace.
#   tests/release/amalgamation_test.sh COMPILER SQLITE_INCLUDE_FOLDER
# tests/release/amalgamation.sh runs the tests of the extension with it.
set -euo pipefail

compiler=$1
sqlite=$2
folder=$(mktemp -d)
trap 'rm -r "$folder"' EXIT

/usr/bin/python3 -B "$(dirname "$0")/../../ext/packages/amalgamation.py" "$folder"
"$compiler" -std=c++20 -fsyntax-only -Wall -Wextra -Wpedantic -Wconversion -Werror \
  -idirafter "$sqlite" "$folder/bloom.cc"
echo '#include "bloom.h"' | "$compiler" -x c -std=c99 -fsyntax-only -Wall -Wextra -Wpedantic -Werror -I "$folder" -
echo "one translation unit, without a warning"
