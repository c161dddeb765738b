
-- A table of 100,000 addresses.
CREATE TABLE known(url TEXT PRIMARY KEY) WITHOUT ROWID;
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 100000)
  INSERT INTO known SELECT 'https://example.com/item/' || i FROM n;

-- Build a filter of all addresses and keep it.
CREATE TABLE summaries(name TEXT PRIMARY KEY, filter BLOB);
INSERT INTO summaries SELECT 'known', bloom_build(url) FROM known;
SELECT length(filter) FROM summaries;
--> 127040

-- Look up two keys: 0 means certainly absent, 1 means maybe present.
SELECT bloom_contains(filter, 'https://example.com/item/77'), bloom_contains(filter, 'https://example.com/other') FROM summaries;
--> 1|0

-- Put the filter in front of a lookup. bloom_open() inside the subquery opens the filter once per statement.
CREATE TABLE visits(url TEXT);
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 50000)
  INSERT INTO visits SELECT 'https://example.com/item/' || (i * 31) FROM n;
SELECT count(*) FROM visits AS v
 WHERE bloom_contains((SELECT bloom_open(filter) FROM summaries WHERE name = 'known'), v.url)
   AND EXISTS (SELECT 1 FROM known WHERE known.url = v.url);
--> 3225

-- A number and its decimal text are the same key: 42, 42.0, '42' and x'3432'.
SELECT bloom_contains(bloom_build(42), '42'), bloom_contains(bloom_build('42'), 42.0);
--> 1|1

-- Add, merge, shrink. A merged filter has the same bytes as one built from all the keys.
UPDATE summaries SET filter = bloom_add(filter, 'https://example.com/other');
SELECT bloom_union(a, b) = bloom_add(bloom_create(1000), 'x', 'y')
  FROM (SELECT bloom_add(bloom_create(1000), 'x') AS a, bloom_add(bloom_create(1000), 'y') AS b);
--> 1
SELECT length(bloom_halve(filter)), round(bloom_fpr(filter), 3), round(bloom_fpr(bloom_halve(filter)), 3) FROM summaries;
--> 63552|0.008|0.132

-- Remove keys from a counting filter.
SELECT bloom_contains(bloom_remove(f, 'x'), 'x'), bloom_contains(bloom_remove(f, 'x'), 'y')
  FROM (SELECT bloom_add(bloom_create(1000, 0.01, 'counting'), 'x', 'y') AS f);
--> 0|1

-- A filter as a table: changes are transactional, and a lookup reads one page.
CREATE VIRTUAL TABLE seen USING bloom(capacity=1000000, fpr=0.001);
INSERT INTO seen(key) SELECT url FROM known;
SELECT key FROM seen WHERE key IN ('https://example.com/item/77', 'https://example.com/other');
--> https://example.com/item/77

-- A join: SQLite looks in the filter before it searches the table.
SELECT count(*) FROM visits JOIN seen ON seen.key = visits.url CROSS JOIN known USING (url);
--> 3225

-- A filter that follows a table. Triggers record each new key; 'merge' moves the recorded keys into the filter.
CREATE VIRTUAL TABLE visits_seen USING bloom(source=visits, column=url);
INSERT INTO visits VALUES ('https://example.com/new');
SELECT key FROM visits_seen WHERE key = 'https://example.com/new';
--> https://example.com/new

-- Count new keys: INSERT OR IGNORE skips keys that may be present.
INSERT OR IGNORE INTO seen(key) SELECT url FROM visits;
SELECT changes();
--> 46776

-- Remember the last keys: 'rotate' drops the oldest of four generations, and starts an empty one.
CREATE VIRTUAL TABLE recent USING bloom(capacity=40000, generations=4);
INSERT INTO recent(key) VALUES ('event 1');
INSERT INTO recent(recent) VALUES ('rotate'), ('rotate'), ('rotate');
INSERT INTO recent(key) VALUES ('event 2');
INSERT INTO recent(recent) VALUES ('rotate');
SELECT key FROM recent WHERE key IN ('event 1', 'event 2');
--> event 2

-- Inspect a filter, and plan one.
SELECT bloom_info(bloom_create(1000));
--> {"kind":"standard","cells":9600,"hashes":7,"block":9600,"seed":0,"capacity":1000,"target_fpr":0.01,"fill":0,"keys":0,"fpr":0,"bytes":1264,"overfull":false}
SELECT kind, hashes, bytes FROM bloom_plan(1000000, 0.01);
--> standard|7|1269824
--> counting|7|5079104
--> partitioned|8|1269824
