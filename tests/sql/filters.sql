-- The functions over whole filters, beside an exact set.
CREATE TABLE t AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2000)
  SELECT i, 'key-' || i AS k FROM n;

-- every key is there, in every kind
SELECT column1, count(*) AS keys, sum(bloom_contains(f, k)) AS found
  FROM (SELECT column1, bloom_build(k, 2000, 0.01, column1) AS f FROM t, (VALUES ('standard'), ('counting'), ('partitioned')) GROUP BY column1), t
  GROUP BY column1;
--> counting|2000|2000
--> partitioned|2000|2000
--> standard|2000|2000

-- what bloom_build makes is what bloom_add makes
SELECT bloom_build(k, 10) = bloom_add(bloom_create(10), 'key-1', 'key-2', 'key-3') FROM t WHERE i <= 3;
--> 1
SELECT bloom_build(k, 10, 0.001, 'counting') = bloom_add(bloom_add(bloom_create(10, 0.001, 'counting'), 'key-1'), 'key-2', 'key-3') FROM t WHERE i <= 3;
--> 1
SELECT bloom_build(k) = bloom_build(k, 2000) FROM t;
--> 1
SELECT bloom_build(k, NULL) = bloom_build(k), bloom_build(k, NULL, 0.01) = bloom_build(k), bloom_build(k, NULL, 0.01, 'standard') = bloom_build(k) FROM t;
--> 1|1|1
SELECT bloom_create(100, 0.01, 'Standard') = bloom_create(100), bloom_create(100, 0.01, 'COUNTING') = bloom_create(100, 0.01, 'counting'), bloom_build(k, 9, 0.01, 'parTitioned') = bloom_build(k, 9, 0.01, 'partitioned') FROM t;
--> 1|1|1
SELECT bloom_create(100) = bloom_create(100, 0.01, 'standard'), bloom_create(1e2) = bloom_create(100);
--> 1|1

-- union of parts = filter of the whole; the aggregate, too
SELECT bloom_union(a, b) = whole, bloom_union(b, a) = whole, bloom_union(a, b, a) = whole FROM
  (SELECT bloom_build(k, 2000) AS a FROM t WHERE i <= 700), (SELECT bloom_build(k, 2000) AS b FROM t WHERE i > 700), (SELECT bloom_build(k, 2000) AS whole FROM t);
--> 1|1|1
SELECT bloom_union(part) = (SELECT bloom_build(k, 2000) FROM t) FROM (SELECT bloom_build(k, 2000) AS part FROM t GROUP BY i % 7);
--> 1
SELECT bloom_union(part) = (SELECT bloom_build(k, 2000, 0.01, 'counting') FROM t) FROM (SELECT bloom_build(k, 2000, 0.01, 'counting') AS part FROM t GROUP BY i % 7 UNION ALL SELECT NULL);
--> 1
SELECT bloom_union(NULL) IS NULL, bloom_intersect(NULL) IS NULL;
--> 1|1
SELECT bloom_union(f) IS NULL FROM (SELECT 1 AS f) WHERE 0;
--> 1

-- unequal sizes: the larger size is kept, and halving the result gives what halving first gives
SELECT bloom_union(large, small) = bloom_union(small, large), bloom_halve(bloom_union(large, small), 3) = both, length(bloom_union(large, small)) = length(large),
       bloom_halve(bloom_intersect(large, small), 3) = bloom_intersect(bloom_halve(large, 3), small), bloom_contains_all(bloom_union(large, small), 'a', 'b', 'c'), bloom_contains_any(bloom_union(large, small), 'd', 'e', 'f', 'g') FROM
  (SELECT bloom_add(bloom_create_sized(8192, 5), 'a', 'b') AS large, bloom_add(bloom_create_sized(1024, 5), 'c') AS small, bloom_add(bloom_create_sized(1024, 5), 'a', 'b', 'c') AS both);
--> 1|1|1|1|1|0
SELECT bloom_fpr(bloom_union(large, small)) < 0.03, bloom_fpr(bloom_union(bloom_halve(large, 2), small)) > 0.6
  FROM (SELECT bloom_build(k, 2000) AS large FROM t), (SELECT bloom_halve(bloom_build(-i, 2000), 2) AS small FROM t WHERE i <= 100);
--> 1|1

-- intersection
SELECT bloom_contains_all(f, 'key-900', 'key-1000'), bloom_contains_any(f, 'key-1', 'key-2000') FROM
  (SELECT bloom_intersect(a, b) AS f FROM (SELECT bloom_build(k, 2000, 1e-6) AS a FROM t WHERE i <= 1000), (SELECT bloom_build(k, 2000, 1e-6) AS b FROM t WHERE i >= 900));
--> 1|0
SELECT bloom_intersect(f) = (SELECT bloom_build(k, 9) FROM t WHERE i = 3) FROM
  (SELECT bloom_build(k, 9) AS f FROM t WHERE i IN (3, 4) UNION ALL SELECT bloom_build(k, 9) FROM t WHERE i IN (3, 5) UNION ALL SELECT bloom_build(k, 9) FROM t WHERE i IN (2, 3));
--> 1

-- halving = building at half the size
SELECT bloom_halve(bloom_add(bloom_create_sized(m, k, kind, block), 'a', 'b', 42)) = bloom_add(bloom_create_sized(m / 2, k, kind, half), 'a', 'b', 42), kind, block FROM
  (SELECT column1 AS m, column2 AS k, column3 AS kind, column4 AS block, column5 AS half FROM (VALUES
    (1000, 7, 'standard', 0, 0), (1000, 7, 'standard', 500, 500), (500, 7, 'standard', 500, 250),
    (1000, 7, 'counting', 0, 0), (1500, 7, 'counting', 500, 250), (960, 4, 'partitioned', 0, 0), (960, 4, 'partitioned', 480, 480)));
--> 1|standard|0
--> 1|standard|500
--> 1|standard|500
--> 1|counting|0
--> 1|counting|500
--> 1|partitioned|0
--> 1|partitioned|480
SELECT bloom_halve(f, 2) = bloom_halve(bloom_halve(f)), bloom_halve(f, 0) = f FROM (SELECT bloom_build(k) AS f FROM t);
--> 1|1

-- folding = halving while the rate allows it; the key is never lost
SELECT substr(bloom_fold(f, 0.01), 65) = substr(bloom_halve(f, 6), 65), bloom_fold(f, 0.9) IN (bloom_halve(f, 10), f), bloom_fold(bloom_fold(f, 0.01), 0.01) = bloom_fold(f, 0.01) FROM (SELECT bloom_build(k, 128000) AS f FROM t WHERE i <= 1500);
--> 1|0|1
SELECT bloom_fold(f, 1e-9) = f, bloom_fpr(bloom_fold(f, 0.01)) < 0.01, bloom_fpr(bloom_halve(bloom_fold(f, 0.01))) > 0.01, (SELECT sum(bloom_contains(bloom_fold(f, 0.2), k)) FROM t WHERE i <= 1500)
  FROM (SELECT bloom_build(k, 2000) AS f FROM t WHERE i <= 1500), (SELECT 1);
--> 1|1|1|1500
SELECT json_extract(i, '$.target_fpr'), json_extract(i, '$.overfull'), json_extract(i, '$.fpr') < 0.2, json_extract(i, '$.capacity') BETWEEN 1500 AND 3200
  FROM (SELECT bloom_info(bloom_fold(bloom_build(k, 128000), 0.2)) AS i FROM t WHERE i <= 1500);
--> 0.2|0|1|1
SELECT length(bloom_fold(bloom_create(1000000), 0.01)) < 1300, bloom_fold(bloom_create_sized(1001, 7), 0.5) = bloom_create_sized(1001, 7);
--> 1|1

-- counting: what is added once is removed once
SELECT bloom_remove(bloom_add(f, 'x'), 'x') = f, bloom_remove(bloom_add(f, 'x', 'x'), 'x', 'x') = f,
       bloom_contains(bloom_remove(bloom_add(f, 'x', 'x'), 'x'), 'x'), bloom_contains(bloom_remove(f, 'key-1'), 'key-1')
  FROM (SELECT bloom_build(k, 100, 1e-6, 'counting') AS f FROM t WHERE i <= 50);
--> 1|1|1|0
SELECT bloom_standard(bloom_add(bloom_create_sized(1000, 5, 'counting'), 'a', 'b')) = bloom_add(bloom_create_sized(1000, 5), 'a', 'b'),
       bloom_standard(bloom_create(10)) = bloom_create(10);
--> 1|1

-- any and all, with NULL as SQL has it
SELECT bloom_contains_all(f, 'a', 'b'), bloom_contains_all(f, 'a', 'x'), bloom_contains_all(f, 'x', NULL), bloom_contains_all(f, 'a', NULL) IS NULL,
       bloom_contains_any(f, 'x', 'b'), bloom_contains_any(f, 'x', 'y'), bloom_contains_any(f, 'a', NULL), bloom_contains_any(f, 'x', NULL) IS NULL
  FROM (SELECT bloom_add(bloom_create(10, 1e-9), 'a', 'b') AS f);
--> 1|0|0|1|1|0|1|1

-- building from nothing, from NULLs, from one key many times
SELECT bloom_contains(bloom_build(k), 'x'), bloom_count(bloom_build(k)), bloom_build(k) = bloom_create(1) FROM t WHERE 0;
--> 0|0|1
SELECT bloom_build(NULL) = bloom_create(1), bloom_build(NULL, 500) = bloom_create(500), bloom_build(NULL, 500, 0.1, 'counting') = bloom_create(500, 0.1, 'counting') FROM t;
--> 1|1|1
SELECT bloom_build('same') = bloom_add(bloom_create(1), 'same'), length(bloom_build('same')) FROM t a, t b WHERE b.i <= 500;
--> 1|66
SELECT bloom_build(i % 3) = bloom_add(bloom_create(3), 0, 1, 2), bloom_build(k) FILTER (WHERE i < 0) = bloom_create(1) FROM t;
--> 1|1
SELECT bloom_build(k, NULL, 0.01, 'counting') = bloom_add(bloom_create(2, 0.01, 'counting'), 'p', 'p', 'p', 'q') FROM (SELECT 'p' AS k UNION ALL SELECT 'q' UNION ALL SELECT 'p' UNION ALL SELECT 'p');
--> 1

-- building into a filter: its geometry, seed and kind are used, and its keys are kept
SELECT bloom_build(k, bloom_create(2000)) = bloom_build(k, 2000), bloom_build(k, f) = bloom_union(f, bloom_build(k, 2000)), bloom_contains(bloom_build(k, f), 'kept')
  FROM t, (SELECT bloom_add(bloom_create(2000), 'kept') AS f);
--> 1|1|1
SELECT bloom_build(k, bloom_create_sized(20480, 5, column1, column2, 77)) = (SELECT bloom_union(bloom_add(bloom_create_sized(20480, 5, column1, column2, 77), k)) FROM t), column1, column2
  FROM t, (VALUES ('standard', 512), ('standard', 0), ('counting', 4096), ('partitioned', 2560)) GROUP BY column1, column2;
--> 1|counting|4096
--> 1|partitioned|2560
--> 1|standard|0
--> 1|standard|512
SELECT bloom_build(NULL, f) = f, bloom_build(k, f) FILTER (WHERE 0) = bloom_create(1) FROM t, (SELECT bloom_add(bloom_create(2000), 'kept') AS f);
--> 1|1
CREATE TABLE kept(name TEXT PRIMARY KEY, filter BLOB);
INSERT INTO kept VALUES ('a', bloom_add(bloom_create(5000), 'old')), ('b', NULL);
UPDATE kept SET filter = (SELECT bloom_build(k, kept.filter) FROM t);
SELECT name, bloom_contains(filter, 'old'), (SELECT min(bloom_contains(filter, k)) FROM t), length(filter) = length(bloom_create(5000)), bloom_count(filter) BETWEEN 1900 AND 2100 FROM kept;
--> a|1|1|1|1
--> b|0|1|0|1
UPDATE kept SET filter = (SELECT bloom_build(k, kept.filter) FROM t WHERE 0) WHERE EXISTS (SELECT 1 FROM t WHERE 0);
SELECT bloom_contains_all(filter, 'old', 'key-1') FROM kept WHERE name = 'a';
--> 1

-- a filter of no rows is neutral
SELECT bloom_union(f, none) = f, bloom_union(none, f) = f, bloom_union(none, none) = none, bloom_union(none, f, none, f) = f, bloom_intersect(f, none) = e, bloom_intersect(none, f) = e
  FROM (SELECT bloom_build(k) AS none FROM t WHERE 0), (SELECT bloom_create_sized(1200, 4, 'counting', 100, 3) AS e), (SELECT bloom_add(bloom_create_sized(1200, 4, 'counting', 100, 3), 'a', 'b') AS f);
--> 1|1|1|0|1|1
SELECT bloom_union(f) = bloom_build('a', 500) FROM (SELECT bloom_build(k) AS f FROM t WHERE 0 UNION ALL SELECT NULL UNION ALL SELECT bloom_build('a', 500) UNION ALL SELECT bloom_create(1, 0.5, 'counting'));
--> 1
SELECT bloom_apply(none, bloom_delta(none, f)) = f, bloom_apply(f, bloom_delta(f, none)) = none FROM (SELECT bloom_create(1) AS none, bloom_build('a', 500) AS f);
--> 1|1

-- inspection
SELECT bloom_info(bloom_create(1000));
--> {"kind":"standard","cells":9600,"hashes":7,"block":9600,"seed":0,"capacity":1000,"target_fpr":0.01,"fill":0,"keys":0,"fpr":0,"bytes":1264,"overfull":false}
SELECT bloom_info(bloom_create_sized(1000, 7));
--> {"kind":"standard","cells":1000,"hashes":7,"block":0,"seed":0,"capacity":null,"target_fpr":null,"fill":0,"keys":0,"fpr":0,"bytes":189,"overfull":false}
SELECT json_extract(bloom_info(f), '$.kind'), json_extract(bloom_info(f), '$.saturated'), json_extract(bloom_info(f), '$.overfull'), json_extract(bloom_info(f), '$.bytes') = length(f)
  FROM (SELECT bloom_build('one', 1000, 0.01, 'counting') AS f FROM t);
--> counting|7|0|1
SELECT json_extract(bloom_info(bloom_build(k, 2000)), '$.overfull'), json_extract(bloom_info(bloom_build(k, 1000)), '$.overfull') FROM t;
--> 0|1
SELECT abs(bloom_count(f) - 2000) < 40, bloom_fpr(f) BETWEEN 0.008 AND 0.0101, bloom_check(f), typeof(bloom_count(f)), typeof(bloom_fpr(f)) FROM (SELECT bloom_build(k) AS f FROM t);
--> 1|1|ok|integer|real
SELECT bloom_count(bloom_create(10)), bloom_fpr(bloom_create(10));
--> 0|0.0
SELECT bloom_version(), bloom_debug() LIKE 'sqlite-bloom 1.1.0%hash: MurmurHash3_x64_128%block=512: %SQLite: built for 3.%, running 3.%compiler: %';
--> 1.1.0|1

-- table-valued functions
SELECT s.kind, s.cells, s.hashes, s.block, s.seed, s.capacity IS NULL, s.target_fpr IS NULL, s.saturated FROM bloom_stats(bloom_create_sized(1024, 3, 'counting', 128, 7)) AS s;
--> counting|1024|3|128|7|1|1|0
SELECT keys, bytes, overfull, capacity, saturated FROM bloom_stats((SELECT bloom_open(bloom_create(1000))));
--> 0|1264|0|1000|
SELECT * FROM bloom_stats(NULL);
--> Error: bloom_stats: argument 1 is not a bloom filter (NULL; did the subquery find no row? A handle passes only through a scalar subquery: (SELECT bloom_open(filter) FROM ...))
SELECT * FROM bloom_stats(x'00');
--> Error: bloom_stats: argument 1 is not a bloom filter (a header has 64 bytes, got 1)
SELECT * FROM bloom_stats;
--> Error: bloom_stats: the call must be bloom_stats(filter)
SELECT kind, cells, hashes, block, bytes, round(fpr, 6) FROM bloom_plan(1000000, 0.01);
--> standard|10158080|7|31744|1269824|0.007616
--> counting|10158080|7|7936|5079104|0.007685
--> partitioned|10158080|8|31744|1269824|0.007818
SELECT count(*), sum(bloom_rate(cells, i, hashes, kind, block) = plan.fpr) FROM t, bloom_plan(i, 0.01) AS plan;
--> 6000|6000
SELECT argument_1, argument_2, kind FROM bloom_plan(10, 0.5);
--> 10|0.5|standard
--> 10|0.5|counting
--> 10|0.5|partitioned
SELECT rowid, kind FROM bloom_plan(10, 0.5);
--> 0|standard
--> 1|counting
--> 2|partitioned
SELECT kind FROM bloom_plan(10, 0.5) WHERE argument_1 = 10 AND argument_2 > 0.4 AND kind > 'o';
--> standard
--> partitioned
SELECT count(*) FROM bloom_plan(10, 0.5) WHERE argument_1 = 11;
--> 0
SELECT count(*) FROM bloom_plan(10, 0.5) WHERE argument_2 < 0.4;
--> 0
SELECT t.i, kind, cells FROM t, bloom_plan(t.i, 0.01) WHERE t.i IN (1, 2000) AND kind <> 'counting';
--> 1|standard|16
--> 1|partitioned|64
--> 2000|standard|19200
--> 2000|partitioned|19456
SELECT count(*), count(DISTINCT cell), min(cell) >= 0, max(cell) < 960, sum(value) FROM bloom_positions(bloom_add(bloom_create_sized(960, 7), 'a'), 'a');
--> 7|7|1|1|7
SELECT sum(value) > 6 FROM bloom_positions(bloom_add(bloom_create_sized(960, 7), 'a'), 'b');
--> 0
SELECT count(*) FROM bloom_positions(bloom_create(10), NULL);
--> 0
SELECT i, cell / 5, cell % 5 BETWEEN 0 AND 4 FROM bloom_positions(bloom_create_sized(15, 3, 'partitioned'), 'thisisavirus.com');
--> 0|0|1
--> 1|1|1
--> 2|2|1
SELECT count(*) FROM t JOIN bloom_positions((SELECT bloom_open(bloom_create(100)) ), t.k) WHERE t.i < 4;
--> 21
-- kinds that cannot have so many cells are left out; the plan fails only if none is possible
SELECT kind, cells <= 1 << 40, fpr <= 0.01 FROM bloom_plan(105000000000, 0.01);
--> standard|1|1
--> counting|1|1
--> partitioned|1|1
SELECT kind FROM bloom_plan(114000000000, 0.01);
--> standard
--> counting
SELECT kind FROM bloom_plan(1000000000000, 0.01);
--> Error: bloom_plan: capacity and fpr must be such that the filter has at most 1099511627776 cells, got capacity 1000000000000 and fpr 0.01
-- the names of the hidden columns are not those of columns of tables
CREATE TABLE named(n, p, key, filter);
INSERT INTO named VALUES (100, 0.01, 'x', bloom_create_sized(100, 2));
SELECT kind FROM named, bloom_plan(n, p) LIMIT 1;
--> standard
SELECT i, cell FROM named, bloom_positions(filter, key);
--> 0|42
--> 1|26
SELECT i, cell FROM named, bloom_positions(filter, 'x') WHERE key = 'x';
--> 0|42
--> 1|26
SELECT cells FROM named, bloom_stats(filter);
--> 100
