-- The messages that docs/errors.md explains, in its order.

-- Not a Bloom filter
SELECT bloom_contains('text', 1);
--> Error: bloom_contains: argument 1 is not a bloom filter ('text')
SELECT bloom_contains(x'00', 1);
--> Error: bloom_contains: argument 1 is not a bloom filter (a header has 64 bytes, got 1)
SELECT bloom_contains(zeroblob(100), 1);
--> Error: bloom_contains: argument 1 is not a bloom filter (bad magic)
SELECT bloom_contains(NULL, 1);
--> Error: bloom_contains: argument 1 is not a bloom filter (NULL; did the subquery find no row? A handle passes only through a scalar subquery: (SELECT bloom_open(filter) FROM ...))
CREATE TABLE h(id INTEGER PRIMARY KEY, filter BLOB);
INSERT INTO h VALUES (1, bloom_create(100));
SELECT bloom_contains(nullif(bloom_open(filter), id), 'key' || max(id, abs(id))) FROM h;
--> Error: bloom_contains: argument 1 is not a bloom filter (a closed handle)
SELECT bloom_union(bloom_open(filter)) FROM h;
--> Error: bloom_union: argument 1 must be a blob in an aggregate, got a handle
CREATE TABLE s(filter BLOB);
INSERT INTO s VALUES (bloom_add(bloom_create(100), 'a'));
SELECT bloom_contains(CAST(substr(filter, 1, 4) || x'03' || substr(filter, 6) AS BLOB), 'a') FROM s;
--> Error: bloom_contains: argument 1 is not a bloom filter (unknown version 3)
SELECT bloom_add(filter, bloom_create(100)) FROM s;
--> Error: bloom_add: argument 2 must not be a bloom filter (bloom_union merges filters)
CREATE VIRTUAL TABLE copy USING bloom(capacity=100);
INSERT INTO copy SELECT filter FROM s;
--> Error: copy: key must not be a bloom filter (to merge it, INSERT it into the column filter)
INSERT INTO copy(filter) SELECT filter FROM s;
SELECT key FROM copy WHERE key = 'a';
--> a

-- Damaged filters
SELECT bloom_contains(substr(filter, 1, length(filter) - 1), 'a') FROM s;
--> Error: bloom_contains: argument 1 is a damaged bloom filter (185 bytes where the header says 186; restore it from a backup or build it again) (11)
SELECT bloom_contains(CAST(substr(filter, 1, 8) || x'ff' || substr(filter, 10) AS BLOB), 'a') FROM s;
--> Error: bloom_contains: argument 1 is a damaged bloom filter (header checksum does not match; restore it from a backup or build it again) (11)
SELECT bloom_add(CAST(substr(filter, 1, 100) || x'ff' || substr(filter, 102) AS BLOB), 'b') FROM s;
--> Error: bloom_add: argument 1 is a damaged bloom filter (cell checksum does not match; restore it from a backup or build it again) (11)
SELECT bloom_check(substr(filter, 1, 100)) FROM s;
--> 100 bytes where the header says 186

-- Damaged tables
CREATE VIRTUAL TABLE visits_seen USING bloom(capacity=10000);
INSERT INTO visits_seen(key) VALUES ('a'), ('b');
DELETE FROM visits_seen_data WHERE id = 0;
SELECT keys FROM visits_seen;
--> Error: visits_seen: the filter lacks 1 of 4 chunks: another program has deleted rows (restore a backup; or run 'rebuild', or 'clear' and add the keys again) (11)
INSERT INTO visits_seen(visits_seen) VALUES ('integrity-check');
--> Error: visits_seen: the filter lacks 1 of 4 chunks: another program has deleted rows (restore a backup; or run 'rebuild', or 'clear' and add the keys again) (11)
INSERT INTO visits_seen(visits_seen) VALUES ('clear');
INSERT INTO visits_seen(key) VALUES ('a'), ('b');
SELECT key FROM visits_seen WHERE key = 'a';
--> a

-- Arguments out of range
SELECT bloom_create(0);
--> Error: bloom_create: capacity must be an integer between 1 and 1099511627776, got 0
SELECT bloom_create(100, 1.5);
--> Error: bloom_create: fpr must be a number between 0 and 1, got 1.5
SELECT bloom_create(100, 0.01, 'cuckoo');
--> Error: bloom_create: kind must be 'standard', 'counting' or 'partitioned', got 'cuckoo'
SELECT bloom_create(1e12);
--> Error: bloom_create: capacity and fpr must be such that the filter has at most 1099511627776 cells, got capacity 1000000000000 and fpr 0.01
SELECT bloom_create_sized(1000, 256);
--> Error: bloom_create_sized: k must be an integer between 1 and 255, got 256
SELECT bloom_create_sized(1000, 7, 'standard', 300);
--> Error: bloom_create_sized: block must be 0 or a divisor of m = 1000, got 300
SELECT bloom_create_sized(1000, 7, 'partitioned');
--> Error: bloom_create_sized: m must be a multiple of k = 7 (a partitioned filter has k equal slices), got 1000
SELECT bloom_halve(bloom_create_sized(1000, 7), 4);
--> Error: bloom_halve: times must be an integer between 0 and 3, got 4
SELECT bloom_create('1000');
--> Error: bloom_create: capacity must be an integer between 1 and 1099511627776, got '1000'

-- Incompatible filters
SELECT bloom_union(bloom_create_sized(1024, 7), bloom_create_sized(1024, 6));
--> Error: bloom_union: argument 2 cannot be merged with the filter before it: it has k = 6, m = 1024 and block = 0, not k = 7, m = 1024 and block = 0 (give both the same capacity and fpr, or build both with bloom_build(key, template) from one empty filter)
SELECT bloom_union(bloom_create_sized(1024, 7), bloom_create_sized(1000, 7));
--> Error: bloom_union: argument 2 cannot be merged with the filter before it: it has k = 7, m = 1000 and block = 0, not k = 7, m = 1024 and block = 0 (give both the same capacity and fpr, or build both with bloom_build(key, template) from one empty filter)
SELECT bloom_union(bloom_create(100000), bloom_create(70000));
--> Error: bloom_union: argument 2 cannot be merged with the filter before it: it has capacity 70000 at fpr 0.01 with k = 7, m = 698368 and block = 31744, not capacity 100000 at fpr 0.01 with k = 7, m = 1015808 and block = 31744 (give both the same capacity and fpr, or build both with bloom_build(key, template) from one empty filter)

-- Deltas
SELECT bloom_apply(filter, bloom_delta(bloom_create(100), filter)) FROM s;
--> Error: bloom_apply: argument 2 is not a delta for this filter (it was made from another filter)
SELECT bloom_apply(filter, substr(d, 1, length(d) - 1)) FROM (SELECT filter, bloom_delta(filter, bloom_add(filter, 'b')) AS d FROM s);
--> Error: bloom_apply: argument 2 is a damaged delta (its positions do not fit the filter) (11)

-- Removing keys
SELECT bloom_remove(filter, 'a') FROM s;
--> Error: bloom_remove: argument 1 must be a counting filter (other kinds cannot remove keys), got a standard filter
SELECT bloom_remove(bloom_create(100, 0.01, 'counting'), 'a');
--> Error: bloom_remove: argument 2 must be a key that was added, got 'a', which is not in the filter

-- Table options and statements
CREATE VIRTUAL TABLE t USING bloom(capacity=0);
--> Error: bloom: capacity must be an integer between 1 and 1099511627776, got 0
CREATE VIRTUAL TABLE t USING bloom(capacity=1000, fpr=0.01, blok=512);
--> Error: bloom: unknown option 'blok' (the options are capacity, fpr, kind, block, seed, cells, hashes, growth, generations, collate, source, column, writers, on_stale and cache)
CREATE VIRTUAL TABLE t USING bloom(capacity=1000, capacity=2000);
--> Error: bloom: option capacity is given twice
CREATE VIRTUAL TABLE t USING bloom(kind=counting);
--> Error: bloom: a table that does not grow needs a size (give capacity=N, or cells=M and hashes=K)
CREATE VIRTUAL TABLE t USING bloom(source=nowhere, column=k);
--> Error: bloom: source 'nowhere' must be an ordinary table, got no table of this name in the schema main
CREATE VIRTUAL TABLE t USING bloom(source=main.urls, column=k);
--> Error: bloom: source must be the name of a table without its schema, got 'main.urls' (write source=urls; the source is in the schema of the virtual table, here main)
CREATE VIRTUAL TABLE t USING bloom(source=urls column=k);
--> Error: bloom: a comma is missing between two options: 'source=urls column=k' (write source=urls, column=k)
CREATE VIRTUAL TABLE t USING bloom(capacity=1000);
INSERT INTO t(key) VALUES ('a');
SELECT * FROM t;
--> Error: t: cannot list the keys of a Bloom filter (give the key: key = ?, key IN (...), JOIN ... ON key = t.k, or EXISTS (SELECT 1 FROM ... WHERE key = t.k); the column keys says how many keys there are, and the command 'clear' empties the table)
CREATE VIRTUAL TABLE full USING bloom(cells=1, hashes=1);
INSERT INTO full(key) VALUES ('a');
SELECT count(*) FROM full;
--> Error: full: the filter is too full to estimate its number of keys (the column overfull is 1; make a larger table, or run 'rebuild' if it has a source)
INSERT INTO t(key) VALUES ('a'), (NULL);
--> Error: t: key must not be NULL (NULL is never a key) (19)
INSERT INTO t(filter) SELECT filter FROM s;
--> Error: t: filter cannot be merged with the table: it has capacity 100 at fpr 0.01 with k = 7, m = 976 and block = 976, not capacity 1000 at fpr 0.01 with k = 7, m = 9600 and block = 9600 (give both the same capacity and fpr, or build both with bloom_build(key, template) from one empty filter)
INSERT INTO t(t) VALUES ('shrink');
--> Error: t: unknown command 'shrink' (the commands are 'rebuild', 'merge', 'clear', 'rotate', 'halve', 'fold' and 'integrity-check')
INSERT INTO t(t) VALUES ('rebuild');
--> Error: t: cannot rebuild a table without a source: a Bloom filter cannot list its keys
INSERT INTO t(t) VALUES ('merge');
--> Error: t: cannot merge changes into a table without a source: it has no pending changes
CREATE VIRTUAL TABLE recent USING bloom(generations=4);
--> Error: bloom: a table with generations needs a capacity: the keys of all generations together
CREATE VIRTUAL TABLE recent USING bloom(generations=4, capacity=1000, kind=counting);
--> Error: bloom: a counting filter cannot have generations: a key could be removed from a generation that does not have it
CREATE VIRTUAL TABLE recent USING bloom(generations=4, source=s, column=filter);
--> Error: bloom: a table that follows a source cannot have generations: it would forget keys that the source still has
CREATE VIRTUAL TABLE recent USING bloom(generations=4, capacity=1000);
SELECT filter FROM recent;
--> Error: recent: cannot read the filter of a table with generations (it consists of 4 filters, one for each generation)
INSERT INTO recent(recent) VALUES ('halve');
--> Error: recent: cannot halve a table with generations (it consists of 4 filters, one for each generation)
INSERT INTO recent(key) VALUES ('a');
DELETE FROM recent WHERE key = 'a';
--> Error: recent: cannot remove a key from a table with generations ('rotate' drops the oldest keys)
INSERT INTO t(t) VALUES ('rotate');
--> Error: t: cannot rotate a table without generations (make the table with generations=4)

-- Tables that follow another
CREATE TABLE urls(url TEXT);
CREATE VIRTUAL TABLE urls_seen USING bloom(source=urls, column=url);
INSERT INTO urls_seen(key) VALUES ('a');
--> Error: urls_seen: cannot INSERT into a table that follows 'urls' (change 'urls' instead)
INSERT INTO urls VALUES ('b');
DELETE FROM urls_seen;
--> Error: urls_seen: cannot list the keys of a Bloom filter, nor UPDATE or DELETE rows of a table that follows 'urls' (change 'urls' instead)
CREATE TABLE files(host TEXT, path TEXT);
CREATE VIRTUAL TABLE files_seen USING bloom(source=files, column=(host, path));
SELECT 1 FROM files_seen WHERE key = 'a.example';
--> Error: files_seen: key must be bloom_key(host, path), because the filter follows 2 columns (or give host = ? AND path = ?), got 'a.example'
SELECT 1 FROM files_seen WHERE host = 'a.example';
--> Error: files_seen: the key has several columns, and the condition lacks path (give all of them: host = ? AND path = ?)
SELECT 1 FROM files_seen WHERE host = 'a' AND path = 'b' COLLATE NOCASE;
--> Error: files_seen: the filter cannot compare path under the collation NOCASE (compare it with COLLATE binary)
SELECT 1 FROM files_seen WHERE key = bloom_key('a', 'b') AND path = 'b';
--> Error: files_seen: a lookup gives either the key or its columns, not both
INSERT INTO files VALUES ('a', 'b');
SELECT path FROM files_seen WHERE key = bloom_key('a', 'b');
--> Error: files_seen: a lookup by key cannot read the columns of the key (look it up by them: host = ? AND path = ?)
SELECT path FROM files_seen;
--> Error: files_seen: cannot list the keys of a Bloom filter (give all columns of the key: host = ? AND path = ?, or JOIN ... ON files_seen.host = t.host AND files_seen.path = t.path; the column keys says how many keys there are)
CREATE TABLE pages(url TEXT);
CREATE VIRTUAL TABLE pages_seen USING bloom(source=pages, column=url);
DROP TABLE pages;
CREATE TABLE pages(address TEXT);
INSERT INTO pages_seen(pages_seen) VALUES ('rebuild');
--> Error: pages_seen: the source 'pages' has no column 'url' any more (rename the column back; or DROP this table, and create it again with the new name of the column)
DROP TRIGGER urls_seen_before_insert;
SELECT 1 FROM urls_seen WHERE key = 'a';
--> Error: urls_seen: the triggers of source 'urls' are missing or have changed, so keys may be missing from the filter (the command 'rebuild' fixes that; if the source no longer exists, run DROP TABLE)
CREATE TABLE items(id INTEGER PRIMARY KEY, code NOT NULL DEFAULT (random()), name AS (lower(code)));
CREATE VIRTUAL TABLE items_seen USING bloom(source=items, column=id);
--> Error: bloom: cannot follow 'items' with writers=any: 'id' is an INTEGER PRIMARY KEY, so BEFORE triggers do not see the final value (give writers=extension, and load the extension in every program that writes to 'items')
CREATE VIRTUAL TABLE items_seen USING bloom(source=items, column=code);
--> Error: bloom: cannot follow 'items' with writers=any: 'code' is NOT NULL with a default that SQLite computes or converts, so BEFORE triggers do not see the final value (give writers=extension, and load the extension in every program that writes to 'items')
CREATE VIRTUAL TABLE items_seen USING bloom(source=items, column=name);
--> Error: bloom: cannot follow 'items' with writers=any: 'name' is a generated column, so BEFORE triggers do not see the final value (give writers=extension, and load the extension in every program that writes to 'items')
CREATE VIRTUAL TABLE items_seen USING bloom(capacity=1000, writers=extension);
--> Error: bloom: option writers is only for a table that follows a source (give source and column)
INSERT INTO urls_seen(urls_seen) VALUES ('rebuild');
ALTER TABLE urls_seen_pending ADD COLUMN note;
SELECT 1 FROM urls_seen WHERE key = 'a';
--> Error: urls_seen: the table 'urls_seen_pending' is missing or has changed, so keys may be missing from the filter (drop that table if it exists, then run the command 'rebuild')
DROP TABLE urls_seen_pending;
INSERT INTO urls VALUES ('a');
--> Error: no such table: main.urls_seen_pending
INSERT INTO urls_seen(urls_seen) VALUES ('rebuild');
CREATE TRIGGER mine BEFORE INSERT ON urls_seen_pending BEGIN SELECT RAISE(IGNORE); END;
INSERT INTO urls VALUES ('c');
--> Error: the change log of a bloom table has not taken a row (19)
SELECT 1 FROM urls_seen WHERE key = 'c';
--> Error: urls_seen: the trigger or index 'mine' on the table 'urls_seen_pending' may keep changes from being recorded, so keys may be missing from the filter (drop it, then run the command 'rebuild')
DROP TRIGGER mine;
CREATE TRIGGER mine AFTER INSERT ON urls BEGIN INSERT INTO urls_seen(urls_seen) VALUES ('rebuild'); END;
INSERT INTO urls VALUES ('d');
--> Error: urls_seen: cannot read 'urls' while a statement of this connection writes to it: the row in progress would be missed (run the command on its own, outside of triggers, when that statement has finished)
CREATE UNIQUE INDEX files_once ON files(host, path);
INSERT INTO files VALUES ('a', 'c');
UPDATE OR IGNORE files SET path = 'b';
SELECT filter FROM files_seen;
--> Error: files_seen: an UPDATE of the source was announced, but its key was not recorded (run the command 'merge', which then reads the source)
CREATE TABLE jobs(host TEXT);
CREATE VIRTUAL TABLE jobs_seen USING bloom(source=jobs, column=host, kind=counting, writers=extension);
CREATE TRIGGER newer AFTER INSERT ON jobs BEGIN SELECT RAISE(IGNORE); END;
INSERT INTO jobs VALUES ('a');
DROP TRIGGER newer;
SELECT 1 FROM jobs_seen WHERE key = 'a';
--> Error: jobs_seen: rows of 'jobs' were written while the AFTER trigger 'newer' could keep their keys from being added (drop that trigger or make it BEFORE, then run the command 'rebuild')
INSERT INTO jobs_seen(jobs_seen) VALUES ('rebuild');
SELECT key FROM jobs_seen WHERE key = 'a';
--> a

-- Tables of groups
CREATE VIRTUAL TABLE who USING bloom_groups;
--> Error: bloom_groups: the members need a size (give capacity=N, the number of keys per member)
CREATE VIRTUAL TABLE who USING bloom_groups(capacity=100, block=496);
--> Error: bloom_groups: unknown option 'block' (the options are capacity, fpr, seed, collate, source, member, column and on_stale)
CREATE VIRTUAL TABLE log_url USING bloom_groups(source=log, column=url);
--> Error: bloom_groups: a table with a source needs the options source, member and column (to find the rows of a table by a column, use bloom_search(source=..., equal=(...)))
CREATE VIRTUAL TABLE member USING bloom_groups(capacity=100);
--> Error: bloom_groups: a table cannot be called 'member': it has a column of this name (choose another name)

CREATE VIRTUAL TABLE who USING bloom_groups(capacity=100);
INSERT INTO who(key) VALUES ('a');
--> Error: who: member must not be NULL (19)
INSERT INTO who(member, key) VALUES ('north', 'a'), ('south', 'a');
SELECT key FROM who;
--> Error: who: cannot list the keys of a Bloom filter (give the key: key = ?, or t JOIN ... ON key = t.k, with t first; UNION instead of OR, NOT IN instead of RIGHT JOIN)
DELETE FROM who WHERE key = 'a';
--> Error: who: cannot delete members by key: the lookup may return a member that does not have the key (compare member, as in WHERE member = ?)
UPDATE who SET member = 'south' WHERE member = 'north';
--> Error: who: member 'south' exists already (DELETE it first) (19)
UPDATE who SET key = 'b' WHERE member = 'north';
--> Error: who: UPDATE can change only the column member, and cannot have FROM
INSERT INTO who(member, keys) VALUES ('north', 1);
--> Error: who: the column keys is read-only (INSERT a member with a key or a filter, or a command)
INSERT INTO who(member, key, filter) VALUES ('north', 'a', x'00');
--> Error: who: one row cannot have a key and a filter (INSERT several rows)
INSERT INTO who(member, who) VALUES ('north', 'optimize');
--> Error: who: one row cannot have a command and a member, key or filter (INSERT several rows)
INSERT INTO who(who) VALUES ('rebuild');
--> Error: who: the commands 'rebuild' and 'merge' are for a table with a source
INSERT INTO who(who) VALUES ('summarize');
--> Error: who: unknown command 'summarize' (the commands are 'rebuild', 'merge', 'optimize', 'clear' and 'integrity-check')
SELECT member FROM who WHERE key = 'a' COLLATE NOCASE;
--> Error: who: the filters cannot compare key under the collation NOCASE (compare it under COLLATE BINARY, or under the collation in the option collate)
INSERT INTO who(member, filter) SELECT 'north', bloom_build('b', 100, 0.0001);
--> Error: who: filter cannot be merged with the member: it has capacity 100 at fpr 0.0001 with k = 13, m = 1936 and block = 1936, not capacity 100 at fpr 0.0001 with k = 13, m = 2480 and block = 496 (give both the same block, or build both with bloom_build(key, template) from one empty filter)

CREATE TABLE calls(day, caller);
CREATE VIRTUAL TABLE callers USING bloom_groups(source=calls, member=day, column=caller);
INSERT INTO callers(member, key) VALUES ('mon', 'ann');
--> Error: callers: cannot INSERT into a table that follows 'calls' (change 'calls' instead)
INSERT INTO calls VALUES ('mon', 'ann');
DELETE FROM callers WHERE member = 'mon';
--> Error: callers: cannot change the members of a table that follows 'calls' (change 'calls' instead)
INSERT INTO callers(callers) VALUES ('clear');
--> Error: callers: cannot clear a table that follows 'calls' (change 'calls' instead)
DROP TABLE callers;

-- Filters that are too long
SELECT bloom_create(1000000000);
--> Error: bloom_create: the resulting filter must be at most 1000000000 bytes (SQLITE_LIMIT_LENGTH), got 1300234304; a table USING bloom can hold it (18)
