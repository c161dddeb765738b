-- The recipes of docs/pre-checks.md on 200,000 pages and 100,000 visits of which one in ten finds a page:
--   sqlite3 -cmd '.load build/bloom' < examples/pre_checks.sql        (with -cmd '.timer on' to see the times)
-- Each recipe compares its rows with those of the plain query.
.mode list
CREATE TABLE pages(url TEXT PRIMARY KEY, title TEXT) WITHOUT ROWID;
WITH RECURSIVE n(i) AS (VALUES(1) UNION ALL SELECT i + 1 FROM n WHERE i < 200000)
INSERT INTO pages SELECT 'https://example.org/' || (i * 1000), 'Page ' || i FROM n;
CREATE TABLE visits(id INTEGER PRIMARY KEY, url TEXT);
WITH RECURSIVE n(i) AS (VALUES(1) UNION ALL SELECT i + 1 FROM n WHERE i < 100000)
INSERT INTO visits(url)
SELECT 'https://example.org/' || ((i * 7919 % 200000 + 1) * 1000 + CASE WHEN i % 10 = 0 THEN 0 ELSE i % 999 + 1 END) FROM n;
CREATE VIRTUAL TABLE pages_seen USING bloom(source=pages, column=url);

.print A join, with the filter in front
CREATE TEMP TABLE plain AS SELECT id, title FROM visits JOIN pages ON pages.url = visits.url;
CREATE TEMP TABLE ours AS
SELECT id, title FROM visits JOIN pages_seen ON pages_seen.key = visits.url CROSS JOIN pages ON pages.url = visits.url;
SELECT printf('%d rows without the filter, %d with it, %d lost',
              (SELECT count(*) FROM plain), count(*), (SELECT count(*) FROM (SELECT * FROM plain EXCEPT SELECT * FROM ours))) FROM ours;
--> 10000 rows without the filter, 10000 with it, 0 lost

.print An anti-join
DROP TABLE plain;
DROP TABLE ours;
CREATE TEMP TABLE plain AS SELECT id FROM visits WHERE NOT EXISTS (SELECT 1 FROM pages WHERE pages.url = visits.url);
CREATE TEMP TABLE ours AS
SELECT id FROM visits LEFT JOIN pages_seen ON pages_seen.key = visits.url LEFT JOIN pages ON pages.url = pages_seen.key
 WHERE pages.url IS NULL;
SELECT printf('%d rows without the filter, %d with it, %d lost',
              (SELECT count(*) FROM plain), count(*), (SELECT count(*) FROM (SELECT * FROM plain EXCEPT SELECT * FROM ours))) FROM ours;
--> 90000 rows without the filter, 90000 with it, 0 lost

.print False positives among the 90,000 visits that find no page
SELECT CASE WHEN count(*) < 90000 * 0.01 THEN 'fewer than 1 %' ELSE printf('%d', count(*)) END FROM visits JOIN pages_seen ON pages_seen.key = visits.url
 WHERE NOT EXISTS (SELECT 1 FROM pages WHERE pages.url = pages_seen.key);
--> fewer than 1 %

.print Four shards, a filter for each, and one for all
CREATE TABLE shard_0(url TEXT PRIMARY KEY) WITHOUT ROWID;
CREATE TABLE shard_1(url TEXT PRIMARY KEY) WITHOUT ROWID;
CREATE TABLE shard_2(url TEXT PRIMARY KEY) WITHOUT ROWID;
CREATE TABLE shard_3(url TEXT PRIMARY KEY) WITHOUT ROWID;
INSERT INTO shard_0 SELECT url FROM pages WHERE substr(title, 6) % 4 = 0;
INSERT INTO shard_1 SELECT url FROM pages WHERE substr(title, 6) % 4 = 1;
INSERT INTO shard_2 SELECT url FROM pages WHERE substr(title, 6) % 4 = 2;
INSERT INTO shard_3 SELECT url FROM pages WHERE substr(title, 6) % 4 = 3;
CREATE TABLE shards(name TEXT PRIMARY KEY, filter BLOB);
INSERT INTO shards SELECT 'shard_0', bloom_build(url, 200000) FROM shard_0;
INSERT INTO shards SELECT 'shard_1', bloom_build(url, 200000) FROM shard_1;
INSERT INTO shards SELECT 'shard_2', bloom_build(url, 200000) FROM shard_2;
INSERT INTO shards SELECT 'shard_3', bloom_build(url, 200000) FROM shard_3;
CREATE TABLE every_shard AS SELECT bloom_union(filter) AS filter FROM shards;
SELECT name, (SELECT count(*) FROM shard_0 WHERE shards.name = 'shard_0')
           + (SELECT count(*) FROM shard_1 WHERE shards.name = 'shard_1')
           + (SELECT count(*) FROM shard_2 WHERE shards.name = 'shard_2')
           + (SELECT count(*) FROM shard_3 WHERE shards.name = 'shard_3') AS urls,
       bloom_contains(filter, 'https://example.org/777000') AS maybe
  FROM shards;
--> shard_0|50000|0
--> shard_1|50000|1
--> shard_2|50000|0
--> shard_3|50000|0
SELECT 'any shard', bloom_contains(filter, 'https://example.org/777000'), bloom_contains(filter, 'https://example.org/nowhere') FROM every_shard;
--> any shard|1|0
