-- A database with filters of every kind. What this prints, and the file, must be the same on every machine.
PRAGMA page_size = 4096;
.print -- sizes
WITH keys(n) AS (VALUES (1), (100), (1050), (99999), (1234567), (5000000000)), rates(p) AS (VALUES (0.5), (0.1), (0.01), (0.001), (1e-9))
  SELECT keys.n, rates.p, kind, cells, hashes, block FROM keys, rates, bloom_plan(keys.n, rates.p);
SELECT bloom_bits(1000000, 0.01), bloom_hashes(9585059, 1000000), bloom_capacity(9585059, 7, 0.01);

.print -- blobs
CREATE TABLE filters(name, filter);
INSERT INTO filters SELECT column1, bloom_add(column2, '', 'Köln', x'00ff', 42, -7, 0.1, 1e-7, -1.5, 1e23, 9e999, -0.0) FROM (VALUES
  ('standard', bloom_create(1000)), ('counting', bloom_create(1000, 0.01, 'counting')), ('partitioned', bloom_create(1000, 0.01, 'partitioned')),
  ('lines', bloom_create_sized(51200, 7, 'standard', 512, 77)), ('whole', bloom_create_sized(1001, 5)));
INSERT INTO filters SELECT 'built', bloom_build(value) FROM (WITH RECURSIVE n(value) AS (SELECT 1 UNION ALL SELECT value + 1 FROM n WHERE value < 20000) SELECT value FROM n);
SELECT name, length(filter), bloom_check(filter), round(bloom_count(filter), 6), round(bloom_fpr(filter), 12) FROM filters;

.print -- tables
CREATE TABLE keys(k TEXT COLLATE NOCASE, n);
INSERT INTO keys WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5000) SELECT 'Key ' || i, i / 8.0 FROM n;
CREATE VIRTUAL TABLE sized USING bloom(capacity=20000);
CREATE VIRTUAL TABLE lines USING bloom(capacity=20000, block=512);
CREATE VIRTUAL TABLE whole USING bloom(cells=100003, hashes=5);
CREATE VIRTUAL TABLE sliced USING bloom(capacity=20000, kind=partitioned);
CREATE VIRTUAL TABLE counted USING bloom(capacity=20000, kind=counting);
CREATE VIRTUAL TABLE growing USING bloom;
CREATE VIRTUAL TABLE following USING bloom(source=keys, column=k);
INSERT INTO sized(key) SELECT n FROM keys;
INSERT INTO lines(key) SELECT n FROM keys;
INSERT INTO whole(key) SELECT n FROM keys;
INSERT INTO sliced(key) SELECT n FROM keys;
INSERT INTO counted(key) SELECT n FROM keys;
INSERT INTO growing(key) SELECT n FROM keys;
