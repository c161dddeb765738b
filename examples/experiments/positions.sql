-- Where keys fall: hash.csv, family.csv and bad_family.csv (docs/experiments.md).
.mode list
.separator ,
.headers on
CREATE TABLE keys(number INTEGER PRIMARY KEY);
WITH RECURSIVE n(i) AS (VALUES(1) UNION ALL SELECT i + 1 FROM n WHERE i < 10000) INSERT INTO keys SELECT i FROM n;

-- Every fifth key of 1..10,000: as many points as a small picture can show.
.once hash.csv
SELECT number, cell FROM keys, bloom_positions(bloom_create_sized(10000, 1), number) WHERE number % 5 = 0;

-- The five cells of each of the keys 1..200.
.once family.csv
SELECT number, max(cell) FILTER (WHERE i = 0) AS i0, max(cell) FILTER (WHERE i = 1) AS i1, max(cell) FILTER (WHERE i = 2) AS i2,
       max(cell) FILTER (WHERE i = 3) AS i3, max(cell) FILTER (WHERE i = 4) AS i4
  FROM keys, bloom_positions(bloom_create_sized(10000, 5), number)
 WHERE number <= 200
 GROUP BY number;

-- The same for h1, 2 h1, ..., 5 h1, a family that the extension does not have. In a filter of 2^20 cells with one hash the
-- cell of a key is the first 20 bits of its h1. Multiplied modulo 2^20 and scaled to 10,000 cells, they are what a filter
-- with that family would make of them.
CREATE TABLE factors(factor INTEGER PRIMARY KEY);
INSERT INTO factors VALUES (1), (2), (3), (4), (5);
CREATE VIEW scaled AS
SELECT number, factor, (factor * cell % (1 << 20) * 10000) >> 20 AS cell
  FROM keys CROSS JOIN bloom_positions(bloom_create_sized(1 << 20, 1), number) CROSS JOIN factors
 WHERE number <= 200;

.once bad_family.csv
SELECT number, max(cell) FILTER (WHERE factor = 1) AS i1, max(cell) FILTER (WHERE factor = 2) AS i2,
       max(cell) FILTER (WHERE factor = 3) AS i3, max(cell) FILTER (WHERE factor = 4) AS i4, max(cell) FILTER (WHERE factor = 5) AS i5
  FROM scaled
 GROUP BY number;
