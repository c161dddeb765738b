-- Bad input of every kind: each line is an error that names function, argument, rule and value.
.print capacity
SELECT bloom_create(0);
SELECT bloom_create(-1);
SELECT bloom_create(NULL);
SELECT bloom_create(1e18);
SELECT bloom_create(1000000000000000000);
SELECT bloom_create(1.5);
SELECT bloom_create(0.0);
SELECT bloom_create(0.5);
SELECT bloom_create(-5.0);
SELECT bloom_create('1000');
SELECT bloom_create(x'01');
SELECT bloom_create(1099511627776);

.print fpr
SELECT bloom_create(100, 0);
SELECT bloom_create(100, 1);
SELECT bloom_create(100, 1.5);
SELECT bloom_create(100, -0.1);
SELECT bloom_create(100, 9e999 - 9e999);
SELECT bloom_create(100, NULL);
SELECT bloom_create(100, '0.01');

.print kind
SELECT bloom_create(100, 0.01, 'cuckoo');
SELECT bloom_create(100, 0.01, 'Standard');
SELECT bloom_create(100, 0.01, NULL);
SELECT bloom_create(100, 0.01, 1);
SELECT bloom_create(100, 0.01, 'a very long name of a kind that nobody would ever want to read whole');

SELECT bloom_create(100, 0.01, 'Ünï' || char(10) || char(0) || char(55296) || '東京');
SELECT bloom_create(100, 0.01, '😀한' || CAST(x'7fc328f5808080e697' AS TEXT));
.print m, k, block, seed
SELECT bloom_create_sized(0, 7);
SELECT bloom_create_sized(NULL, 7);
SELECT bloom_create_sized(1099511627777, 7);
SELECT bloom_create_sized(1000, 0);
SELECT bloom_create_sized(1000, 256);
SELECT bloom_create_sized(1000, NULL);
SELECT bloom_create_sized(1000, 7, 'standard', 300);
SELECT bloom_create_sized(1000, 7, 'standard', -1);
SELECT bloom_create_sized(1000, 7, 'partitioned');
SELECT bloom_create_sized(1000, 7, 'standard', 0, 2147483648);

.print number of arguments
SELECT bloom_create();
SELECT bloom_create(1, 0.1, 'standard', 4);
SELECT bloom_create_sized(1);
SELECT bloom_add(bloom_create(10));
SELECT bloom_remove(bloom_create(10));
SELECT bloom_contains(bloom_create(10));
SELECT bloom_contains_all(bloom_create(10));
SELECT bloom_contains_any();
SELECT bloom_union();
SELECT bloom_intersect();
SELECT bloom_key();

.print what is not a filter
SELECT bloom_add(NULL, 1);
SELECT bloom_add('text', 1);
SELECT bloom_add(42, 1);
SELECT bloom_add(1.5, 1);
SELECT bloom_add(x'', 1);
SELECT bloom_add(zeroblob(64), 1);
SELECT bloom_remove(NULL, 1);
SELECT bloom_contains(NULL, 1);
SELECT bloom_contains('text', 1);
SELECT bloom_contains_all(NULL, 1);
SELECT bloom_contains_any(NULL, 1);
SELECT bloom_union(bloom_create(10), NULL);
SELECT bloom_union(bloom_create(10), bloom_create(10), 'x');
SELECT bloom_union('x');
SELECT bloom_intersect(NULL, bloom_create(10));
SELECT bloom_halve(NULL);
SELECT bloom_standard(NULL);
SELECT bloom_count(NULL);
SELECT bloom_fpr('x');
SELECT bloom_info(NULL);
SELECT bloom_check(NULL);
SELECT bloom_check('text');
SELECT bloom_open(NULL);
SELECT * FROM bloom_positions(NULL, 1);

.print damaged filters
CREATE TABLE f(b);
INSERT INTO f SELECT bloom_add(bloom_create(100), 'a');
SELECT bloom_contains(substr(b, 1, length(b) - 1), 'a') FROM f;
SELECT bloom_contains(CAST(b || x'00' AS BLOB), 'a') FROM f;
SELECT bloom_contains(CAST(substr(b, 1, 9) || x'ff' || substr(b, 11) AS BLOB), 'a') FROM f;
SELECT bloom_contains(CAST(substr(b, 1, 4) || x'02' || substr(b, 6) AS BLOB), 'a') FROM f;
SELECT bloom_check(substr(b, 1, length(b) - 1)) FROM f;
SELECT bloom_check(substr(b, 1, 10)) FROM f;
SELECT bloom_check(x'') FROM f;

.print headers with a right checksum: hash, kind, k, m, block, seed, collation, reserved, capacity, rate, length, last byte
SELECT bloom_contains(x'424c4d46010901023c0000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000f6f24c74fd3dda4f0000009a00000000', 'a');
SELECT bloom_contains(x'424c4d46010104023c00000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000002237be8dbf2e16490000009a00000000', 'a');
SELECT bloom_contains(x'424c4d46010101003c000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000c96c8ad26b824d0000009a00000000', 'a');
SELECT bloom_contains(x'424c4d46010101020000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000002c22763277b2681d0000009a00000000', 'a');
SELECT bloom_contains(x'424c4d46010101023c0000000000000007000000000000000000000000000000000000000000000000000000000000000000000000000000912600308e71bba90000009a00000000', 'a');
SELECT bloom_contains(x'424c4d46010101023c0000000000000000000000000000000000008000000000000000000000000000000000000000000000000000000000b2db88c6322729150000009a00000000', 'a');
SELECT bloom_contains(x'424c4d46010101023c0000000000000000000000000000000000000003000000000000000000000000000000000000000000000000000000cfaeaa911165420f0000009a00000000', 'a');
SELECT bloom_contains(x'424c4d46010101023c0000000000000000000000000000000000000000010000000000000000000000000000000000000000000000000000923e8ca3eadca1ea0000009a00000000', 'a');
SELECT bloom_contains(x'424c4d46010101023c00000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000014944562880a7c9d40000009a00000000', 'a');
SELECT bloom_contains(x'424c4d46010101023c000000000000000000000000000000000000000000000000000000000000000000000000000040000000000000000053f67e15ff32d5040000009a00000000', 'a');
SELECT bloom_contains(x'424c4d46010101023c0000000000000000000000000000000000000000000000000000000000010000000000000000000000000000000000bfa958bb4bdb24df0000009a00000000', 'a');
SELECT bloom_contains(x'424c4d46010101025a0000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000fb1038925a6533cc0000009a00000000', 'a');
SELECT bloom_contains(x'424c4d4601010102390000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000f65e144bb09ea39a0000009a000000ff', 'a');
.print filters that do not go together
SELECT bloom_union(bloom_create_sized(1024, 7), bloom_create_sized(1024, 6));
SELECT bloom_union(bloom_create_sized(1024, 7), bloom_create_sized(1024, 7, 'counting'));
SELECT bloom_union(bloom_create_sized(1024, 7), bloom_create_sized(1024, 7, 'standard', 512));
SELECT bloom_union(bloom_create_sized(1024, 7), bloom_create_sized(1024, 7, 'standard', 0, 1));
SELECT bloom_union(bloom_create_sized(1024, 7), bloom_create_sized(1000, 7));
SELECT bloom_intersect(bloom_create_sized(3072, 7), bloom_create_sized(1024, 7));
SELECT bloom_union(bloom_create_sized(1001, 7), bloom_create_sized(500, 7));
SELECT bloom_union(bloom_create_sized(500, 7), bloom_create_sized(1001, 7));
SELECT bloom_union(column1) FROM (VALUES (bloom_create_sized(1024, 7)), (bloom_create_sized(1000, 7)));

.print removal, halving, bits of counters
SELECT bloom_remove(bloom_create(10), 'a');
SELECT bloom_remove(bloom_create(10, 0.01, 'partitioned'), 'a');
SELECT bloom_remove(bloom_create(10, 0.01, 'counting'), 'a');
SELECT bloom_remove(bloom_add(bloom_create(10, 0.01, 'counting'), 'a', 'b'), 'b', 'a', 'a');
SELECT bloom_halve(bloom_create_sized(1001, 7));
SELECT bloom_halve(bloom_create_sized(1000, 7), 4);
SELECT bloom_halve(bloom_create_sized(33, 3, 'partitioned'));
SELECT bloom_halve(bloom_create_sized(99, 3, 'standard', 33));
SELECT bloom_halve(bloom_create(10), -1);
SELECT bloom_halve(bloom_create(10), 'x');
SELECT bloom_standard(bloom_create(10, 0.01, 'partitioned'));

.print bloom_build
SELECT bloom_build(column1, 0) FROM (VALUES (1));
SELECT bloom_build(column1, 'x') FROM (VALUES (1));
SELECT bloom_build(column1, 10, 2) FROM (VALUES (1));
SELECT bloom_build(column1, 10, NULL) FROM (VALUES (1));
SELECT bloom_build(column1, NULL, 0.01, 'cuckoo') FROM (VALUES (1));

.print longer than a blob may be
.limit length 1000
SELECT bloom_create(1000);
SELECT bloom_create(1099511627776, 0.9999);
SELECT bloom_create_sized(1099511627776, 1, 'counting');
SELECT bloom_build(column1, 1000) FROM (VALUES (1));
SELECT bloom_key(hex(zeroblob(300)), hex(zeroblob(300)));
.limit length 1000000000

.print formulas
SELECT bloom_bits(0, 0.01);
SELECT bloom_bits(100, 1);
SELECT bloom_hashes(0, 1);
SELECT bloom_hashes(1, 0);
SELECT bloom_rate(0, 1, 1);
SELECT bloom_rate(10, -1, 1);
SELECT bloom_rate(10, 1, 256);
SELECT bloom_rate(10, 1, 3, 'partitioned');
SELECT bloom_rate(10, 1, 3, 'x');
SELECT bloom_rate(10, 1, 3, 'standard', 3);
SELECT bloom_rate(10, 1, 3, 'standard', -1);
SELECT bloom_rate(12, 1, 3, 'partitioned', 4);
SELECT bloom_capacity(10, 1, 0);
SELECT * FROM bloom_plan(0, 0.01);
SELECT * FROM bloom_plan(100, 'x');
SELECT * FROM bloom_plan;
SELECT * FROM bloom_plan(100);
SELECT * FROM bloom_positions(bloom_create(10));

.print deltas
SELECT bloom_delta(NULL, b), bloom_delta(b, NULL) FROM f;
SELECT bloom_delta(b, NULL) FROM f;
SELECT bloom_apply(b, NULL) FROM f;
SELECT bloom_apply(b, 'text') FROM f;
SELECT bloom_apply(b, x'00') FROM f;
SELECT bloom_apply(b, zeroblob(100)) FROM f;
SELECT bloom_apply(b, b) FROM f;
SELECT bloom_apply(NULL, bloom_delta(b, b)) FROM f;
SELECT bloom_apply(bloom_add(b, 'z'), bloom_delta(b, bloom_add(b, 'z'))) FROM f;
SELECT bloom_apply(b, CAST(substr(bloom_delta(b, b), 1, 4) || x'02' || substr(bloom_delta(b, b), 6) AS BLOB)) FROM f;
SELECT bloom_apply(b, CAST(substr(bloom_delta(b, b), 1, 5) || x'7f' || substr(bloom_delta(b, b), 7) AS BLOB)) FROM f;
SELECT bloom_apply(b, substr(d, 1, length(d) - 1)) FROM (SELECT b, bloom_delta(b, bloom_add(b, 'z')) AS d FROM f);
SELECT bloom_apply(b, CAST(bloom_delta(b, b) || x'00' AS BLOB)) FROM f;
SELECT bloom_apply(b, CAST(substr(d, 1, 40) || x'0101' || substr(d, 43) AS BLOB)) FROM (SELECT b, bloom_delta(b, bloom_create(10)) AS d FROM f);
SELECT bloom_apply(b, substr(bloom_delta(b, bloom_create(10)), 1, 80)) FROM f;

.print nothing was lost
SELECT bloom_contains(b, 'a') FROM f;
UPDATE f SET b = bloom_add(b, 'b', 'c', 'd') WHERE bloom_remove(b, 'a') IS NULL;
SELECT bloom_count(b) FROM f;
