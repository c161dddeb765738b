#!/usr/bin/env bash
# The extension in a dqlite cluster of three nodes, some of which are killed; the long form is
# examples/cluster/run.sh soak 20. Installs what is missing, asks nothing, and ends with
# "N passed, N failed".
set -euo pipefail
cd "$(dirname "$0")/../.."
source tests/support/check.sh

try() { check "$1" /usr/bin/python3 -B tests/examples/cluster_test.py build/demo/bloom.so build/demo/cluster_node "$2"; }

formatted() {
  local names
  names=$(gofmt -l examples/cluster) && [ -z "$names" ]
}

check "builds" examples/cluster/run.sh build
check "gofmt" formatted
try "leader killed: no acknowledged key is lost on any node" Failover
try "what is lost is noticed" Losses
try "a key is seen through every node at once" Connections
try "a node without the extension" Without
try "a filter that follows costs a page" Costs
try "a port that another program takes" Ports
conclude
