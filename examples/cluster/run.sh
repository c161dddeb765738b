#!/usr/bin/env bash
# The extension in a replicated SQLite (dqlite): three nodes on this machine, one of them killed, no
# answer lost; docs/examples/cluster.md. Asks nothing, installs what is missing (460 MB, most of it Go),
# leaves nothing behind but build/demo.
#   examples/cluster/run.sh             loads real keys, kills the leader, goes on, asks every node
#   examples/cluster/run.sh soak 20     20 rounds of kill and restart while keys are written
#   examples/cluster/run.sh costs 1000000    what an insert replicates; filters for so many keys
#   examples/cluster/run.sh build       builds the extension and the node, no more
set -euo pipefail
cd "$(dirname "$0")/../.."
source tests/support/setup.sh

build=$PWD/build/demo
node=$build/cluster_node

# Shows what a command says only when it fails.
quietly() {
  local said
  said=$("$@" 2>&1) || {
    printf '%s\n' "$said" >&2
    return 1
  }
}

build_extension() {
  quietly cmake -S . -B "$build" -DCMAKE_BUILD_TYPE=Release -DBLOOM_TESTS=OFF
  quietly cmake --build "$build" --target bloom -j "$(getconf _NPROCESSORS_ONLN)"
}

# From Debian's Go packages alone; without the libsqlite3 tag SQLite would be in the program twice.
build_node() {
  quietly env GO111MODULE=off GOFLAGS= GOPATH=/usr/share/gocode GOCACHE="$build/go" \
    CGO_LDFLAGS_ALLOW=-Wl,-z,now go build -tags libsqlite3 -o "$node" examples/cluster/node.go
}

install_missing g++ make cmake libsqlite3-dev python3 golang-go libdqlite-dev \
  golang-github-canonical-go-dqlite-dev
mkdir -p "$build"
build_extension
build_node
if [ "${1:-}" != build ]; then
  exec /usr/bin/python3 -B examples/cluster/cluster.py "$node" "$build/bloom.so" "$@"
fi
