-- False positives by bits per key: bits.csv and bits_theory.csv (docs/experiments.md).
-- With the parameter :bits, only the rates for this many bits per key: .param set :bits 10
.mode list
.separator ,
.headers on
CREATE TABLE keys(number INTEGER PRIMARY KEY);
WITH RECURSIVE n(i) AS (VALUES(1) UNION ALL SELECT i + 1 FROM n WHERE i < 1000000) INSERT INTO keys SELECT i FROM n;

-- Four hashes, the best number of them, and the five that the paper calls best for 10 bits.
CREATE TABLE points(bits INTEGER, k INTEGER, PRIMARY KEY (bits, k)) WITHOUT ROWID;
INSERT INTO points VALUES (10, 5);
INSERT INTO points SELECT number, 4 FROM keys WHERE number <= 32 AND number % 2 = 0;
INSERT OR IGNORE INTO points SELECT number, bloom_hashes(number * 50000, 50000) FROM keys WHERE number <= 24 AND number % 2 = 0;

-- A classic filter of the keys 1..50,000 for each, eight keys at a time. Its seed is the number of bits.
CREATE TABLE filters(bits INTEGER, k INTEGER, filter BLOB);
WITH RECURSIVE growing(bits, k, n, filter) AS (
  SELECT bits, k, 0, bloom_create_sized(bits * 50000, k, 'standard', 0, bits) FROM points WHERE coalesce(bits = :bits, 1)
  UNION ALL
  SELECT bits, k, n + 8, bloom_add(filter, n + 1, n + 2, n + 3, n + 4, n + 5, n + 6, n + 7, n + 8) FROM growing WHERE n < 50000)
INSERT INTO filters SELECT bits, k, filter FROM growing WHERE n = 50000;

-- Looks up one million other keys in each filter, or ten million if few false positives are expected. The trigger runs its
-- statement once per filter, so that bloom_open opens the filter once and not for every key.
CREATE TABLE rates(bits INTEGER, k INTEGER, millions INTEGER, positives INTEGER);
CREATE TRIGGER ask AFTER INSERT ON rates BEGIN
  UPDATE rates
     SET positives = (SELECT sum(bloom_contains((SELECT bloom_open(filter) FROM filters WHERE bits = new.bits AND k = new.k),
                                                a.number * 1000000 + b.number))
                        FROM keys AS a CROSS JOIN keys AS b WHERE a.number <= new.millions)
   WHERE bits = new.bits AND k = new.k;
END;
INSERT INTO rates
SELECT bits, k, CASE WHEN bloom_rate(bits * 50000, 50000, k) < 0.02 THEN 10 ELSE 1 END, NULL FROM filters ORDER BY bits, k;

.once bits.csv
SELECT bits, k, millions * 1000000 AS questions, positives, printf('%.6g', bloom_rate(bits * 50000, 50000, k)) AS theory
  FROM rates
 ORDER BY bits, k;

.once bits_theory.csv
SELECT number AS bits, printf('%.6g', bloom_rate(number * 50000, 50000, 4)) AS four_hashes,
       bloom_hashes(number * 50000, 50000) AS best_k,
       printf('%.6g', bloom_rate(number * 50000, 50000, bloom_hashes(number * 50000, 50000))) AS best
  FROM keys
 WHERE number BETWEEN 2 AND 32;
