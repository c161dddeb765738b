#!/usr/bin/env bash
# Uploads the packages of a release, from the folder of this script: npm packages and wheels.
#   ./publish.sh npm      the packages of the platforms first: sqlite-bloom depends on them
#   ./publish.sh pypi     the wheels and the sdist
# Both ask their registry for permission: run `npm login`, and give twine a token, or run it in the
# workflow .github/workflows/release.yml, which needs no stored secret.
set -euo pipefail
cd "$(dirname "$0")"
sha256sum --check --quiet SHA256SUMS

case ${1:-} in
  npm)
    for package in sqlite-bloom-*-*.tgz sqlite-bloom-[0-9]*.tgz; do
      npm publish --access public "./$package"
    done
    ;;
  pypi) twine upload ./*.whl ./sqlite_bloom-*.tar.gz ;;
  *)
    echo "publish.sh: the argument is npm or pypi" >&2
    exit 2
    ;;
esac
