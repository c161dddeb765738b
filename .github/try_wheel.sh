#!/usr/bin/env bash
# Installs the wheel of a release that fits this machine, and loads the extension into Python.
#   .github/try_wheel.sh FOLDER    the folder of the packages
set -euo pipefail
release=$(cd "$1" && pwd)
cd "$(dirname "$0")/.."
python=$(command -v python3 || command -v python)
if [ "$(uname)" = Darwin ]; then
  # Python's own packages for macOS cannot load extensions: actions/setup-python, issue 540.
  brew install --quiet python@3.13
  python=$(brew --prefix)/bin/python3.13
fi
"$python" -m venv --clear build/try_wheel
python=$(compgen -G "build/try_wheel/[bS]*/python*" | head -n 1) # in bin/, or Scripts/ of Windows
"$python" -m pip install --no-index --find-links "$release" --only-binary :all: sqlite-bloom
"$python" -c "
import sqlite3, sqlite_bloom
db = sqlite3.connect(':memory:')
sqlite_bloom.load(db)
print(db.execute('SELECT bloom_debug()').fetchone()[0])
assert db.execute(\"SELECT bloom_contains(bloom_build('a'), 'a')\").fetchone() == (1,)"
