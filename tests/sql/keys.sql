-- One key, whatever its type: 42, 42.0, '42' and x'3432'.
CREATE TABLE f AS SELECT bloom_build(column1, 100, 1e-9) AS b
  FROM (VALUES (42), (-7), ('Köln'), (x'00ff'), (0.5), (1e20), ('')) ;
-- present in every form
SELECT bloom_contains(b, 42), bloom_contains(b, 42.0), bloom_contains(b, '42'), bloom_contains(b, x'3432') FROM f;
--> 1|1|1|1
SELECT bloom_contains(b, -7), bloom_contains(b, '-7'), bloom_contains(b, -7e0) FROM f;
--> 1|1|1
SELECT bloom_contains(b, 'Köln'), bloom_contains(b, x'4bc3b66c6e') FROM f;
--> 1|1
SELECT bloom_contains(b, x'00ff'), bloom_contains(b, CAST(x'00ff' AS TEXT)) FROM f;
--> 1|1
SELECT bloom_contains(b, 0.5), bloom_contains(b, '0.5'), bloom_contains(b, 5e-1) FROM f;
--> 1|1|1
SELECT bloom_contains(b, 1e20), bloom_contains(b, '100000000000000000000') FROM f;
--> 1|1
SELECT bloom_contains(b, ''), bloom_contains(b, x''), bloom_contains(b, zeroblob(0)) FROM f;
--> 1|1|1
-- absent
SELECT bloom_contains(b, 43), bloom_contains(b, '042'), bloom_contains(b, ' 42'), bloom_contains(b, '42.0') FROM f;
--> 0|0|0|0
SELECT bloom_contains(b, 'köln'), bloom_contains(b, x'00'), bloom_contains(b, '0'), bloom_contains(b, 1e21) FROM f;
--> 0|0|0|0
-- the limits of numbers
SELECT bloom_contains(bloom_add(bloom_create(9), column1), column2) FROM (VALUES
  (9223372036854775807, '9223372036854775807'), (-9223372036854775808, '-9223372036854775808'),
  (-9223372036854775808, -9223372036854775808.0), (0, -0.0), (0.0, '0'),
  (9e999, 'Inf'), (-9e999, '-Inf'), (1e-7, '1e-07'), (0.0001, '0.0001'), (123456789.125, '123456789.125'));
--> 1
--> 1
--> 1
--> 1
--> 1
--> 1
--> 1
--> 1
--> 1
--> 1
-- embedded NULs and long keys count to their last byte
SELECT bloom_contains(bloom_add(bloom_create(9, 1e-9), CAST(x'6100' AS TEXT)), 'a');
--> 0
SELECT bloom_contains(bloom_add(bloom_create(9, 1e-9), x'6100'), x'610000');
--> 0
SELECT bloom_contains(f, hex(zeroblob(50000))), bloom_contains(f, hex(zeroblob(50000)) || 'x')
  FROM (SELECT bloom_add(bloom_create(9, 1e-9), hex(zeroblob(50000))) AS f);
--> 1|0
-- NULL is never a key
SELECT bloom_contains(b, NULL) IS NULL, bloom_add(b, NULL) = b, bloom_count(bloom_add(b, NULL, 'x', NULL)) - bloom_count(b) FROM f;
--> 1|1|1
SELECT bloom_remove(c, NULL) = c FROM (SELECT bloom_create(9, 0.01, 'counting') AS c);
--> 1
-- another seed is another hash, and knows its own keys
SELECT bloom_contains(f, 'a'), (SELECT group_concat(cell) FROM bloom_positions(f, 'a')) <> (SELECT group_concat(cell) FROM bloom_positions(bloom_create_sized(9600, 7), 'a'))
  FROM (SELECT bloom_add(bloom_create_sized(9600, 7, 'standard', 0, 77), 'a') AS f);
--> 1|1
-- composite keys
SELECT bloom_key('ab', 'c'), bloom_key('a', 'bc'), typeof(bloom_key(1)), bloom_key(1, 2.0, x'33', 0.5, '');
--> 2:ab,1:c,|1:a,2:bc,|blob|1:1,1:2,1:3,3:0.5,0:,
SELECT bloom_key('a', NULL) IS NULL, bloom_key(NULL) IS NULL;
--> 1|1
SELECT bloom_key(1, 'a') = bloom_key(1.0, x'61'), bloom_key('ab', 'c') = bloom_key('a', 'bc');
--> 1|0
SELECT bloom_contains(bloom_build(bloom_key(column1, column2)), bloom_key(2, 'y')),
       bloom_contains(bloom_build(bloom_key(column1, column2)), bloom_key(2, 'x'))
  FROM (VALUES (1, 'x'), (2, 'y'));
--> 1|0
