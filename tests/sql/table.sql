-- The statements of a bloom table, and what each refuses.
.bail off
-- options
CREATE VIRTUAL TABLE e USING bloom(growth=off);
--> Error: bloom: a table that does not grow needs a size (give capacity=N, or cells=M and hashes=K)
CREATE VIRTUAL TABLE e USING bloom(kind=counting);
--> Error: bloom: a table that does not grow needs a size (give capacity=N, or cells=M and hashes=K)
CREATE VIRTUAL TABLE e USING bloom(kind=counting, capacity=10, growth=on);
--> Error: bloom: a counting filter cannot grow: a key could be removed from a layer that does not have it (give it a capacity)
CREATE VIRTUAL TABLE e USING bloom(cells=10, hashes=2, growth=on);
--> Error: bloom: option growth cannot be given together with cells and hashes
CREATE VIRTUAL TABLE e USING bloom(growth=1);
--> Error: bloom: growth must be on or off, got 1
CREATE VIRTUAL TABLE e USING bloom(growth=perhaps);
--> Error: bloom: growth must be on or off, got 'perhaps'
CREATE VIRTUAL TABLE e USING bloom(block=63);
--> Error: bloom: block of a table that grows must be 0 or at least 64, got 63
CREATE VIRTUAL TABLE e USING bloom(collate=unicode);
--> Error: bloom: collate must be 'binary', 'nocase' or 'rtrim', got 'unicode'
CREATE VIRTUAL TABLE e USING bloom(capacity=10, source=t);
--> Error: bloom: source and column must be given together, got source only
CREATE VIRTUAL TABLE e USING bloom(capacity=10, column=c);
--> Error: bloom: source and column must be given together, got column only
CREATE VIRTUAL TABLE e USING bloom(capacity=10, source=12, column=c);
--> Error: bloom: source must be a name, got 12
CREATE VIRTUAL TABLE e USING bloom(capacity=10, source='', column=c);
--> Error: bloom: source must be a name, got ''
CREATE VIRTUAL TABLE e USING bloom(capacity=10, source=t, column=(a,));
--> Error: bloom: column must be a name, or names in brackets: (a, b), got '(a,)'
CREATE VIRTUAL TABLE e USING bloom(capacity=10, source=t, column=c);
--> Error: bloom: source 't' must be an ordinary table, got no table of this name in the schema main
CREATE VIRTUAL TABLE e USING bloom(capacity=0);
--> Error: bloom: capacity must be an integer between 1 and 1099511627776, got 0
CREATE VIRTUAL TABLE e USING bloom(capacity=-1);
--> Error: bloom: capacity must be an integer between 1 and 1099511627776, got -1
CREATE VIRTUAL TABLE e USING bloom(capacity=1.5);
--> Error: bloom: capacity must be an integer between 1 and 1099511627776, got 1.5
CREATE VIRTUAL TABLE e USING bloom(capacity='100x');
--> Error: bloom: capacity must be an integer between 1 and 1099511627776, got '100x'
CREATE VIRTUAL TABLE e USING bloom(capacity=abc);
--> Error: bloom: capacity must be an integer between 1 and 1099511627776, got 'abc'
CREATE VIRTUAL TABLE e USING bloom(capacity=);
--> Error: bloom: capacity must be an integer between 1 and 1099511627776, got ''
CREATE VIRTUAL TABLE e USING bloom(capacity=1e300);
--> Error: bloom: capacity must be an integer between 1 and 1099511627776, got 1.0e+300
CREATE VIRTUAL TABLE e USING bloom(capacity=1099511627776);
--> Error: bloom: capacity and fpr must be such that the filter has at most 1099511627776 cells, got capacity 1099511627776 and fpr 0.01
CREATE VIRTUAL TABLE e USING bloom(10);
--> Error: bloom: an option must be name=value, as capacity=1000000, got '10'
CREATE VIRTUAL TABLE e USING bloom(capacity=10, Capacity=20);
--> Error: bloom: option capacity is given twice
CREATE VIRTUAL TABLE e USING bloom(capacity=10, fpr=2);
--> Error: bloom: fpr must be a number between 0 and 1, got 2
CREATE VIRTUAL TABLE e USING bloom(capacity=10, fpr='0.1x');
--> Error: bloom: fpr must be a number between 0 and 1, got '0.1x'
CREATE VIRTUAL TABLE e USING bloom(capacity=10, kind=cuckoo);
--> Error: bloom: kind must be 'standard', 'counting' or 'partitioned', got 'cuckoo'
CREATE VIRTUAL TABLE e USING bloom(capacity=10, kind='coun''ting');
--> Error: bloom: kind must be 'standard', 'counting' or 'partitioned', got 'coun'ting'
CREATE VIRTUAL TABLE e USING bloom(capacity=10, kind='counting' 'standard');
--> Error: bloom: kind must be 'standard', 'counting' or 'partitioned', got ''counting' 'standard''
CREATE VIRTUAL TABLE e USING bloom(capacity=10, blok=512);
--> Error: bloom: unknown option 'blok' (the options are capacity, fpr, kind, block, seed, cells, hashes, growth, generations, collate, source, column, writers, on_stale and cache)
CREATE VIRTUAL TABLE e USING bloom(cells=10);
--> Error: bloom: cells and hashes must be given together, got cells only
CREATE VIRTUAL TABLE e USING bloom(hashes=10);
--> Error: bloom: cells and hashes must be given together, got hashes only
CREATE VIRTUAL TABLE e USING bloom(cells=10, hashes=3, fpr=0.1);
--> Error: bloom: option fpr cannot be given together with cells and hashes
CREATE VIRTUAL TABLE e USING bloom(cells=10, hashes=3, capacity=1);
--> Error: bloom: option capacity cannot be given together with cells and hashes
CREATE VIRTUAL TABLE e USING bloom(cells=10, hashes=300);
--> Error: bloom: hashes must be an integer between 1 and 255, got 300
CREATE VIRTUAL TABLE e USING bloom(cells=10, hashes=3, block=3);
--> Error: bloom: block must be 0 or a divisor of m = 10, got 3
CREATE VIRTUAL TABLE e USING bloom(capacity=10, kind=partitioned, block=1001);
--> Error: bloom: block must be a multiple of k = 4 (a partitioned filter has k equal slices), got 1001
CREATE VIRTUAL TABLE e USING bloom(capacity=10, cache=1);
--> Error: bloom: cache must be an integer between 4096 and 4294967296, got 1
CREATE VIRTUAL TABLE e USING bloom(capacity=10, seed=-1);
--> Error: bloom: seed must be an integer between 0 and 2147483647, got -1
CREATE VIRTUAL TABLE key USING bloom(capacity=10);
--> Error: bloom: a table cannot be called 'key': it has a column of this name (choose another name)
CREATE VIRTUAL TABLE e USING bloom(capacity=10, "a control character	in a name that is far too long"=1);
--> Error: bloom: unknown option '"a control character?in a name that is f...' (the options are capacity, fpr, kind, block, seed, cells, hashes, growth, generations, collate, source, column, writers, on_stale and cache)
SELECT count(*) FROM sqlite_master;
--> 0
CREATE VIRTUAL TABLE e USING bloom ( CAPACITY = 1e3 , Kind = "counting", block=480 , seed = 7, cache=4096);
SELECT info FROM e;
--> {"kind":"counting","cells":10080,"hashes":7,"block":480,"seed":7,"capacity":1000,"target_fpr":0.01,"fill":0,"keys":0,"fpr":0,"bytes":5104,"overfull":false,"saturated":0}
SELECT name FROM sqlite_master ORDER BY name;
--> e
--> e_config
--> e_data
--> e_rowlog
DROP TABLE e;
SELECT count(*) FROM sqlite_master;
--> 0

-- the filter that the functions make
CREATE VIRTUAL TABLE a USING bloom(capacity=1000, fpr=0.001);
CREATE VIRTUAL TABLE b USING bloom(cells=1200, hashes=5, block=100, kind=counting);
CREATE VIRTUAL TABLE c USING bloom(cells=1120, hashes=7, kind=partitioned, seed=9);
INSERT INTO a(key) SELECT value FROM json_each('[1, 2.5, "x", 1]');
INSERT INTO b(key) SELECT value FROM json_each('[1, 2.5, "x", 1]');
INSERT INTO c(key) SELECT value FROM json_each('[1, 2.5, "x", 1]');
SELECT a.filter = bloom_build(value, 1000, 0.001) FROM json_each('[1, 2.5, "x"]'), a;
--> 1
SELECT filter = bloom_add(bloom_create_sized(1200, 5, 'counting', 100), 1, 2.5, 'x', 1) FROM b;
--> 1
SELECT filter = bloom_add(bloom_create_sized(1120, 7, 'partitioned', 0, 9), 1, 2.5, 'x', 1) FROM c;
--> 1
SELECT a.info = bloom_info(a.filter), b.info = bloom_info(b.filter), c.info = bloom_info(c.filter) FROM a, b, c;
--> 1|1|1

-- asking
SELECT key, typeof(key) FROM a WHERE key = 1;
--> 1|integer
SELECT key, typeof(key) FROM a WHERE key = '1';
--> 1|text
SELECT key, typeof(key) FROM a WHERE key = 1.0;
--> 1.0|real
SELECT key, typeof(key) FROM a WHERE key = x'31';
--> 1|blob
SELECT count(*) FROM a WHERE key = 2;
--> 0
SELECT count(*) FROM a WHERE key = NULL;
--> 0
SELECT key FROM a WHERE key IS 'x';
--> x
SELECT key FROM a WHERE key IN (1, 'y', NULL, 'x') ORDER BY key;
--> 1
--> x
SELECT key FROM a WHERE key IN (SELECT value FROM json_each('[1, 7, "x", null]')) ORDER BY key;
--> 1
--> x
SELECT key FROM a WHERE key = 'x' AND key = 'x';
--> x
SELECT key FROM a WHERE key = 'x' AND key = 1;
SELECT key FROM a WHERE key = 'x' OR key = 1 ORDER BY key;
--> 1
--> x
SELECT key FROM a WHERE key = 'x' AND key > 'a';
--> x
SELECT * FROM a WHERE key = 'x';
--> x
SELECT key, a IS NULL FROM a WHERE key = 'x';
--> x|1
CREATE TABLE t(i INTEGER, r REAL, s TEXT, n TEXT COLLATE NOCASE);
INSERT INTO t VALUES (1, 1, '1', '1'), (2, 2, '2', '2'), (NULL, 2.5, 'x', 'X'), (3, NULL, NULL, NULL);
SELECT i, key FROM t JOIN a ON a.key = t.i;
--> 1|1
SELECT r, key FROM t JOIN a ON a.key = t.r;
--> 1.0|1.0
--> 2.5|2.5
SELECT s, key FROM t JOIN a ON a.key = t.s;
--> 1|1
--> x|x
SELECT s, key FROM a JOIN t ON t.s = a.key;
--> 1|1
--> x|x
SELECT n, key FROM t JOIN a ON a.key = t.n;
--> 1|1
SELECT n, key FROM t JOIN a ON t.n COLLATE BINARY = a.key;
--> 1|1
SELECT s, key FROM t LEFT JOIN a ON a.key = t.s;
--> 1|1
--> 2|
--> x|x
--> |
SELECT s, key FROM t CROSS JOIN a ON a.key = t.s;
--> 1|1
--> x|x
SELECT s FROM t LEFT JOIN a ON a.key = t.s WHERE a.key IS NULL;
--> 2
--> 
SELECT s FROM t WHERE EXISTS (SELECT 1 FROM a WHERE key = t.s);
--> 1
--> x
SELECT s FROM t WHERE NOT EXISTS (SELECT 1 FROM a WHERE key = t.s);
--> 2
--> 
SELECT t.s, u.s FROM t JOIN a ON a.key = t.s JOIN t AS u ON u.s = a.key;
--> 1|1
--> x|x
SELECT t.i, t.s FROM t, a WHERE (a.key = t.i AND t.s = '1') OR (a.key = t.s AND t.s = 'x');
--> 1|1
--> |x
SELECT s, (SELECT count(*) FROM a WHERE key = t.s), (SELECT count(*) FROM b WHERE key IN (t.i, t.r)) FROM t;
--> 1|1|1
--> 2|0|0
--> x|1|1
--> |0|0

-- not asking
SELECT * FROM a;
--> Error: a: cannot list the keys of a Bloom filter (give the key: key = ?, key IN (...), JOIN ... ON key = t.k, or EXISTS (SELECT 1 FROM ... WHERE key = t.k); the column keys says how many keys there are, and the command 'clear' empties the table)
SELECT count(*) FROM a;
--> 3
SELECT 1 FROM a;
--> 1
--> 1
--> 1
SELECT a FROM a;
--> Error: a: cannot list the keys of a Bloom filter (give the key: key = ?, key IN (...), JOIN ... ON key = t.k, or EXISTS (SELECT 1 FROM ... WHERE key = t.k); the column keys says how many keys there are, and the command 'clear' empties the table)
SELECT key, info FROM a;
--> Error: a: cannot list the keys of a Bloom filter (give the key: key = ?, key IN (...), JOIN ... ON key = t.k, or EXISTS (SELECT 1 FROM ... WHERE key = t.k); the column keys says how many keys there are, and the command 'clear' empties the table)
SELECT key FROM a WHERE key > 1;
--> Error: a: cannot list the keys of a Bloom filter (give the key: key = ?, key IN (...), JOIN ... ON key = t.k, or EXISTS (SELECT 1 FROM ... WHERE key = t.k); the column keys says how many keys there are, and the command 'clear' empties the table)
SELECT key FROM a WHERE key LIKE '1';
--> Error: a: cannot list the keys of a Bloom filter (give the key: key = ?, key IN (...), JOIN ... ON key = t.k, or EXISTS (SELECT 1 FROM ... WHERE key = t.k); the column keys says how many keys there are, and the command 'clear' empties the table)
SELECT s FROM t WHERE s IN (SELECT key FROM a);
--> Error: a: cannot list the keys of a Bloom filter (give the key: key = ?, key IN (...), JOIN ... ON key = t.k, or EXISTS (SELECT 1 FROM ... WHERE key = t.k); the column keys says how many keys there are, and the command 'clear' empties the table)
SELECT * FROM a LEFT JOIN t ON t.s = a.key;
--> Error: a: cannot list the keys of a Bloom filter (give the key: key = ?, key IN (...), JOIN ... ON key = t.k, or EXISTS (SELECT 1 FROM ... WHERE key = t.k); the column keys says how many keys there are, and the command 'clear' empties the table)
SELECT n FROM t JOIN a ON t.n = a.key;
--> Error: a: the filter cannot compare key under the collation NOCASE (compare it with COLLATE BINARY, or make the table with collate=nocase or collate=rtrim)
SELECT key FROM a WHERE key = 'x' COLLATE NOCASE;
--> Error: a: the filter cannot compare key under the collation NOCASE (compare it with COLLATE BINARY, or make the table with collate=nocase or collate=rtrim)
SELECT key FROM a WHERE key = 'x' COLLATE NOCASE AND key = 'x';
--> x
SELECT key FROM a UNION SELECT 1;
--> Error: a: cannot list the keys of a Bloom filter (give the key: key = ?, key IN (...), JOIN ... ON key = t.k, or EXISTS (SELECT 1 FROM ... WHERE key = t.k); the column keys says how many keys there are, and the command 'clear' empties the table)

-- rows that are refused
INSERT INTO a(key) VALUES (NULL);
--> Error: a: key must not be NULL (NULL is never a key) (19)
INSERT INTO a DEFAULT VALUES;
--> Error: a: key must not be NULL (NULL is never a key) (19)
INSERT INTO a(key, filter) VALUES (1, x'00');
--> Error: a: one row cannot have more than one of key, filter and command (INSERT several rows)
INSERT INTO a(key, a) VALUES (1, 'clear');
--> Error: a: one row cannot have more than one of key, filter and command (INSERT several rows)
INSERT INTO a(filter, a) VALUES (bloom_create(1000, 0.001), 'clear');
--> Error: a: one row cannot have more than one of key, filter and command (INSERT several rows)
INSERT INTO a(info) VALUES ('{}');
--> Error: a: the column info is read-only (INSERT a key, a filter or a command)
INSERT INTO a(bytes) VALUES (1);
--> Error: a: the column bytes is read-only (INSERT a key, a filter or a command)
INSERT INTO a(a, stale) VALUES ('clear', 1);
--> Error: a: the column stale is read-only (INSERT a key, a filter or a command)
INSERT INTO a(filter) VALUES (x'00');
--> Error: a: filter is not a bloom filter (a header has 64 bytes, got 1)
INSERT INTO a(filter) SELECT substr(filter, 1, 100) FROM a;
--> Error: a: filter is a damaged bloom filter (100 bytes where the header says 1864; restore it from a backup or build it again) (11)
INSERT INTO a(filter) SELECT filter FROM b;
--> Error: a: filter cannot be merged with the table: it has kind counting, not standard (give both the same kind; bloom_standard() converts a counting filter)
INSERT INTO a(filter) VALUES (bloom_create(1000));
--> Error: a: filter cannot be merged with the table: it has capacity 1000 at fpr 0.01 with k = 7, m = 9600 and block = 9600, not capacity 1000 at fpr 0.001 with k = 10, m = 14400 and block = 14400 (give both the same capacity and fpr, or build both with bloom_build(key, template) from one empty filter)
INSERT INTO a(filter) VALUES (bloom_create(100, 0.001));
--> Error: a: filter cannot be merged with the table: it has capacity 100 at fpr 0.001 with k = 10, m = 1456 and block = 1456, not capacity 1000 at fpr 0.001 with k = 10, m = 14400 and block = 14400 (give both the same capacity and fpr, or build both with bloom_build(key, template) from one empty filter)
INSERT INTO a(filter) VALUES (bloom_create_sized(14384, 10, 'standard', 14384, 1));
--> Error: a: filter cannot be merged with the table: it has seed 1, not 0 (give both the same seed)
INSERT INTO a(a) VALUES ('rebuild');
--> Error: a: cannot rebuild a table without a source: a Bloom filter cannot list its keys
INSERT INTO a(a) VALUES ('halve' || char(0) || 'x');
--> Error: a: unknown command 'halve?x' (the commands are 'rebuild', 'merge', 'clear', 'rotate', 'halve', 'fold' and 'integrity-check')
INSERT INTO a(a) VALUES (1);
--> Error: a: unknown command 1 (the commands are 'rebuild', 'merge', 'clear', 'rotate', 'halve', 'fold' and 'integrity-check')
DELETE FROM a;
--> Error: a: cannot list the keys of a Bloom filter (give the key: key = ?, key IN (...), JOIN ... ON key = t.k, or EXISTS (SELECT 1 FROM ... WHERE key = t.k); the column keys says how many keys there are, and the command 'clear' empties the table)
DELETE FROM a WHERE key = 1;
--> Error: a: cannot remove a key from a standard filter (make the table with kind=counting)
DELETE FROM a WHERE key = 'never added';
DELETE FROM a WHERE info IS NOT NULL;
--> Error: a: cannot list the keys of a Bloom filter (give the key: key = ?, key IN (...), JOIN ... ON key = t.k, or EXISTS (SELECT 1 FROM ... WHERE key = t.k); the column keys says how many keys there are, and the command 'clear' empties the table)
UPDATE a SET key = 2;
--> Error: a: cannot list the keys of a Bloom filter (give the key: key = ?, key IN (...), JOIN ... ON key = t.k, or EXISTS (SELECT 1 FROM ... WHERE key = t.k); the column keys says how many keys there are, and the command 'clear' empties the table)
UPDATE a SET key = 2 WHERE key = 1;
--> Error: a: cannot remove a key from a standard filter (make the table with kind=counting)
UPDATE b SET key = NULL WHERE key = 1;
--> Error: b: key must not be NULL (NULL is never a key) (19)
UPDATE b SET filter = x'00' WHERE key = 1;
--> Error: b: an UPDATE can change the column key alone, and without FROM
UPDATE b SET info = NULL WHERE key = 1;
--> Error: b: an UPDATE can change the column key alone, and without FROM
UPDATE b SET b = 'clear' WHERE key = 1;
--> Error: b: an UPDATE can change the column key alone, and without FROM
UPDATE b SET key = 2 WHERE info IS NOT NULL;
--> Error: b: cannot list the keys of a Bloom filter (give the key: key = ?, key IN (...), JOIN ... ON key = t.k, or EXISTS (SELECT 1 FROM ... WHERE key = t.k); the column keys says how many keys there are, and the command 'clear' empties the table)
SELECT a.filter = bloom_build(value, 1000, 0.001) FROM json_each('[1, 2.5, "x"]'), a;
--> 1
SELECT filter = bloom_add(bloom_create_sized(1200, 5, 'counting', 100), 1, 2.5, 'x', 1) FROM b;
--> 1

-- conflict words, changes()
INSERT OR IGNORE INTO a(key) VALUES (1), ('new'), (NULL), ('newer'), ('new');
SELECT changes();
--> 2
INSERT INTO a(key) VALUES (1), ('newest');
SELECT changes();
--> 2
REPLACE INTO b(key) VALUES ('x');
INSERT OR FAIL INTO a(key) VALUES ('kept'), (NULL), ('after');
--> Error: a: key must not be NULL (NULL is never a key) (19)
SELECT key FROM a WHERE key IN ('kept', 'after');
--> kept
INSERT OR ABORT INTO a(key) VALUES ('aborted'), (NULL);
--> Error: a: key must not be NULL (NULL is never a key) (19)
BEGIN;
INSERT INTO a(key) VALUES ('in transaction');
INSERT INTO a(key) VALUES ('aborted'), (NULL);
--> Error: a: key must not be NULL (NULL is never a key) (19)
SELECT key FROM a WHERE key IN ('in transaction', 'aborted');
--> in transaction
INSERT OR ROLLBACK INTO a(key) VALUES ('rolled back'), (NULL);
--> Error: a: key must not be NULL (NULL is never a key) (19)
SELECT key FROM a WHERE key IN ('in transaction', 'aborted', 'rolled back');
COMMIT;
--> Error: cannot commit - no transaction is active
CREATE TABLE r(id INTEGER PRIMARY KEY);
INSERT INTO r VALUES (17);
CREATE VIRTUAL TABLE leaves_rowid USING bloom(capacity=100);
INSERT INTO leaves_rowid(key) VALUES ('with a chunk of its own'), ('and another');
SELECT last_insert_rowid();
--> 17
BEGIN;
INSERT INTO leaves_rowid(leaves_rowid) VALUES ('clear');
INSERT INTO leaves_rowid(key) VALUES ('again');
COMMIT;
SELECT last_insert_rowid();
--> 17

-- counting
SELECT key FROM b WHERE key IN (1, 2.5, 'x') ORDER BY key;
--> 1
--> 2.5
--> x
DELETE FROM b WHERE key = 1;
SELECT changes(), count(*) FROM b WHERE key = 1;
--> 1|1
DELETE FROM b WHERE key IN (1, 'x', 'never added');
SELECT changes();
--> 2
SELECT key FROM b WHERE key IN (1, 2.5, 'x') ORDER BY key;
--> 2.5
--> x
UPDATE b SET key = 'u' WHERE key = 2.5;
SELECT filter = bloom_add(bloom_create_sized(1200, 5, 'counting', 100), 'u', 'x') FROM b;
--> 1
INSERT INTO b(b) VALUES ('integrity-check');

-- merging, halving, clearing
INSERT INTO a(a) VALUES ('clear');
INSERT INTO a(filter) VALUES (bloom_add(bloom_create(1000, 0.001), 'm1'));
INSERT INTO a(key) VALUES ('m2');
INSERT INTO a(filter) VALUES (bloom_add(bloom_create_sized(28800, 10, 'standard', 28800), 'm3'));
SELECT filter = bloom_add(bloom_create(1000, 0.001), 'm1', 'm2', 'm3') FROM a;
--> 1
INSERT INTO a(a) VALUES ('halve');
SELECT filter = bloom_halve(bloom_add(bloom_create(1000, 0.001), 'm1', 'm2', 'm3')) FROM a;
--> 1
INSERT INTO a(filter) VALUES (bloom_add(bloom_create(1000, 0.001), 'm4'));
SELECT filter = bloom_halve(bloom_add(bloom_create(1000, 0.001), 'm1', 'm2', 'm3', 'm4')) FROM a;
--> 1
SELECT json_extract(info, '$.capacity') FROM a;
--> 500
INSERT INTO a(a) VALUES ('integrity-check');
CREATE VIRTUAL TABLE odd USING bloom(cells=1001, hashes=3);
INSERT INTO odd(odd) VALUES ('halve');
--> Error: odd: the table cannot be halved: the number of blocks (1) and the number of cells per block or slice (1001) are both odd

-- a filter of no rows leaves the table as it is
INSERT INTO a(filter) SELECT bloom_build(key) FROM (SELECT 1 AS key WHERE 0);
SELECT filter = bloom_halve(bloom_add(bloom_create(1000, 0.001), 'm1', 'm2', 'm3', 'm4')) FROM a;
--> 1
CREATE VIRTUAL TABLE large USING bloom(capacity=64000);
CREATE VIRTUAL TABLE counted USING bloom(capacity=64000, kind=counting);
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1500) INSERT INTO large(key) SELECT i FROM n;
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1500) INSERT INTO counted(key) SELECT i FROM n;
CREATE TEMP TABLE before AS SELECT large.filter AS large, counted.filter AS counted FROM large, counted;
INSERT INTO large(large, fpr) VALUES ('fold', 0.01);
INSERT INTO counted(fpr, counted) SELECT target_fpr, 'FOLD' FROM before, bloom_stats(before.counted);
SELECT large.filter = bloom_fold(before.large, 0.01), counted.filter = bloom_fold(before.counted, 0.01), length(large.filter) < length(before.large) / 15 FROM large, counted, before;
--> 1|1|1
INSERT INTO large(large, fpr) VALUES ('fold', 0.2);
SELECT large.filter = bloom_fold(bloom_fold(before.large, 0.01), 0.2) FROM large, before;
--> 1
SELECT count(*) FROM (WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1500) SELECT i FROM n) JOIN large ON large.key = i;
--> 1500
INSERT INTO large(large, fpr) VALUES ('fold', 1e-9);
INSERT INTO large(large) VALUES ('integrity-check');
INSERT INTO counted(counted) VALUES ('integrity-check');
DELETE FROM counted WHERE key IN (1, 2);
SELECT counted.filter = bloom_remove(bloom_fold(before.counted, 0.01), 1, 2) FROM counted, before;
--> 1
INSERT INTO large(large) VALUES ('fold');
--> Error: large: fpr, the argument of 'fold', must be a number between 0 and 1, got NULL
INSERT INTO large(large, fpr) VALUES ('fold', '0.01');
--> Error: large: fpr, the argument of 'fold', must be a number between 0 and 1, got '0.01'
INSERT INTO large(large, fpr) VALUES ('fold', 1);
--> Error: large: fpr, the argument of 'fold', must be a number between 0 and 1, got 1
INSERT INTO large(large, fpr) VALUES ('halve', 0.01);
--> Error: large: the column fpr is the argument of the command 'fold', got the command 'halve'
INSERT INTO large(filter, fpr) SELECT large, 0.01 FROM before;
--> Error: large: the column fpr is read-only (INSERT a key, a filter or a command)
INSERT INTO large(large, fpr, keys) VALUES ('fold', 0.01, 1);
--> Error: large: the column keys is read-only (INSERT a key, a filter or a command)
DROP TABLE large;
DROP TABLE counted;
DROP TABLE before;

-- a smaller filter is doubled, a larger one is halved unless it has too many keys
CREATE VIRTUAL TABLE merged USING bloom(capacity=64000);
INSERT INTO merged(filter) VALUES (bloom_halve(bloom_add(bloom_create(64000), 'small'), 3));
SELECT filter = bloom_union(bloom_create(64000), bloom_halve(bloom_add(bloom_create(64000), 'small'), 3)) FROM merged;
--> 1
SELECT key FROM merged WHERE key IN ('small', 'large');
--> small
INSERT INTO merged(merged) VALUES ('halve'), ('halve');
CREATE TEMP TABLE full AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 40000) SELECT bloom_build(i, 64000) AS filter FROM n;
INSERT INTO merged(filter) SELECT filter FROM full;
--> Error: merged: filter has about 39954 keys, and the table has a capacity of 16000: the false-positive rate would be 27 % (merge it into a larger table, or INSERT bloom_halve(filter, times) nevertheless)
INSERT INTO merged(filter) VALUES (bloom_add(bloom_create(64000), 'large'));
INSERT INTO merged(merged) VALUES ('integrity-check');
SELECT key FROM merged WHERE key IN ('small', 'large') ORDER BY key;
--> large
--> small
INSERT INTO merged(filter) SELECT bloom_halve(filter, 2) FROM full;
SELECT count(*) FROM (WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 40000) SELECT i FROM n) JOIN merged ON merged.key = i;
--> 40000
DROP TABLE merged;
DROP TABLE full;

-- names, schemas
ALTER TABLE a RENAME TO "a 'b' ""c""";
INSERT INTO "a 'b' ""c"""(key) VALUES ('under another name');
SELECT key FROM "a 'b' ""c""" WHERE key IN ('under another name', 'm1') ORDER BY key;
--> m1
--> under another name
ALTER TABLE odd RENAME TO Info;
--> Error: odd: a table cannot be called 'Info': it has a column of this name (choose another name)
SELECT name FROM sqlite_master WHERE name LIKE 'a %' OR name LIKE 'odd%' ORDER BY name;
--> a 'b' "c"
--> a 'b' "c"_config
--> a 'b' "c"_data
--> a 'b' "c"_rowlog
--> odd
--> odd_config
--> odd_data
--> odd_rowlog
CREATE TABLE taken_data(x);
CREATE VIRTUAL TABLE taken USING bloom(capacity=10);
--> Error: bloom: table "taken_data" already exists
BEGIN;
CREATE VIRTUAL TABLE taken USING bloom(capacity=10);
--> Error: bloom: table "taken_data" already exists
COMMIT;
SELECT count(*) FROM sqlite_master WHERE name LIKE 'taken%';
--> 1
CREATE VIRTUAL TABLE temp.s USING bloom(capacity=10);
ATTACH ':memory:' AS "o'ther";
CREATE VIRTUAL TABLE "o'ther".s USING bloom(capacity=10);
INSERT INTO s(key) VALUES ('temp');
INSERT INTO "o'ther".s(key) VALUES ('other');
SELECT key FROM temp.s WHERE key IN ('temp', 'other');
--> temp
SELECT key FROM "o'ther".s WHERE key IN ('temp', 'other');
--> other
DETACH "o'ther";
CREATE VIEW v AS SELECT s FROM t WHERE EXISTS (SELECT 1 FROM b WHERE key = t.s);
CREATE TRIGGER tr AFTER INSERT ON t BEGIN INSERT INTO b(key) VALUES (new.s); END;
PRAGMA trusted_schema = OFF;
INSERT INTO t(s) VALUES ('through a trigger');
SELECT * FROM v;
--> x
--> through a trigger

-- shadow tables are protected where the host wants it, and the table works there
.dbconfig defensive on
-->           defensive on
DELETE FROM b_data;
--> Error: table b_data may not be modified
UPDATE b_config SET v = 2;
--> Error: table b_config may not be modified
DROP TABLE b_data;
--> Error: table b_data may not be dropped
CREATE TABLE b_notes(x);
INSERT INTO b_notes VALUES ('not its own');
SELECT x FROM b_notes;
--> not its own
BEGIN;
CREATE VIRTUAL TABLE guarded USING bloom(capacity=1000, kind=counting);
INSERT INTO guarded(key) VALUES ('a'), ('b');
SAVEPOINT s;
DELETE FROM guarded WHERE key = 'a';
INSERT INTO guarded(guarded) VALUES ('halve');
COMMIT;
ALTER TABLE guarded RENAME TO safe;
INSERT INTO safe(key) VALUES ('c');
SELECT key FROM safe WHERE key IN ('a', 'b', 'c');
--> b
--> c
DROP TABLE safe;
CREATE VIRTUAL TABLE guarded USING bloom(capacity=1000, generations=2);
INSERT INTO guarded(key) VALUES ('a');
INSERT INTO guarded(guarded) VALUES ('rotate');
INSERT INTO guarded(key) VALUES ('b');
INSERT INTO guarded(guarded) VALUES ('rotate');
SELECT key FROM guarded WHERE key IN ('a', 'b');
--> b
DROP TABLE guarded;
.dbconfig defensive off
-->           defensive off

-- too long for a blob
CREATE VIRTUAL TABLE huge USING bloom(cells=68719476736, hashes=5, block=32768);
INSERT INTO huge(key) VALUES ('x');
SELECT key FROM huge WHERE key IN ('x', 'y');
--> x
SELECT filter FROM huge;
--> Error: huge: the filter must be at most 1000000000 bytes (SQLITE_LIMIT_LENGTH), got 8589934656; look keys up in the table itself, or halve it (18)
SELECT json_extract(info, '$.bytes') FROM huge;
--> 8589934656
PRAGMA integrity_check;
--> ok

-- the call of a table, and filters that are compared
CREATE VIRTUAL TABLE called USING bloom(capacity=100);
INSERT INTO called VALUES ('x');
CREATE TABLE kept AS SELECT filter AS f FROM called;
SELECT * FROM called WHERE filter = 'x';
--> Error: called: the column filter is compared with 'x', which is no filter (look a key up by key = ?, not as an argument of the table)
SELECT * FROM called WHERE filter = x'00';
--> Error: called: the column filter is compared with a blob of 1 bytes, which is no filter (look a key up by key = ?, not as an argument of the table)
SELECT * FROM called WHERE filter = 1 AND key = 'x';
--> Error: called: the column filter is compared with 1, which is no filter (look a key up by key = ?, not as an argument of the table)
SELECT EXISTS (SELECT 1 FROM called WHERE filter = value) FROM json_each('["x"]');
--> Error: called: the column filter is compared with 'x', which is no filter (look a key up by key = ?, not as an argument of the table)
SELECT count(*) FROM called WHERE filter = NULL;
--> 0
SELECT count(*) FROM kept JOIN called ON called.filter = kept.f;
--> 1
SELECT count(*) FROM kept, called WHERE called.filter = kept.f AND key IN ('x', 'y');
--> 1
SELECT count(*) FROM called WHERE filter = (SELECT bloom_create(10)) OR filter IS (SELECT f FROM kept);
--> 1
SELECT length(filter) FROM called WHERE filter <> x'00';
--> 186

-- generations
CREATE VIRTUAL TABLE e USING bloom(generations=4);
--> Error: bloom: a table with generations needs a capacity: the keys of all generations together
CREATE VIRTUAL TABLE e USING bloom(generations=1, capacity=100);
--> Error: bloom: generations must be an integer between 2 and 64, got 1
CREATE VIRTUAL TABLE e USING bloom(generations=65, capacity=100);
--> Error: bloom: generations must be an integer between 2 and 64, got 65
CREATE VIRTUAL TABLE e USING bloom(generations='many', capacity=100);
--> Error: bloom: generations must be an integer between 2 and 64, got 'many'
CREATE VIRTUAL TABLE e USING bloom(generations=4, capacity=100, kind=counting);
--> Error: bloom: a counting filter cannot have generations: a key could be removed from a generation that does not have it
CREATE VIRTUAL TABLE e USING bloom(generations=4, capacity=100, growth=on);
--> Error: bloom: a table with generations does not grow (give it the capacity of the whole window)
CREATE VIRTUAL TABLE e USING bloom(generations=4, cells=1000, hashes=3);
--> Error: bloom: option generations cannot be given together with cells and hashes (give capacity and fpr)
CREATE VIRTUAL TABLE e USING bloom(generations=4, capacity=100, source=called, column=key);
--> Error: bloom: a table that follows a source cannot have generations: it would forget keys that the source still has
CREATE VIRTUAL TABLE recent USING bloom(capacity=1001, fpr=0.04, generations=4, seed=7, collate=nocase);
INSERT INTO recent(key) VALUES ('a'), ('B');
INSERT INTO recent(recent) VALUES ('rotate');
INSERT INTO recent VALUES ('c');
SELECT keys, capacity, bytes, overfull, layers, generations, stale, pending FROM recent;
--> 3|1004|1464|0|4|4||
SELECT capacity, layers, generations FROM called;
--> 100|1|
SELECT json_extract(value, '$.keys'), json_extract(value, '$.capacity'), json_extract(value, '$.target_fpr') FROM recent, json_each(info, '$.generations');
--> 0|251|0.01
--> 0|251|0.01
--> 2|251|0.01
--> 1|251|0.01
SELECT json_extract(info, '$.layers'), json_extract(info, '$.hashes'), json_extract(info, '$.target_fpr') FROM recent;
--> ||0.04
INSERT INTO recent(recent) VALUES ('ROTATE'), ('rotate');
SELECT key FROM recent WHERE key IN ('A', 'b', 'C', 'd');
--> A
--> b
--> C
INSERT OR IGNORE INTO recent VALUES ('A'), ('c'), ('c'), ('d'), (NULL);
SELECT changes();
--> 1
INSERT INTO recent VALUES ('b');
INSERT INTO recent(recent) VALUES ('rotate');
SELECT key FROM recent WHERE key IN ('A', 'b', 'C', 'd');
--> b
--> C
--> d
INSERT INTO recent(recent) VALUES ('rotate');
INSERT INTO recent(recent) VALUES ('rotate');
SELECT key FROM recent WHERE key IN ('A', 'b', 'C', 'd');
--> b
--> d
INSERT INTO recent(filter) VALUES (bloom_add(bloom_create(251, 0.01), 'x'));
--> Error: recent: filter cannot be merged with the table: it has seed 0, not 7 (give both the same seed)
CREATE VIRTUAL TABLE one_generation USING bloom(capacity=251, fpr=0.01, seed=7, collate=nocase);
INSERT INTO one_generation VALUES ('X');
INSERT INTO recent(filter) SELECT filter FROM one_generation;
SELECT key FROM recent WHERE key IN ('x', 'y', 'd');
--> d
--> x
INSERT INTO recent(recent) VALUES ('clear');
SELECT keys, generations FROM recent;
--> 0|4
SELECT filter FROM recent;
--> Error: recent: cannot read the filter of a table with generations (it consists of 4 filters, one for each generation)
INSERT INTO recent(recent) VALUES ('halve');
--> Error: recent: cannot halve a table with generations (it consists of 4 filters, one for each generation)
INSERT INTO recent(recent, fpr) VALUES ('fold', 0.5);
--> Error: recent: cannot fold a table with generations (it consists of 4 filters, one for each generation)
INSERT INTO recent(recent) VALUES ('rebuild');
--> Error: recent: cannot rebuild a table without a source: a Bloom filter cannot list its keys
INSERT INTO recent(recent) VALUES ('merge');
--> Error: recent: cannot merge changes into a table without a source: it has no pending changes
INSERT INTO recent(generations) VALUES (3);
--> Error: recent: the column generations is read-only (INSERT a key, a filter or a command)
INSERT INTO recent VALUES ('a');
DELETE FROM recent WHERE key = 'a';
--> Error: recent: cannot remove a key from a table with generations ('rotate' drops the oldest keys)
UPDATE recent SET key = 'b' WHERE key = 'a';
--> Error: recent: cannot remove a key from a table with generations ('rotate' drops the oldest keys)
INSERT INTO called(called) VALUES ('rotate');
--> Error: called: cannot rotate a table without generations (make the table with generations=4)
PRAGMA integrity_check;
--> ok
