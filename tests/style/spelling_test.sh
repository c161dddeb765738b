#!/usr/bin/env bash
# Checks the spelling of documents, comments and names with codespell. Skipped without codespell.
set -euo pipefail
cd "$(dirname "$0")/../.."

# Not errors: the false-positive rate, a function and a type of SQLite, Rust's packages, names and test data.
words=fpr,iif,crate,doub,kown,blok
# What the build makes, and files that hold data.
skipped="./build*,./out,.git,*.svg,*.csv,*.tsv,package-lock.json,./tests/fuzz/corpus,./tests/golden,./tests/data"

command -v codespell > /dev/null || {
  echo "codespell is missing"
  exit 77
}
codespell --ignore-words-list "$words" --skip "$skipped"
