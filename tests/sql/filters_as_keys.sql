-- A filter given as a key was hashed silently, although the caller meant to merge it.
CREATE TABLE a(filter BLOB);
INSERT INTO a SELECT bloom_build('x', 100);
CREATE TABLE b(filter BLOB);
INSERT INTO b SELECT bloom_build('y', 100);
SELECT bloom_add(a.filter, b.filter) FROM a, b;
--> Error: bloom_add: argument 2 must not be a bloom filter (bloom_union merges filters)
SELECT bloom_add(a.filter, 'z', b.filter) FROM a, b;
--> Error: bloom_add: argument 3 must not be a bloom filter (bloom_union merges filters)
SELECT bloom_remove(bloom_create(100, 0.01, 'counting'), filter) FROM a;
--> Error: bloom_remove: argument 2 must not be a bloom filter (bloom_union merges filters)
SELECT bloom_contains(a.filter, b.filter) FROM a, b;
--> Error: bloom_contains: argument 2 must not be a bloom filter (bloom_union merges filters)
SELECT bloom_contains((SELECT bloom_open(filter) FROM a), filter) FROM b;
--> Error: bloom_contains: argument 2 must not be a bloom filter (bloom_union merges filters)
SELECT bloom_contains_all(a.filter, 'x', b.filter) FROM a, b;
--> Error: bloom_contains_all: argument 3 must not be a bloom filter (bloom_union merges filters)
SELECT bloom_contains_any(a.filter, 'y', b.filter) FROM a, b;
--> Error: bloom_contains_any: argument 3 must not be a bloom filter (bloom_union merges filters)
SELECT bloom_build(filter) FROM a;
--> Error: bloom_build: argument 1 must not be a bloom filter (bloom_union merges filters)
SELECT bloom_build(filter, 100) FROM a;
--> Error: bloom_build: argument 1 must not be a bloom filter (bloom_union merges filters)
SELECT i FROM a, b, bloom_positions(a.filter, b.filter);
--> Error: bloom_positions: argument 2 must not be a bloom filter (bloom_union merges filters)
-- a handle is NULL to SQL, and a NULL key would be skipped
SELECT bloom_contains(filter, (SELECT bloom_open(filter) FROM b)) FROM a;
--> Error: bloom_contains: argument 2 must not be a bloom filter (bloom_union merges filters)
SELECT bloom_add(filter, (SELECT bloom_open(filter) FROM b)) FROM a;
--> Error: bloom_add: argument 2 must not be a bloom filter (bloom_union merges filters)
-- other blobs are keys, also if they begin like a filter, and so is a damaged filter
SELECT bloom_contains(bloom_add(filter, substr(filter, 1, 64)), substr(filter, 1, 64)), bloom_contains(bloom_add(filter, zeroblob(1000)), zeroblob(1000)),
       bloom_contains(bloom_add(filter, filter || 'x'), filter || 'x'), bloom_contains(bloom_add(filter, bloom_key(filter, 1)), bloom_key(filter, 1)) FROM a;
--> 1|1|1|1

-- tables
CREATE VIRTUAL TABLE copy USING bloom(capacity=100);
INSERT INTO copy SELECT filter FROM a;
--> Error: copy: key must not be a bloom filter (to merge it, INSERT it into the column filter)
INSERT INTO copy(key) SELECT filter FROM a;
--> Error: copy: key must not be a bloom filter (to merge it, INSERT it into the column filter)
INSERT OR IGNORE INTO copy SELECT filter FROM a;
--> Error: copy: key must not be a bloom filter (to merge it, INSERT it into the column filter)
SELECT keys FROM copy;
--> 0
INSERT INTO copy(filter) SELECT filter FROM a;
SELECT key FROM copy WHERE key = 'x';
--> x
SELECT 1 FROM copy, a WHERE copy.key = a.filter;
--> Error: copy: key must not be a bloom filter (to merge it, INSERT it into the column filter)
SELECT 1 FROM copy WHERE key IN (SELECT filter FROM a);
--> Error: copy: key must not be a bloom filter (to merge it, INSERT it into the column filter)
CREATE VIRTUAL TABLE counts USING bloom(capacity=100, kind=counting);
INSERT INTO counts(key) VALUES ('x');
UPDATE counts SET key = (SELECT filter FROM a) WHERE key = 'x';
--> Error: counts: key must not be a bloom filter (to merge it, INSERT it into the column filter)
DELETE FROM counts WHERE key = (SELECT filter FROM a);
--> Error: counts: key must not be a bloom filter (to merge it, INSERT it into the column filter)
SELECT key FROM counts WHERE key = 'x';
--> x
CREATE VIRTUAL TABLE who USING bloom_groups(capacity=100);
INSERT INTO who(member, key) SELECT 'north', filter FROM a;
--> Error: who: key must not be a bloom filter (to merge it, INSERT it into the column filter)
INSERT OR IGNORE INTO who(member, key) SELECT 'north', filter FROM a;
--> Error: who: key must not be a bloom filter (to merge it, INSERT it into the column filter)
SELECT member FROM who WHERE key = (SELECT filter FROM a);
--> Error: who: key must not be a bloom filter (to merge it, INSERT it into the column filter)
SELECT 1 FROM who WHERE member = 'north' AND key = (SELECT filter FROM a);
--> Error: who: key must not be a bloom filter (to merge it, INSERT it into the column filter)
SELECT count(*) FROM who;
--> 0

-- in the rows of a source a filter is a key like any other
CREATE TABLE filters(id INTEGER PRIMARY KEY, f BLOB);
INSERT INTO filters(f) SELECT filter FROM a;
CREATE VIRTUAL TABLE stored USING bloom(source=filters, column=f);
INSERT INTO filters(f) SELECT filter FROM b;
SELECT count(*) FROM stored JOIN filters ON stored.key = f;
--> 2
INSERT INTO stored(stored) VALUES ('merge');
SELECT count(*) FROM stored JOIN filters ON stored.key = f;
--> 2
INSERT INTO stored(stored) VALUES ('rebuild');
SELECT count(*) FROM stored JOIN filters ON stored.key = f;
--> 2
SELECT count(*) FROM stored JOIN a ON stored.key = bloom_add(a.filter, 'other');
--> 0
CREATE VIRTUAL TABLE stored2 USING bloom(source=filters, column=f, kind=counting, writers=extension);
INSERT INTO filters(f) SELECT bloom_create(50);
UPDATE filters SET f = bloom_create(60) WHERE f = bloom_create(50);
SELECT count(*) FROM stored2 JOIN filters ON stored2.key = f;
--> 3
CREATE VIRTUAL TABLE searched USING bloom_search(source=filters, equal=f);
SELECT count(*) FROM searched JOIN a ON searched.f = a.filter;
--> 1
