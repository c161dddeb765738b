-- Bad input of every kind: each line is an error that names function, argument, rule and value.
-- capacity
SELECT bloom_create(0);
--> Error: bloom_create: capacity must be an integer between 1 and 1099511627776, got 0
SELECT bloom_create(-1);
--> Error: bloom_create: capacity must be an integer between 1 and 1099511627776, got -1
SELECT bloom_create(NULL);
--> Error: bloom_create: capacity must be an integer between 1 and 1099511627776, got NULL
SELECT bloom_create(1e18);
--> Error: bloom_create: capacity must be an integer between 1 and 1099511627776, got 1.0e+18
SELECT bloom_create(1000000000000000000);
--> Error: bloom_create: capacity must be an integer between 1 and 1099511627776, got 1000000000000000000
SELECT bloom_create(1.5);
--> Error: bloom_create: capacity must be an integer between 1 and 1099511627776, got 1.5
SELECT bloom_create(0.0);
--> Error: bloom_create: capacity must be an integer between 1 and 1099511627776, got 0.0
SELECT bloom_create(0.5);
--> Error: bloom_create: capacity must be an integer between 1 and 1099511627776, got 0.5
SELECT bloom_create(-5.0);
--> Error: bloom_create: capacity must be an integer between 1 and 1099511627776, got -5.0
SELECT bloom_create('1000');
--> Error: bloom_create: capacity must be an integer between 1 and 1099511627776, got '1000'
SELECT bloom_create(x'01');
--> Error: bloom_create: capacity must be an integer between 1 and 1099511627776, got a blob of 1 bytes
SELECT bloom_create(1099511627776);
--> Error: bloom_create: capacity and fpr must be such that the filter has at most 1099511627776 cells, got capacity 1099511627776 and fpr 0.01

-- fpr
SELECT bloom_create(100, 0);
--> Error: bloom_create: fpr must be a number between 0 and 1, got 0
SELECT bloom_create(100, 1);
--> Error: bloom_create: fpr must be a number between 0 and 1, got 1
SELECT bloom_create(100, 1.5);
--> Error: bloom_create: fpr must be a number between 0 and 1, got 1.5
SELECT bloom_create(100, -0.1);
--> Error: bloom_create: fpr must be a number between 0 and 1, got -0.1
SELECT bloom_create(100, 9e999 - 9e999);
--> Error: bloom_create: fpr must be a number between 0 and 1, got NULL
SELECT bloom_create(100, NULL);
--> Error: bloom_create: fpr must be a number between 0 and 1, got NULL
SELECT bloom_create(100, '0.01');
--> Error: bloom_create: fpr must be a number between 0 and 1, got '0.01'

-- kind
SELECT bloom_create(100, 0.01, 'cuckoo');
--> Error: bloom_create: kind must be 'standard', 'counting' or 'partitioned', got 'cuckoo'
SELECT bloom_create(100, 0.01, 'Standards');
--> Error: bloom_create: kind must be 'standard', 'counting' or 'partitioned', got 'Standards'
SELECT bloom_create(100, 0.01, NULL);
--> Error: bloom_create: kind must be 'standard', 'counting' or 'partitioned', got NULL
SELECT bloom_create(100, 0.01, 1);
--> Error: bloom_create: kind must be 'standard', 'counting' or 'partitioned', got 1
SELECT bloom_create(100, 0.01, 'a very long name of a kind that nobody would ever want to read whole');
--> Error: bloom_create: kind must be 'standard', 'counting' or 'partitioned', got 'a very long name of a kind that nobody w...'

SELECT bloom_create(100, 0.01, 'Ünï' || char(10) || char(0) || char(55296) || '東京');
--> Error: bloom_create: kind must be 'standard', 'counting' or 'partitioned', got 'Ünï?????東京'
SELECT bloom_create(100, 0.01, '😀한' || CAST(x'7fc328f5808080e697' AS TEXT));
--> Error: bloom_create: kind must be 'standard', 'counting' or 'partitioned', got '😀한??(??????'
-- m, k, block, seed
SELECT bloom_create_sized(0, 7);
--> Error: bloom_create_sized: m must be an integer between 1 and 1099511627776, got 0
SELECT bloom_create_sized(NULL, 7);
--> Error: bloom_create_sized: m must be an integer between 1 and 1099511627776, got NULL
SELECT bloom_create_sized(1099511627777, 7);
--> Error: bloom_create_sized: m must be an integer between 1 and 1099511627776, got 1099511627777
SELECT bloom_create_sized(1000, 0);
--> Error: bloom_create_sized: k must be an integer between 1 and 255, got 0
SELECT bloom_create_sized(1000, 256);
--> Error: bloom_create_sized: k must be an integer between 1 and 255, got 256
SELECT bloom_create_sized(1000, NULL);
--> Error: bloom_create_sized: k must be an integer between 1 and 255, got NULL
SELECT bloom_create_sized(1000, 7, 'standard', 300);
--> Error: bloom_create_sized: block must be 0 or a divisor of m = 1000, got 300
SELECT bloom_create_sized(1000, 7, 'standard', -1);
--> Error: bloom_create_sized: block must be an integer between 0 and 1099511627776, got -1
SELECT bloom_create_sized(1000, 7, 'partitioned');
--> Error: bloom_create_sized: m must be a multiple of k = 7 (a partitioned filter has k equal slices), got 1000
SELECT bloom_create_sized(1000, 7, 'standard', 0, 2147483648);
--> Error: bloom_create_sized: seed must be an integer between 0 and 2147483647, got 2147483648

-- number of arguments
SELECT bloom_create();
--> Error: wrong number of arguments to function bloom_create()
SELECT bloom_create(1, 0.1, 'standard', 4);
--> Error: wrong number of arguments to function bloom_create()
SELECT bloom_create_sized(1);
--> Error: wrong number of arguments to function bloom_create_sized()
SELECT bloom_add(bloom_create(10));
--> Error: bloom_add: the call must be bloom_add(filter, key, ...), got 1 argument
SELECT bloom_remove(bloom_create(10));
--> Error: bloom_remove: the call must be bloom_remove(filter, key, ...), got 1 argument
SELECT bloom_contains(bloom_create(10));
--> Error: wrong number of arguments to function bloom_contains()
SELECT bloom_contains_all(bloom_create(10));
--> Error: bloom_contains_all: the call must be bloom_contains_all(filter, key, ...), got 1 argument
SELECT bloom_contains_any();
--> Error: bloom_contains_any: the call must be bloom_contains_any(filter, key, ...), got 0 arguments
SELECT bloom_union();
--> Error: bloom_union: the call must be bloom_union(filter, filter, ...), got 0 arguments
SELECT bloom_intersect();
--> Error: bloom_intersect: the call must be bloom_intersect(filter, filter, ...), got 0 arguments
SELECT bloom_key();
--> Error: bloom_key: the call must be bloom_key(value, ...), got 0 arguments

-- what is not a filter
SELECT bloom_add(NULL, 1);
--> Error: bloom_add: argument 1 is not a bloom filter (NULL; did the subquery find no row? A handle passes only through a scalar subquery: (SELECT bloom_open(filter) FROM ...))
SELECT bloom_add('text', 1);
--> Error: bloom_add: argument 1 is not a bloom filter ('text')
SELECT bloom_add(42, 1);
--> Error: bloom_add: argument 1 is not a bloom filter (42)
SELECT bloom_add(1.5, 1);
--> Error: bloom_add: argument 1 is not a bloom filter (1.5)
SELECT bloom_add(x'', 1);
--> Error: bloom_add: argument 1 is not a bloom filter (a header has 64 bytes, got 0)
SELECT bloom_add(zeroblob(64), 1);
--> Error: bloom_add: argument 1 is not a bloom filter (bad magic)
SELECT bloom_remove(NULL, 1);
--> Error: bloom_remove: argument 1 is not a bloom filter (NULL; did the subquery find no row? A handle passes only through a scalar subquery: (SELECT bloom_open(filter) FROM ...))
SELECT bloom_contains(NULL, 1);
--> Error: bloom_contains: argument 1 is not a bloom filter (NULL; did the subquery find no row? A handle passes only through a scalar subquery: (SELECT bloom_open(filter) FROM ...))
SELECT bloom_contains('text', 1);
--> Error: bloom_contains: argument 1 is not a bloom filter ('text')
SELECT bloom_contains_all(NULL, 1);
--> Error: bloom_contains_all: argument 1 is not a bloom filter (NULL; did the subquery find no row? A handle passes only through a scalar subquery: (SELECT bloom_open(filter) FROM ...))
SELECT bloom_contains_any(NULL, 1);
--> Error: bloom_contains_any: argument 1 is not a bloom filter (NULL; did the subquery find no row? A handle passes only through a scalar subquery: (SELECT bloom_open(filter) FROM ...))
SELECT bloom_union(bloom_create(10), NULL);
--> Error: bloom_union: argument 2 is not a bloom filter (NULL; did the subquery find no row? A handle passes only through a scalar subquery: (SELECT bloom_open(filter) FROM ...))
SELECT bloom_union(bloom_create(10), bloom_create(10), 'x');
--> Error: bloom_union: argument 3 is not a bloom filter ('x')
SELECT bloom_union('x');
--> Error: bloom_union: argument 1 is not a bloom filter ('x')
SELECT bloom_intersect(NULL, bloom_create(10));
--> Error: bloom_intersect: argument 1 is not a bloom filter (NULL; did the subquery find no row? A handle passes only through a scalar subquery: (SELECT bloom_open(filter) FROM ...))
SELECT bloom_halve(NULL);
--> Error: bloom_halve: argument 1 is not a bloom filter (NULL; did the subquery find no row? A handle passes only through a scalar subquery: (SELECT bloom_open(filter) FROM ...))
SELECT bloom_standard(NULL);
--> Error: bloom_standard: argument 1 is not a bloom filter (NULL; did the subquery find no row? A handle passes only through a scalar subquery: (SELECT bloom_open(filter) FROM ...))
SELECT bloom_count(NULL);
--> Error: bloom_count: argument 1 is not a bloom filter (NULL; did the subquery find no row? A handle passes only through a scalar subquery: (SELECT bloom_open(filter) FROM ...))
SELECT bloom_fpr('x');
--> Error: bloom_fpr: argument 1 is not a bloom filter ('x')
SELECT bloom_info(NULL);
--> Error: bloom_info: argument 1 is not a bloom filter (NULL; did the subquery find no row? A handle passes only through a scalar subquery: (SELECT bloom_open(filter) FROM ...))
SELECT bloom_check(NULL);
--> Error: bloom_check: argument 1 is not a bloom filter (NULL; did the subquery find no row? A handle passes only through a scalar subquery: (SELECT bloom_open(filter) FROM ...))
SELECT bloom_check('text');
--> Error: bloom_check: argument 1 is not a bloom filter ('text')
SELECT bloom_open(NULL);
--> Error: bloom_open: argument 1 is not a bloom filter (NULL; did the subquery find no row? A handle passes only through a scalar subquery: (SELECT bloom_open(filter) FROM ...))
SELECT * FROM bloom_positions(NULL, 1);
--> Error: bloom_positions: argument 1 is not a bloom filter (NULL; did the subquery find no row? A handle passes only through a scalar subquery: (SELECT bloom_open(filter) FROM ...))

-- Damaged filters
CREATE TABLE f(b);
INSERT INTO f SELECT bloom_add(bloom_create(100), 'a');
-- a byte missing
SELECT bloom_contains(substr(b, 1, length(b) - 1), 'a') FROM f;
--> Error: bloom_contains: argument 1 is a damaged bloom filter (185 bytes where the header says 186; restore it from a backup or build it again) (11)
-- a byte too many
SELECT bloom_contains(CAST(b || x'00' AS BLOB), 'a') FROM f;
--> Error: bloom_contains: argument 1 is a damaged bloom filter (187 bytes where the header says 186; restore it from a backup or build it again) (11)
-- a changed byte in the header
SELECT bloom_contains(CAST(substr(b, 1, 9) || x'ff' || substr(b, 11) AS BLOB), 'a') FROM f;
--> Error: bloom_contains: argument 1 is a damaged bloom filter (header checksum does not match; restore it from a backup or build it again) (11)
-- another version
SELECT bloom_contains(CAST(substr(b, 1, 4) || x'03' || substr(b, 6) AS BLOB), 'a') FROM f;
--> Error: bloom_contains: argument 1 is not a bloom filter (unknown version 3)
-- a byte missing, for bloom_check
SELECT bloom_check(substr(b, 1, length(b) - 1)) FROM f;
--> 185 bytes where the header says 186
-- less than a header, for bloom_check
SELECT bloom_check(substr(b, 1, 10)) FROM f;
--> a header has 64 bytes, got 10
-- no byte at all, for bloom_check
SELECT bloom_check(x'') FROM f;
--> a header has 64 bytes, got 0

-- Headers with a right checksum and a wrong value
-- hash 9
SELECT bloom_contains(x'424c4d46010901023c0000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000f6f24c74fd3dda4f0000009a00000000', 'a');
--> Error: bloom_contains: argument 1 is not a bloom filter (unknown hash 9)
-- kind 4
SELECT bloom_contains(x'424c4d46010104023c00000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000002237be8dbf2e16490000009a00000000', 'a');
--> Error: bloom_contains: argument 1 is not a bloom filter (unknown kind 4)
-- k = 0
SELECT bloom_contains(x'424c4d46010101003c000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000c96c8ad26b824d0000009a00000000', 'a');
--> Error: bloom_contains: argument 1 is a damaged bloom filter (k must be between 1 and 255, is 0; restore it from a backup or build it again) (11)
-- m = 0
SELECT bloom_contains(x'424c4d46010101020000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000002c22763277b2681d0000009a00000000', 'a');
--> Error: bloom_contains: argument 1 is a damaged bloom filter (m must be between 1 and 1099511627776, is 0; restore it from a backup or build it again) (11)
-- block = 7, no divisor of m
SELECT bloom_contains(x'424c4d46010101023c0000000000000007000000000000000000000000000000000000000000000000000000000000000000000000000000912600308e71bba90000009a00000000', 'a');
--> Error: bloom_contains: argument 1 is a damaged bloom filter (block must be 0 or a divisor of m = 60, is 7; restore it from a backup or build it again) (11)
-- seed of 32 bits
SELECT bloom_contains(x'424c4d46010101023c0000000000000000000000000000000000008000000000000000000000000000000000000000000000000000000000b2db88c6322729150000009a00000000', 'a');
--> Error: bloom_contains: argument 1 is a damaged bloom filter (seed must be between 0 and 2147483647, is 2147483648; restore it from a backup or build it again) (11)
-- collation 3
SELECT bloom_contains(x'424c4d46010101023c0000000000000000000000000000000000000003000000000000000000000000000000000000000000000000000000cfaeaa911165420f0000009a00000000', 'a');
--> Error: bloom_contains: argument 1 is not a bloom filter (unknown collation 3)
-- first reserved byte
SELECT bloom_contains(x'424c4d46010101023c0000000000000000000000000000000000000000010000000000000000000000000000000000000000000000000000923e8ca3eadca1ea0000009a00000000', 'a');
--> Error: bloom_contains: argument 1 is not a bloom filter (reserved header bytes are in use)
-- last reserved byte
SELECT bloom_contains(x'424c4d46010101023c00000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000014944562880a7c9d40000009a00000000', 'a');
--> Error: bloom_contains: argument 1 is not a bloom filter (reserved header bytes are in use)
-- capacity 2^62
SELECT bloom_contains(x'424c4d46010101023c000000000000000000000000000000000000000000000000000000000000000000000000000040000000000000000053f67e15ff32d5040000009a00000000', 'a');
--> Error: bloom_contains: argument 1 is a damaged bloom filter (capacity or false-positive rate out of range; restore it from a backup or build it again) (11)
-- rate that is no number between 0 and 1
SELECT bloom_contains(x'424c4d46010101023c0000000000000000000000000000000000000000000000000000000000010000000000000000000000000000000000bfa958bb4bdb24df0000009a00000000', 'a');
--> Error: bloom_contains: argument 1 is a damaged bloom filter (capacity or false-positive rate out of range; restore it from a backup or build it again) (11)
-- length of another m
SELECT bloom_contains(x'424c4d46010101025a0000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000fb1038925a6533cc0000009a00000000', 'a');
--> Error: bloom_contains: argument 1 is a damaged bloom filter (72 bytes where the header says 76; restore it from a backup or build it again) (11)
-- bits set beyond m
SELECT bloom_contains(x'424c4d4601010102390000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000f65e144bb09ea39a0000009a000000ff', 'a');
--> Error: bloom_contains: argument 1 is a damaged bloom filter (bits after the last cell are set; restore it from a backup or build it again) (11)

-- Incompatible filters
-- k
SELECT bloom_union(bloom_create_sized(1024, 7), bloom_create_sized(1024, 6));
--> Error: bloom_union: argument 2 cannot be merged with the filter before it: it has k = 6, m = 1024 and block = 0, not k = 7, m = 1024 and block = 0 (give both the same capacity and fpr, or build both with bloom_build(key, template) from one empty filter)
-- kind
SELECT bloom_union(bloom_create_sized(1024, 7), bloom_create_sized(1024, 7, 'counting'));
--> Error: bloom_union: argument 2 cannot be merged with the filter before it: it has kind counting, not standard (give both the same kind; bloom_standard() converts a counting filter)
-- block
SELECT bloom_union(bloom_create_sized(1024, 7), bloom_create_sized(1024, 7, 'standard', 512));
--> Error: bloom_union: argument 2 cannot be merged with the filter before it: it has k = 7, m = 1024 and block = 512, not k = 7, m = 1024 and block = 0 (give both the same capacity and fpr, or build both with bloom_build(key, template) from one empty filter)
-- seed
SELECT bloom_union(bloom_create_sized(1024, 7), bloom_create_sized(1024, 7, 'standard', 0, 1));
--> Error: bloom_union: argument 2 cannot be merged with the filter before it: it has seed 1, not 0 (give both the same seed)
-- m, not a power of two apart
SELECT bloom_union(bloom_create_sized(1024, 7), bloom_create_sized(1000, 7));
--> Error: bloom_union: argument 2 cannot be merged with the filter before it: it has k = 7, m = 1000 and block = 0, not k = 7, m = 1024 and block = 0 (give both the same capacity and fpr, or build both with bloom_build(key, template) from one empty filter)
-- three times m
SELECT bloom_intersect(bloom_create_sized(3072, 7), bloom_create_sized(1024, 7));
--> Error: bloom_intersect: argument 2 cannot be merged with the filter before it: it has k = 7, m = 1024 and block = 0, not k = 7, m = 3072 and block = 0 (give both the same capacity and fpr, or build both with bloom_build(key, template) from one empty filter)
-- m not quite twice as large
SELECT bloom_union(bloom_create_sized(1001, 7), bloom_create_sized(500, 7));
--> Error: bloom_union: argument 2 cannot be merged with the filter before it: it has k = 7, m = 500 and block = 0, not k = 7, m = 1001 and block = 0 (give both the same capacity and fpr, or build both with bloom_build(key, template) from one empty filter)
-- the same in the other order
SELECT bloom_union(bloom_create_sized(500, 7), bloom_create_sized(1001, 7));
--> Error: bloom_union: argument 2 cannot be merged with the filter before it: it has k = 7, m = 1001 and block = 0, not k = 7, m = 500 and block = 0 (give both the same capacity and fpr, or build both with bloom_build(key, template) from one empty filter)
-- aggregate
SELECT bloom_union(column1) FROM (VALUES (bloom_create_sized(1024, 7)), (bloom_create_sized(1000, 7)));
--> Error: bloom_union: argument 1 cannot be merged with the filter before it: it has k = 7, m = 1000 and block = 0, not k = 7, m = 1024 and block = 0 (give both the same capacity and fpr, or build both with bloom_build(key, template) from one empty filter)

-- capacities that look like halves
SELECT bloom_union(bloom_create(100000), bloom_create(70000));
--> Error: bloom_union: argument 2 cannot be merged with the filter before it: it has capacity 70000 at fpr 0.01 with k = 7, m = 698368 and block = 31744, not capacity 100000 at fpr 0.01 with k = 7, m = 1015808 and block = 31744 (give both the same capacity and fpr, or build both with bloom_build(key, template) from one empty filter)

-- Removal, halving, bits of counters
-- remove from a standard filter
SELECT bloom_remove(bloom_create(10), 'a');
--> Error: bloom_remove: argument 1 must be a counting filter (other kinds cannot remove keys), got a standard filter
-- remove from a partitioned filter
SELECT bloom_remove(bloom_create(10, 0.01, 'partitioned'), 'a');
--> Error: bloom_remove: argument 1 must be a counting filter (other kinds cannot remove keys), got a partitioned filter
-- remove what was not added
SELECT bloom_remove(bloom_create(10, 0.01, 'counting'), 'a');
--> Error: bloom_remove: argument 2 must be a key that was added, got 'a', which is not in the filter
-- remove a key twice
SELECT bloom_remove(bloom_add(bloom_create(10, 0.01, 'counting'), 'a', 'b'), 'b', 'a', 'a');
--> Error: bloom_remove: argument 4 must be a key that was added, got 'a', which is not in the filter
-- halve an odd number of cells
SELECT bloom_halve(bloom_create_sized(1001, 7));
--> Error: bloom_halve: argument 1 cannot be halved: the number of blocks (1) and the number of cells per block or slice (1001) are both odd
-- halve too often
SELECT bloom_halve(bloom_create_sized(1000, 7), 4);
--> Error: bloom_halve: times must be an integer between 0 and 3, got 4
-- halve an odd number of cells per slice
SELECT bloom_halve(bloom_create_sized(33, 3, 'partitioned'));
--> Error: bloom_halve: argument 1 cannot be halved: the number of blocks (1) and the number of cells per block or slice (11) are both odd
-- halve an odd block
SELECT bloom_halve(bloom_create_sized(99, 3, 'standard', 33));
--> Error: bloom_halve: argument 1 cannot be halved: the number of blocks (3) and the number of cells per block or slice (33) are both odd
-- halve a negative number of times
SELECT bloom_halve(bloom_create(10), -1);
--> Error: bloom_halve: times must be an integer between 0 and 4, got -1
-- halve a string of times
SELECT bloom_halve(bloom_create(10), 'x');
--> Error: bloom_halve: times must be an integer between 0 and 4, got 'x'
-- build into a filter
SELECT bloom_build('a', bloom_create(10), 0.01);
--> Error: bloom_build: the call must be bloom_build(key, filter), because the filter has its own fpr and kind, got 3 arguments
SELECT bloom_build('a', x'0102');
--> Error: bloom_build: argument 2 is not a bloom filter (a header has 64 bytes, got 2)
SELECT bloom_build('a', bloom_open(bloom_create(10)));
--> Error: bloom_build: argument 2 must be a blob in an aggregate, got a handle
-- fold
SELECT bloom_fold(bloom_create(10), NULL);
--> Error: bloom_fold: fpr must be a number between 0 and 1, got NULL
SELECT bloom_fold(bloom_create(10), 1);
--> Error: bloom_fold: fpr must be a number between 0 and 1, got 1
SELECT bloom_fold('x', 0.01);
--> Error: bloom_fold: argument 1 is not a bloom filter ('x')
-- bits of the counters of a partitioned filter
SELECT bloom_standard(bloom_create(10, 0.01, 'partitioned'));
--> Error: bloom_standard: argument 1 must be a counting filter, got a partitioned filter

-- bloom_build
SELECT bloom_build(column1, 0) FROM (VALUES (1));
--> Error: bloom_build: capacity must be an integer between 1 and 1099511627776, got 0
SELECT bloom_build(column1, 'x') FROM (VALUES (1));
--> Error: bloom_build: capacity must be an integer between 1 and 1099511627776, got 'x'
SELECT bloom_build(column1, 10, 2) FROM (VALUES (1));
--> Error: bloom_build: fpr must be a number between 0 and 1, got 2
SELECT bloom_build(column1, 10, NULL) FROM (VALUES (1));
--> Error: bloom_build: fpr must be a number between 0 and 1, got NULL
SELECT bloom_build(column1, NULL, 0.01, 'cuckoo') FROM (VALUES (1));
--> Error: bloom_build: kind must be 'standard', 'counting' or 'partitioned', got 'cuckoo'

-- longer than a blob may be
.limit length 1000
-->               length 1000
SELECT bloom_create(1000);
--> Error: bloom_create: the resulting filter must be at most 1000 bytes (SQLITE_LIMIT_LENGTH), got 1264; a table USING bloom can hold it (18)
SELECT bloom_create(1099511627776, 0.9999);
--> Error: bloom_create: the resulting filter must be at most 1000 bytes (SQLITE_LIMIT_LENGTH), got 15602810944; a table USING bloom can hold it (18)
SELECT bloom_create_sized(1099511627776, 1, 'counting');
--> Error: bloom_create_sized: the resulting filter must be at most 1000 bytes (SQLITE_LIMIT_LENGTH), got 549755813952; a table USING bloom can hold it (18)
SELECT bloom_build(column1, 1000) FROM (VALUES (1));
--> Error: bloom_build: the resulting filter must be at most 1000 bytes (SQLITE_LIMIT_LENGTH), got 1264; a table USING bloom can hold it (18)
SELECT bloom_key(hex(zeroblob(300)), hex(zeroblob(300)));
--> Error: bloom_key: the composite key must be at most 1000 bytes (SQLITE_LIMIT_LENGTH), got 1210 (18)
.limit length 1000000000
-->               length 1000000000

-- formulas
SELECT bloom_bits(0, 0.01);
--> Error: bloom_bits: n must be an integer between 1 and 1099511627776, got 0
SELECT bloom_bits(100, 1);
--> Error: bloom_bits: p must be a number between 0 and 1, got 1
SELECT bloom_hashes(0, 1);
--> Error: bloom_hashes: m must be an integer between 1 and 1099511627776, got 0
SELECT bloom_hashes(1, 0);
--> Error: bloom_hashes: n must be an integer between 1 and 1099511627776, got 0
SELECT bloom_rate(0, 1, 1);
--> Error: bloom_rate: m must be an integer between 1 and 1099511627776, got 0
SELECT bloom_rate(10, -1, 1);
--> Error: bloom_rate: n must be an integer between 0 and 1099511627776, got -1
SELECT bloom_rate(10, 1, 256);
--> Error: bloom_rate: k must be an integer between 1 and 255, got 256
SELECT bloom_rate(10, 1, 3, 'partitioned');
--> Error: bloom_rate: m must be a multiple of k = 3 (a partitioned filter has k equal slices), got 10
SELECT bloom_rate(10, 1, 3, 'x');
--> Error: bloom_rate: kind must be 'standard', 'counting' or 'partitioned', got 'x'
SELECT bloom_rate(10, 1, 3, 'standard', 3);
--> Error: bloom_rate: block must be 0 or a divisor of m = 10, got 3
SELECT bloom_rate(10, 1, 3, 'standard', -1);
--> Error: bloom_rate: block must be an integer between 0 and 1099511627776, got -1
SELECT bloom_rate(12, 1, 3, 'partitioned', 4);
--> Error: bloom_rate: block must be a multiple of k = 3 (a partitioned filter has k equal slices), got 4
SELECT bloom_capacity(10, 1, 0);
--> Error: bloom_capacity: p must be a number between 0 and 1, got 0
SELECT * FROM bloom_plan(0, 0.01);
--> Error: bloom_plan: n must be an integer between 1 and 1099511627776, got 0
SELECT * FROM bloom_plan(100, 'x');
--> Error: bloom_plan: p must be a number between 0 and 1, got 'x'
SELECT * FROM bloom_plan;
--> Error: bloom_plan: the call must be bloom_plan(n, p)
SELECT * FROM bloom_plan(100);
--> Error: bloom_plan: the call must be bloom_plan(n, p)
SELECT * FROM bloom_positions(bloom_create(10));
--> Error: bloom_positions: the call must be bloom_positions(filter, key)

-- Deltas
-- both arguments, one of which is NULL
SELECT bloom_delta(NULL, b), bloom_delta(b, NULL) FROM f;
--> Error: bloom_delta: argument 1 is not a bloom filter (NULL; did the subquery find no row? A handle passes only through a scalar subquery: (SELECT bloom_open(filter) FROM ...))
-- no new filter
SELECT bloom_delta(b, NULL) FROM f;
--> Error: bloom_delta: argument 2 is not a bloom filter (NULL; did the subquery find no row? A handle passes only through a scalar subquery: (SELECT bloom_open(filter) FROM ...))
-- no delta
SELECT bloom_apply(b, NULL) FROM f;
--> Error: bloom_apply: argument 2 is not a delta for this filter (NULL)
-- a string
SELECT bloom_apply(b, 'text') FROM f;
--> Error: bloom_apply: argument 2 is not a delta for this filter ('text')
-- one byte
SELECT bloom_apply(b, x'00') FROM f;
--> Error: bloom_apply: argument 2 is not a delta for this filter (a delta has at least 24 bytes, got 1)
-- zeroes
SELECT bloom_apply(b, zeroblob(100)) FROM f;
--> Error: bloom_apply: argument 2 is not a delta for this filter (bad magic)
-- a filter in place of a delta
SELECT bloom_apply(b, b) FROM f;
--> Error: bloom_apply: argument 2 is not a delta for this filter (bad magic)
-- no filter
SELECT bloom_apply(NULL, bloom_delta(b, b)) FROM f;
--> Error: bloom_apply: argument 1 is not a bloom filter (NULL; did the subquery find no row? A handle passes only through a scalar subquery: (SELECT bloom_open(filter) FROM ...))
-- a delta between other filters
SELECT bloom_apply(bloom_add(b, 'z'), bloom_delta(b, bloom_add(b, 'z'))) FROM f;
--> Error: bloom_apply: argument 2 is not a delta for this filter (it was made from another filter)
-- unknown version
SELECT bloom_apply(b, CAST(substr(bloom_delta(b, b), 1, 4) || x'02' || substr(bloom_delta(b, b), 6) AS BLOB)) FROM f;
--> Error: bloom_apply: argument 2 is not a delta for this filter (unknown version 2)
-- unknown kind of contents
SELECT bloom_apply(b, CAST(substr(bloom_delta(b, b), 1, 5) || x'7f' || substr(bloom_delta(b, b), 7) AS BLOB)) FROM f;
--> Error: bloom_apply: argument 2 is a damaged delta (a byte of its header is out of range) (11)
-- last byte missing
SELECT bloom_apply(b, substr(d, 1, length(d) - 1)) FROM (SELECT b, bloom_delta(b, bloom_add(b, 'z')) AS d FROM f);
--> Error: bloom_apply: argument 2 is a damaged delta (its positions do not fit the filter) (11)
-- a byte too many
SELECT bloom_apply(b, CAST(bloom_delta(b, b) || x'00' AS BLOB)) FROM f;
--> Error: bloom_apply: argument 2 is a damaged delta (its positions do not fit the filter) (11)
-- changed contents
SELECT bloom_apply(b, CAST(substr(d, 1, 40) || x'0101' || substr(d, 43) AS BLOB)) FROM (SELECT b, bloom_delta(b, bloom_create(10)) AS d FROM f);
--> Error: bloom_apply: argument 2 is a damaged delta (header checksum does not match) (11)
-- cut off in the contents
SELECT bloom_apply(b, substr(bloom_delta(b, bloom_create(10)), 1, 80)) FROM f;
--> Error: bloom_apply: argument 2 is not a delta for this filter (a header has 64 bytes, got 56)

-- nothing was lost
SELECT bloom_contains(b, 'a') FROM f;
--> 1
UPDATE f SET b = bloom_add(b, 'b', 'c', 'd') WHERE bloom_remove(b, 'a') IS NULL;
--> Error: bloom_remove: argument 1 must be a counting filter (other kinds cannot remove keys), got a standard filter
SELECT bloom_count(b) FROM f;
--> 1
