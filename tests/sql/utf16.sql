-- A database in UTF-16 hashes the same UTF-8 bytes.
PRAGMA encoding = 'UTF-16';
CREATE TABLE t(k);
INSERT INTO t VALUES ('Köln'), ('東京'), ('😀'), ('plain'), (42);
SELECT substr(encoding, 1, 6) FROM pragma_encoding;  -- in the machine's byte order
--> UTF-16
SELECT hex(bloom_build(k, 10)) = hex(bloom_add(bloom_create(10), x'4bc3b66c6e', x'e69db1e4baac', x'f09f9880', x'706c61696e', '42')) FROM t;
--> 1
SELECT bloom_contains((SELECT bloom_build(k) FROM t), k) FROM t;
--> 1
--> 1
--> 1
--> 1
--> 1
SELECT bloom_create(10, 0.01, 'kind');
--> Error: bloom_create: kind must be 'standard', 'counting' or 'partitioned', got 'kind'
SELECT bloom_contains('東京', 1);
--> Error: bloom_contains: argument 1 is not a bloom filter ('東京')
SELECT hex(bloom_key('Köln', 1));
--> 353A4BC3B66C6E2C313A312C
