-- False positives against n, k and m: rates.csv, theory.csv and article.csv (docs/experiments.md).
-- With the parameter :k, only the rates with so many hashes: .param set :k 5
.mode list
.separator ,
.headers on
CREATE TABLE keys(number INTEGER PRIMARY KEY);
WITH RECURSIVE n(i) AS (VALUES(1) UNION ALL SELECT i + 1 FROM n WHERE i < 5000) INSERT INTO keys SELECT i FROM n;

-- Which filters for which chart, holding the keys 1..n: classic ones, and for most also those of one block.
CREATE TABLE points(chart TEXT, m INTEGER, k INTEGER, n INTEGER, in_one_block INTEGER);
CREATE TABLE blocks(in_one INTEGER);
INSERT INTO blocks VALUES (0), (1);
-- Four sizes, with the number of hashes that is best for 250 keys, as they fill.
INSERT INTO points
SELECT 'keys', m.value, bloom_hashes(m.value, 250), number, 0
  FROM json_each('[100, 250, 500, 1000]') AS m, keys WHERE number <= 500 AND number % 20 = 0;
-- Four numbers of hashes, as they fill.
INSERT INTO points
SELECT 'hashes', 1000, k.value, number, in_one
  FROM json_each('[1, 5, 10, 50]') AS k, blocks, keys WHERE number <= 300 AND number % 20 = 0;
-- Numbers of hashes, in emptier and fuller filters.
INSERT INTO points
SELECT 'best_k', 1000, number, n.value, in_one
  FROM json_each('[50, 100, 250]') AS n, blocks, keys WHERE number <= 12 OR number <= 50 AND number % 5 = 0;
-- Sizes.
INSERT INTO points
SELECT 'cells', number, bloom_hashes(number, 250), 250, in_one
  FROM blocks, keys WHERE number <= 4000 AND number % 250 = 0;

-- 200 filters for each, by their seeds.
CREATE TABLE filters(chart TEXT, m INTEGER, k INTEGER, block INTEGER, n INTEGER, filter BLOB);
WITH RECURSIVE
  largest AS (SELECT chart, m, k, in_one_block, max(n) AS most FROM points GROUP BY chart, m, k, in_one_block),
  growing(chart, m, k, in_one_block, n, filter, most) AS (
    SELECT chart, m, k, in_one_block, 0, bloom_create_sized(m, k, 'standard', m * in_one_block, number), most
      FROM largest, keys
     WHERE number <= 200 AND coalesce(k = :k, 1)
    UNION ALL
    SELECT chart, m, k, in_one_block, n + 1, bloom_add(filter, n + 1), most FROM growing WHERE n < most)
INSERT INTO filters
SELECT chart, m, k, m * in_one_block, n, filter FROM growing JOIN points USING (chart, m, k, in_one_block, n);

-- Looks up 1,000 other keys in each filter, or 5,000 if few false positives are expected.
CREATE VIEW answers AS
SELECT *, (SELECT sum(bloom_contains(filter, 1000000 + number)) FROM keys WHERE number <= asked) AS maybe
  FROM (SELECT *, CASE WHEN bloom_rate(m, n, k) < 0.02 THEN 5000 ELSE 1000 END AS asked FROM filters);

-- variance is that of the rate: by how much the 200 filters differ tells it.
.once rates.csv
SELECT chart, m, k, block, n, count(*) AS filters, sum(asked) AS questions, sum(maybe) AS positives,
       printf('%.3g', (avg(maybe * maybe) - avg(maybe) * avg(maybe)) / (count(*) - 1) / asked / asked) AS variance,
       printf('%.6g', bloom_rate(m, n, k)) AS theory
  FROM answers
 GROUP BY chart, m, k, block, n;

-- The formula alone, for smooth curves.
.once theory.csv
SELECT chart, m, k, n, printf('%.6g', bloom_rate(m, n, k)) AS theory
  FROM (SELECT DISTINCT chart, m, k, number AS n FROM points, keys WHERE chart IN ('keys', 'hashes') AND number <= 500 AND number % 10 = 0
        UNION SELECT DISTINCT chart, m, number, n FROM points, keys WHERE chart = 'best_k' AND number <= 50
        UNION SELECT 'cells', number, bloom_hashes(number, 250), 250 FROM keys WHERE number <= 4000 AND number % 50 = 0)
 ORDER BY chart, CASE chart WHEN 'best_k' THEN n END, m, k, n;

-- The measurement of the article: one filter; after each added key, all of the 250 keys not yet added are looked up.
.once article.csv
WITH RECURSIVE growing(m, k, n, filter) AS (
  SELECT m.value, bloom_hashes(m.value, 250), 0, bloom_create_sized(m.value, bloom_hashes(m.value, 250))
    FROM json_each('[100, 250, 500, 1000]') AS m
  UNION ALL
  SELECT m, k, n + 1, bloom_add(filter, n + 1) FROM growing WHERE n < 249)
SELECT m, k, n, 250 - n AS questions, (SELECT sum(bloom_contains(filter, number)) FROM keys WHERE number > n AND number <= 250) AS positives
  FROM growing
 WHERE n > 0
 ORDER BY m, n;
