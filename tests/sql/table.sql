-- The statements of a bloom table, and what each refuses.
.bail off
.print -- options
CREATE VIRTUAL TABLE e USING bloom(growth=off);
CREATE VIRTUAL TABLE e USING bloom(kind=counting);
CREATE VIRTUAL TABLE e USING bloom(kind=counting, capacity=10, growth=on);
CREATE VIRTUAL TABLE e USING bloom(cells=10, hashes=2, growth=on);
CREATE VIRTUAL TABLE e USING bloom(growth=1);
CREATE VIRTUAL TABLE e USING bloom(growth=perhaps);
CREATE VIRTUAL TABLE e USING bloom(block=63);
CREATE VIRTUAL TABLE e USING bloom(collate=unicode);
CREATE VIRTUAL TABLE e USING bloom(capacity=10, source=t);
CREATE VIRTUAL TABLE e USING bloom(capacity=10, column=c);
CREATE VIRTUAL TABLE e USING bloom(capacity=10, source=12, column=c);
CREATE VIRTUAL TABLE e USING bloom(capacity=10, source='', column=c);
CREATE VIRTUAL TABLE e USING bloom(capacity=10, source=t, column=(a,));
CREATE VIRTUAL TABLE e USING bloom(capacity=10, source=t, column=c);
CREATE VIRTUAL TABLE e USING bloom(capacity=0);
CREATE VIRTUAL TABLE e USING bloom(capacity=-1);
CREATE VIRTUAL TABLE e USING bloom(capacity=1.5);
CREATE VIRTUAL TABLE e USING bloom(capacity='100');
CREATE VIRTUAL TABLE e USING bloom(capacity=abc);
CREATE VIRTUAL TABLE e USING bloom(capacity=);
CREATE VIRTUAL TABLE e USING bloom(capacity=1e300);
CREATE VIRTUAL TABLE e USING bloom(capacity=1099511627776);
CREATE VIRTUAL TABLE e USING bloom(10);
CREATE VIRTUAL TABLE e USING bloom(capacity=10, Capacity=20);
CREATE VIRTUAL TABLE e USING bloom(capacity=10, fpr=2);
CREATE VIRTUAL TABLE e USING bloom(capacity=10, fpr='0.1');
CREATE VIRTUAL TABLE e USING bloom(capacity=10, kind=cuckoo);
CREATE VIRTUAL TABLE e USING bloom(capacity=10, kind='coun''ting');
CREATE VIRTUAL TABLE e USING bloom(capacity=10, kind='counting' 'standard');
CREATE VIRTUAL TABLE e USING bloom(capacity=10, blok=512);
CREATE VIRTUAL TABLE e USING bloom(cells=10);
CREATE VIRTUAL TABLE e USING bloom(hashes=10);
CREATE VIRTUAL TABLE e USING bloom(cells=10, hashes=3, fpr=0.1);
CREATE VIRTUAL TABLE e USING bloom(cells=10, hashes=3, capacity=1);
CREATE VIRTUAL TABLE e USING bloom(cells=10, hashes=300);
CREATE VIRTUAL TABLE e USING bloom(cells=10, hashes=3, block=3);
CREATE VIRTUAL TABLE e USING bloom(capacity=10, kind=partitioned, block=1001);
CREATE VIRTUAL TABLE e USING bloom(capacity=10, cache=1);
CREATE VIRTUAL TABLE e USING bloom(capacity=10, seed=-1);
CREATE VIRTUAL TABLE key USING bloom(capacity=10);
CREATE VIRTUAL TABLE e USING bloom(capacity=10, "a control character	in a name that is far too long"=1);
SELECT count(*) FROM sqlite_master;
CREATE VIRTUAL TABLE e USING bloom ( CAPACITY = 1e3 , Kind = "counting", block=480 , seed = 7, cache=4096);
SELECT info FROM e;
SELECT name FROM sqlite_master ORDER BY name;
DROP TABLE e;
SELECT count(*) FROM sqlite_master;

.print -- the filter that the functions make
CREATE VIRTUAL TABLE a USING bloom(capacity=1000, fpr=0.001);
CREATE VIRTUAL TABLE b USING bloom(cells=1200, hashes=5, block=100, kind=counting);
CREATE VIRTUAL TABLE c USING bloom(cells=1120, hashes=7, kind=partitioned, seed=9);
INSERT INTO a(key) SELECT value FROM json_each('[1, 2.5, "x", 1]');
INSERT INTO b(key) SELECT value FROM json_each('[1, 2.5, "x", 1]');
INSERT INTO c(key) SELECT value FROM json_each('[1, 2.5, "x", 1]');
SELECT a.filter = bloom_build(value, 1000, 0.001) FROM json_each('[1, 2.5, "x"]'), a;
SELECT filter = bloom_add(bloom_create_sized(1200, 5, 'counting', 100), 1, 2.5, 'x', 1) FROM b;
SELECT filter = bloom_add(bloom_create_sized(1120, 7, 'partitioned', 0, 9), 1, 2.5, 'x', 1) FROM c;
SELECT a.info = bloom_info(a.filter), b.info = bloom_info(b.filter), c.info = bloom_info(c.filter) FROM a, b, c;

.print -- asking
SELECT key, typeof(key) FROM a WHERE key = 1;
SELECT key, typeof(key) FROM a WHERE key = '1';
SELECT key, typeof(key) FROM a WHERE key = 1.0;
SELECT key, typeof(key) FROM a WHERE key = x'31';
SELECT count(*) FROM a WHERE key = 2;
SELECT count(*) FROM a WHERE key = NULL;
SELECT key FROM a WHERE key IS 'x';
SELECT key FROM a WHERE key IN (1, 'y', NULL, 'x') ORDER BY key;
SELECT key FROM a WHERE key IN (SELECT value FROM json_each('[1, 7, "x", null]')) ORDER BY key;
SELECT key FROM a WHERE key = 'x' AND key = 'x';
SELECT key FROM a WHERE key = 'x' AND key = 1;
SELECT key FROM a WHERE key = 'x' OR key = 1 ORDER BY key;
SELECT key FROM a WHERE key = 'x' AND key > 'a';
SELECT * FROM a WHERE key = 'x';
SELECT key, a IS NULL FROM a WHERE key = 'x';
CREATE TABLE t(i INTEGER, r REAL, s TEXT, n TEXT COLLATE NOCASE);
INSERT INTO t VALUES (1, 1, '1', '1'), (2, 2, '2', '2'), (NULL, 2.5, 'x', 'X'), (3, NULL, NULL, NULL);
SELECT i, key FROM t JOIN a ON a.key = t.i;
SELECT r, key FROM t JOIN a ON a.key = t.r;
SELECT s, key FROM t JOIN a ON a.key = t.s;
SELECT s, key FROM a JOIN t ON t.s = a.key;
SELECT n, key FROM t JOIN a ON a.key = t.n;
SELECT n, key FROM t JOIN a ON t.n COLLATE BINARY = a.key;
SELECT s, key FROM t LEFT JOIN a ON a.key = t.s;
SELECT s, key FROM t CROSS JOIN a ON a.key = t.s;
SELECT s FROM t LEFT JOIN a ON a.key = t.s WHERE a.key IS NULL;
SELECT s FROM t WHERE EXISTS (SELECT 1 FROM a WHERE key = t.s);
SELECT s FROM t WHERE NOT EXISTS (SELECT 1 FROM a WHERE key = t.s);
SELECT t.s, u.s FROM t JOIN a ON a.key = t.s JOIN t AS u ON u.s = a.key;
SELECT t.i, t.s FROM t, a WHERE (a.key = t.i AND t.s = '1') OR (a.key = t.s AND t.s = 'x');
SELECT s, (SELECT count(*) FROM a WHERE key = t.s), (SELECT count(*) FROM b WHERE key IN (t.i, t.r)) FROM t;

.print -- not asking
SELECT * FROM a;
SELECT count(*) FROM a;
SELECT 1 FROM a;
SELECT a FROM a;
SELECT key, info FROM a;
SELECT key FROM a WHERE key > 1;
SELECT key FROM a WHERE key LIKE '1';
SELECT s FROM t WHERE s IN (SELECT key FROM a);
SELECT * FROM a LEFT JOIN t ON t.s = a.key;
SELECT n FROM t JOIN a ON t.n = a.key;
SELECT key FROM a WHERE key = 'x' COLLATE NOCASE;
SELECT key FROM a WHERE key = 'x' COLLATE NOCASE AND key = 'x';
SELECT key FROM a UNION SELECT 1;

.print -- rows that are refused
INSERT INTO a(key) VALUES (NULL);
INSERT INTO a DEFAULT VALUES;
INSERT INTO a(key, filter) VALUES (1, x'00');
INSERT INTO a(key, a) VALUES (1, 'clear');
INSERT INTO a(filter, a) VALUES (bloom_create(1000, 0.001), 'clear');
INSERT INTO a(info) VALUES ('{}');
INSERT INTO a(filter) VALUES (x'00');
INSERT INTO a(filter) SELECT substr(filter, 1, 100) FROM a;
INSERT INTO a(filter) SELECT filter FROM b;
INSERT INTO a(filter) VALUES (bloom_create(1000));
INSERT INTO a(filter) VALUES (bloom_create(100, 0.001));
INSERT INTO a(filter) VALUES (bloom_create_sized(14384, 10, 'standard', 14384, 1));
INSERT INTO a(a) VALUES ('rebuild');
INSERT INTO a(a) VALUES (1);
DELETE FROM a;
DELETE FROM a WHERE key = 1;
DELETE FROM a WHERE key = 'never added';
DELETE FROM a WHERE info IS NOT NULL;
UPDATE a SET key = 2;
UPDATE a SET key = 2 WHERE key = 1;
UPDATE b SET key = NULL WHERE key = 1;
UPDATE b SET filter = x'00' WHERE key = 1;
UPDATE b SET info = NULL WHERE key = 1;
UPDATE b SET b = 'clear' WHERE key = 1;
UPDATE b SET key = 2 WHERE info IS NOT NULL;
SELECT a.filter = bloom_build(value, 1000, 0.001) FROM json_each('[1, 2.5, "x"]'), a;
SELECT filter = bloom_add(bloom_create_sized(1200, 5, 'counting', 100), 1, 2.5, 'x', 1) FROM b;

.print -- conflict words, changes()
INSERT OR IGNORE INTO a(key) VALUES (1), ('new'), (NULL), ('newer'), ('new');
SELECT changes();
INSERT INTO a(key) VALUES (1), ('newest');
SELECT changes();
REPLACE INTO b(key) VALUES ('x');
INSERT OR FAIL INTO a(key) VALUES ('kept'), (NULL), ('after');
SELECT key FROM a WHERE key IN ('kept', 'after');
INSERT OR ABORT INTO a(key) VALUES ('aborted'), (NULL);
BEGIN;
INSERT INTO a(key) VALUES ('in transaction');
INSERT INTO a(key) VALUES ('aborted'), (NULL);
SELECT key FROM a WHERE key IN ('in transaction', 'aborted');
INSERT OR ROLLBACK INTO a(key) VALUES ('rolled back'), (NULL);
SELECT key FROM a WHERE key IN ('in transaction', 'aborted', 'rolled back');
COMMIT;
CREATE TABLE r(id INTEGER PRIMARY KEY);
INSERT INTO r VALUES (17);
CREATE VIRTUAL TABLE leaves_rowid USING bloom(capacity=100);
INSERT INTO leaves_rowid(key) VALUES ('with a chunk of its own'), ('and another');
SELECT last_insert_rowid();
BEGIN;
INSERT INTO leaves_rowid(leaves_rowid) VALUES ('clear');
INSERT INTO leaves_rowid(key) VALUES ('again');
COMMIT;
SELECT last_insert_rowid();

.print -- counting
SELECT key FROM b WHERE key IN (1, 2.5, 'x') ORDER BY key;
DELETE FROM b WHERE key = 1;
SELECT changes(), count(*) FROM b WHERE key = 1;
DELETE FROM b WHERE key IN (1, 'x', 'never added');
SELECT changes();
SELECT key FROM b WHERE key IN (1, 2.5, 'x') ORDER BY key;
UPDATE b SET key = 'u' WHERE key = 2.5;
SELECT filter = bloom_add(bloom_create_sized(1200, 5, 'counting', 100), 'u', 'x') FROM b;
INSERT INTO b(b) VALUES ('integrity-check');

.print -- merging, halving, clearing
INSERT INTO a(a) VALUES ('clear');
INSERT INTO a(filter) VALUES (bloom_add(bloom_create(1000, 0.001), 'm1'));
INSERT INTO a(key) VALUES ('m2');
INSERT INTO a(filter) VALUES (bloom_add(bloom_create_sized(28768, 10, 'standard', 28768), 'm3'));
SELECT filter = bloom_add(bloom_create(1000, 0.001), 'm1', 'm2', 'm3') FROM a;
INSERT INTO a(a) VALUES ('halve');
SELECT filter = bloom_halve(bloom_add(bloom_create(1000, 0.001), 'm1', 'm2', 'm3')) FROM a;
INSERT INTO a(filter) VALUES (bloom_add(bloom_create(1000, 0.001), 'm4'));
SELECT filter = bloom_halve(bloom_add(bloom_create(1000, 0.001), 'm1', 'm2', 'm3', 'm4')) FROM a;
SELECT json_extract(info, '$.capacity') FROM a;
INSERT INTO a(a) VALUES ('integrity-check');
CREATE VIRTUAL TABLE odd USING bloom(cells=1001, hashes=3);
INSERT INTO odd(odd) VALUES ('halve');

.print -- names, schemas
ALTER TABLE a RENAME TO "a 'b' ""c""";
INSERT INTO "a 'b' ""c"""(key) VALUES ('under another name');
SELECT key FROM "a 'b' ""c""" WHERE key IN ('under another name', 'm1') ORDER BY key;
ALTER TABLE odd RENAME TO Info;
SELECT name FROM sqlite_master WHERE name LIKE 'a %' OR name LIKE 'odd%' ORDER BY name;
CREATE TABLE taken_data(x);
CREATE VIRTUAL TABLE taken USING bloom(capacity=10);
BEGIN;
CREATE VIRTUAL TABLE taken USING bloom(capacity=10);
COMMIT;
SELECT count(*) FROM sqlite_master WHERE name LIKE 'taken%';
CREATE VIRTUAL TABLE temp.s USING bloom(capacity=10);
ATTACH ':memory:' AS "o'ther";
CREATE VIRTUAL TABLE "o'ther".s USING bloom(capacity=10);
INSERT INTO s(key) VALUES ('temp');
INSERT INTO "o'ther".s(key) VALUES ('other');
SELECT key FROM temp.s WHERE key IN ('temp', 'other');
SELECT key FROM "o'ther".s WHERE key IN ('temp', 'other');
DETACH "o'ther";
CREATE VIEW v AS SELECT s FROM t WHERE EXISTS (SELECT 1 FROM b WHERE key = t.s);
CREATE TRIGGER tr AFTER INSERT ON t BEGIN INSERT INTO b(key) VALUES (new.s); END;
PRAGMA trusted_schema = OFF;
INSERT INTO t(s) VALUES ('through a trigger');
SELECT * FROM v;

.print -- shadow tables are protected where the host wants it, and the table works there
.dbconfig defensive on
DELETE FROM b_data;
UPDATE b_config SET v = 2;
DROP TABLE b_data;
CREATE TABLE b_notes(x);
INSERT INTO b_notes VALUES ('not its own');
SELECT x FROM b_notes;
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
DROP TABLE safe;
.dbconfig defensive off

.print -- too long for a blob
CREATE VIRTUAL TABLE huge USING bloom(cells=68719476736, hashes=5, block=32768);
INSERT INTO huge(key) VALUES ('x');
SELECT key FROM huge WHERE key IN ('x', 'y');
SELECT filter FROM huge;
SELECT json_extract(info, '$.bytes') FROM huge;
PRAGMA integrity_check;

.print the call of a table, and filters that are compared
CREATE VIRTUAL TABLE called USING bloom(capacity=100);
INSERT INTO called VALUES ('x');
CREATE TABLE kept AS SELECT filter AS f FROM called;
SELECT * FROM called WHERE filter = 'x';
SELECT * FROM called WHERE filter = x'00';
SELECT * FROM called WHERE filter = 1 AND key = 'x';
SELECT EXISTS (SELECT 1 FROM called WHERE filter = value) FROM json_each('["x"]');
SELECT count(*) FROM called WHERE filter = NULL;
SELECT count(*) FROM kept JOIN called ON called.filter = kept.f;
SELECT count(*) FROM kept, called WHERE called.filter = kept.f AND key IN ('x', 'y');
SELECT count(*) FROM called WHERE filter = (SELECT bloom_create(10)) OR filter IS (SELECT f FROM kept);
SELECT length(filter) FROM called WHERE filter <> x'00';
