-- False positives with a bad family of hashes: families.csv (docs/experiments.md). The keys 1..250 are added one by one to
-- filters of 1,000 bits with five hashes, and the keys 5,001..10,000 are looked up, for 20 seeds.
.mode list
.separator ,
.headers on
CREATE TABLE keys(number INTEGER PRIMARY KEY);
WITH RECURSIVE n(i) AS (VALUES(1) UNION ALL SELECT i + 1 FROM n WHERE i < 10000) INSERT INTO keys SELECT i FROM n;
CREATE TABLE filters(seed INTEGER PRIMARY KEY, five BLOB, h1 BLOB);
INSERT INTO filters
SELECT number, bloom_create_sized(1000, 5, 'standard', 0, number), bloom_create_sized(1 << 20, 1, 'standard', 0, number)
  FROM keys WHERE number <= 20;
CREATE TABLE factors(factor INTEGER PRIMARY KEY);
INSERT INTO factors VALUES (1), (2), (3), (4), (5);

-- Filters as exact sets of cells: of the extension's own family, and of h1, 2 h1, ..., 5 h1 (positions.sql says how).
CREATE TABLE cells(family TEXT, seed INTEGER, number INTEGER, cell INTEGER);
INSERT INTO cells
SELECT 'good', seed, number, cell
  FROM filters CROSS JOIN keys CROSS JOIN bloom_positions(five, number)
 WHERE number <= 250 OR number > 5000;
INSERT INTO cells
SELECT 'bad', seed, number, (factor * cell % (1 << 20) * 1000) >> 20
  FROM filters CROSS JOIN keys CROSS JOIN bloom_positions(h1, number) CROSS JOIN factors
 WHERE number <= 250 OR number > 5000;

-- With how many keys a cell was set, and with how many a question was first answered "maybe": when its last cell was set.
CREATE TABLE used(family TEXT, seed INTEGER, cell INTEGER, since INTEGER, PRIMARY KEY (family, seed, cell)) WITHOUT ROWID;
INSERT INTO used SELECT family, seed, cell, min(number) FROM cells WHERE number <= 250 GROUP BY family, seed, cell;
CREATE TABLE maybe(family TEXT, since INTEGER);
INSERT INTO maybe
SELECT family, max(since)
  FROM cells LEFT JOIN used USING (family, seed, cell)
 WHERE number > 5000
 GROUP BY family, seed, number
HAVING count(since) = count(*);

-- The good ones once more, by the extension.
CREATE TABLE grown(n INTEGER, filter BLOB);
WITH RECURSIVE growing(n, filter) AS (
  SELECT 0, five FROM filters
  UNION ALL
  SELECT n + 1, bloom_add(filter, n + 1) FROM growing WHERE n < 250)
INSERT INTO grown SELECT n, filter FROM growing WHERE n > 0 AND n % 10 = 0;

.once families.csv
SELECT family, number AS n, 20 * 5000 AS questions,
       (SELECT count(*) FROM maybe WHERE maybe.family = families.family AND since <= number) AS positives,
       CASE family WHEN 'good' THEN (SELECT sum((SELECT sum(bloom_contains(filter, asked.number)) FROM keys AS asked WHERE asked.number > 5000))
                                       FROM grown WHERE n = keys.number) END AS by_extension,
       printf('%.6g', bloom_rate(1000, number, 5)) AS theory
  FROM (SELECT DISTINCT family FROM cells) AS families, keys
 WHERE number <= 250 AND number % 10 = 0
 ORDER BY family, n;
