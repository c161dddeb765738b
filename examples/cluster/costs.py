"""What an insert replicates: into a table alone, with a filter that follows it, and with filters kept as blobs."""

import json

from nodes import wait_until
from raft_log import replicated_bytes

LOADED = 20_000  # keys that are there before
INSERTS = 50  # that are measured, each a transaction

FOLLOWS = "CREATE VIRTUAL TABLE {table}_seen USING bloom(source={table}, column=path, capacity={keys})"
KEPT = "CREATE TABLE {table}_filter(id INTEGER PRIMARY KEY, filter BLOB)"
BUILT = "INSERT INTO {table}_filter SELECT 1, bloom_build(path, {keys}) FROM {table}"
CLASSIC = (
    "CREATE VIRTUAL TABLE {table}_classic USING bloom(cells={keys}0, hashes=7)",
    "INSERT INTO {table}_classic(key) SELECT path FROM {table}",
    "INSERT INTO {table}_filter SELECT 1, filter FROM {table}_classic",
)
TOLD = "CREATE TRIGGER {table}_told AFTER INSERT ON {table} BEGIN %s; END"
UPDATE = TOLD % "UPDATE {table}_filter SET filter = bloom_add(filter, new.path)"
REPLACE = TOLD % "REPLACE INTO {table}_filter SELECT 1, bloom_add(filter, new.path) FROM {table}_filter"

WAYS = {
    "the table alone": (),
    "a filter that follows it": (FOLLOWS,),
    "a blob, UPDATE": (KEPT, BUILT, UPDATE),
    "a blob without blocks, UPDATE": (KEPT, *CLASSIC, UPDATE),
    "a blob, REPLACE": (KEPT, BUILT, REPLACE),
}


def report(cluster, names, keys):
    """Prints what each way replicates, and gives it."""
    print(f"\nBytes replicated to each node by an insert; {LOADED:,} rows before, filters for {keys:,} keys:")
    print("                                        insert     the filter's share")
    costs = {}
    for number, (way, statements) in enumerate(WAYS.items()):
        costs[way] = cost(cluster, f"costs_{number}", statements, names, keys)
        share = costs[way] - costs["the table alone"]
        print(f"  {way:32} {costs[way]:13,.0f} {share:13,.0f}", flush=True)
    print()
    return costs


def cost(cluster, table, statements, names, keys):
    node = cluster.nodes[0]
    node.exec(f"CREATE TABLE {table}(path TEXT PRIMARY KEY) WITHOUT ROWID")
    node.exec(f"INSERT INTO {table} SELECT value FROM json_each(?)", json.dumps(names[:LOADED]))
    for statement in statements:
        node.exec(statement.format(table=table, keys=keys))
    before = everywhere(cluster)
    for name in names[LOADED : LOADED + INSERTS]:
        node.exec(f"INSERT INTO {table} VALUES (?)", name)
    return (everywhere(cluster) - before) / INSERTS


def everywhere(cluster):
    """The bytes of the log, as soon as every node has written all of it."""

    def agreed():
        sizes = {replicated_bytes(node.folder) for node in cluster.nodes}
        return sizes.pop() if len(sizes) == 1 else None

    return wait_until(agreed, "the nodes do not come to the same log")
