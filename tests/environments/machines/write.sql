-- A database with filters of every kind. What this prints, and the file, must be the same on every machine.
PRAGMA page_size = 4096;
-- sizes
WITH keys(n) AS (VALUES (1), (100), (1050), (99999), (1234567), (5000000000)), rates(p) AS (VALUES (0.5), (0.1), (0.01), (0.001), (1e-9))
  SELECT keys.n, rates.p, kind, cells, hashes, block FROM keys, rates, bloom_plan(keys.n, rates.p);
--> 1|0.5|standard|16|1|16
--> 1|0.5|counting|16|1|16
--> 1|0.5|partitioned|16|1|16
--> 1|0.1|standard|16|3|16
--> 1|0.1|counting|16|3|16
--> 1|0.1|partitioned|32|2|32
--> 1|0.01|standard|16|7|16
--> 1|0.01|counting|16|7|16
--> 1|0.01|partitioned|64|4|64
--> 1|0.001|standard|32|10|32
--> 1|0.001|counting|32|10|32
--> 1|0.001|partitioned|128|8|128
--> 1|1.0e-09|standard|48|30|48
--> 1|1.0e-09|counting|48|30|48
--> 1|1.0e-09|partitioned|256|16|256
--> 100|0.5|standard|160|1|160
--> 100|0.5|counting|160|1|160
--> 100|0.5|partitioned|160|1|160
--> 100|0.1|standard|496|3|496
--> 100|0.1|counting|496|3|496
--> 100|0.1|partitioned|512|4|512
--> 100|0.01|standard|976|7|976
--> 100|0.01|counting|976|7|976
--> 100|0.01|partitioned|1024|8|1024
--> 100|0.001|standard|1456|10|1456
--> 100|0.001|counting|1456|10|1456
--> 100|0.001|partitioned|1536|8|1536
--> 100|1.0e-09|standard|4352|30|4352
--> 100|1.0e-09|counting|4352|30|4352
--> 100|1.0e-09|partitioned|4608|32|4608
--> 1050|0.5|standard|1520|1|1520
--> 1050|0.5|counting|1520|1|1520
--> 1050|0.5|partitioned|1520|1|1520
--> 1050|0.1|standard|5056|3|5056
--> 1050|0.1|counting|5056|3|5056
--> 1050|0.1|partitioned|5120|4|5120
--> 1050|0.01|standard|10112|7|10112
--> 1050|0.01|counting|15872|7|7936
--> 1050|0.01|partitioned|10240|8|10240
--> 1050|0.001|standard|15104|10|15104
--> 1050|0.001|counting|15872|10|7936
--> 1050|0.001|partitioned|15360|8|15360
--> 1050|1.0e-09|standard|63488|30|31744
--> 1050|1.0e-09|counting|47616|30|7936
--> 1050|1.0e-09|partitioned|63488|16|31744
--> 99999|0.5|standard|158720|1|31744
--> 99999|0.5|counting|158720|1|7936
--> 99999|0.5|partitioned|158720|1|31744
--> 99999|0.1|standard|507904|3|31744
--> 99999|0.1|counting|507904|3|7936
--> 99999|0.1|partitioned|507904|4|31744
--> 99999|0.01|standard|1015808|7|31744
--> 99999|0.01|counting|1015808|7|7936
--> 99999|0.01|partitioned|1015808|8|31744
--> 99999|0.001|standard|1523712|10|31744
--> 99999|0.001|counting|1523712|10|7936
--> 99999|0.001|partitioned|1523712|8|31744
--> 99999|1.0e-09|standard|4571136|30|31744
--> 99999|1.0e-09|counting|4571136|30|7936
--> 99999|1.0e-09|partitioned|4571136|32|31744
--> 1234567|0.5|standard|1904640|1|31744
--> 1234567|0.5|counting|1904640|1|7936
--> 1234567|0.5|partitioned|1904640|1|31744
--> 1234567|0.1|standard|6094848|3|31744
--> 1234567|0.1|counting|6094848|3|7936
--> 1234567|0.1|partitioned|6094848|4|31744
--> 1234567|0.01|standard|12189696|7|31744
--> 1234567|0.01|counting|12189696|7|7936
--> 1234567|0.01|partitioned|12189696|8|31744
--> 1234567|0.001|standard|18284544|10|31744
--> 1234567|0.001|counting|18284544|10|7936
--> 1234567|0.001|partitioned|18284544|8|31744
--> 1234567|1.0e-09|standard|56885248|30|31744
--> 1234567|1.0e-09|counting|56885248|30|7936
--> 1234567|1.0e-09|partitioned|56885248|32|31744
--> 5000000000|0.5|standard|7281311744|1|31744
--> 5000000000|0.5|counting|7281311744|1|7936
--> 5000000000|0.5|partitioned|7281311744|1|31744
--> 5000000000|0.1|standard|24964497408|3|31744
--> 5000000000|0.1|counting|24964497408|3|7936
--> 5000000000|0.1|partitioned|24964497408|4|31744
--> 5000000000|0.01|standard|49928994816|7|31744
--> 5000000000|0.01|counting|49928994816|7|7936
--> 5000000000|0.01|partitioned|49928994816|8|31744
--> 5000000000|0.001|standard|74893492224|10|31744
--> 5000000000|0.001|counting|74893492224|10|7936
--> 5000000000|0.001|partitioned|74893492224|8|31744
--> 5000000000|1.0e-09|standard|233001975808|30|31744
--> 5000000000|1.0e-09|counting|233001975808|30|7936
--> 5000000000|1.0e-09|partitioned|233001975808|32|31744
SELECT bloom_bits(1000000, 0.01), bloom_hashes(9585059, 1000000), bloom_capacity(9585059, 7, 0.01);
--> 9585059|7|999176

-- blobs
CREATE TABLE filters(name, filter);
INSERT INTO filters SELECT column1, bloom_add(column2, '', 'Köln', x'00ff', 42, -7, 0.1, 1e-7, -1.5, 1e23, 9e999, -0.0) FROM (VALUES
  ('standard', bloom_create(1000)), ('counting', bloom_create(1000, 0.01, 'counting')), ('partitioned', bloom_create(1000, 0.01, 'partitioned')),
  ('lines', bloom_create_sized(51200, 7, 'standard', 512, 77)), ('whole', bloom_create_sized(1001, 5)));
INSERT INTO filters SELECT 'built', bloom_build(value) FROM (WITH RECURSIVE n(value) AS (SELECT 1 UNION ALL SELECT value + 1 FROM n WHERE value < 20000) SELECT value FROM n);
SELECT name, length(filter), bloom_check(filter), round(bloom_count(filter), 6), round(bloom_fpr(filter), 12) FROM filters;
--> standard|1264|ok|10.0|0.0
--> counting|8000|ok|10.0|0.0
--> partitioned|1280|ok|11.0|0.0
--> lines|6464|ok|11.0|0.0
--> whole|190|ok|10.0|1.424029e-05
--> built|27840|ok|20017.0|0.004902432549

-- tables
CREATE TABLE keys(k TEXT COLLATE NOCASE, n);
INSERT INTO keys WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5000) SELECT 'Key ' || i, i / 8.0 FROM n;
CREATE VIRTUAL TABLE sized USING bloom(capacity=20000);
CREATE VIRTUAL TABLE lines USING bloom(capacity=20000, block=512);
CREATE VIRTUAL TABLE whole USING bloom(cells=100003, hashes=5);
CREATE VIRTUAL TABLE sliced USING bloom(capacity=20000, kind=partitioned);
CREATE VIRTUAL TABLE counted USING bloom(capacity=20000, kind=counting);
CREATE VIRTUAL TABLE growing USING bloom;
CREATE VIRTUAL TABLE grouped USING bloom_groups(capacity=30, fpr=0.4);
-- Without a change log, whose rows contain random bytes.
CREATE VIRTUAL TABLE following USING bloom(source=keys, column=k, writers=extension);
INSERT INTO sized(key) SELECT n FROM keys;
INSERT INTO lines(key) SELECT n FROM keys;
INSERT INTO whole(key) SELECT n FROM keys;
INSERT INTO sliced(key) SELECT n FROM keys;
INSERT INTO counted(key) SELECT n FROM keys;
INSERT INTO growing(key) SELECT n FROM keys;
INSERT INTO grouped(member, key) SELECT 'member ' || (rowid % 300), n FROM keys;
INSERT INTO grouped(grouped) VALUES ('optimize');
INSERT INTO grouped(member, key) VALUES ('member 5', 'new'), (301, 'new'), (x'00ff', 'new'), (0.5, 'new');
-- a search, with filters for 4000 of its rows
CREATE TABLE log(id INTEGER PRIMARY KEY, user, msg TEXT);
INSERT INTO log SELECT rowid, n, k || ' Grüße ' || (rowid * 7919 % 10007) FROM keys WHERE rowid <= 4000;
CREATE VIRTUAL TABLE log_search USING bloom_search(source=log, like=(msg), words=(msg), equal=(user));
INSERT INTO log SELECT rowid, n, k || ' Grüße ' || (rowid * 7919 % 10007) FROM keys WHERE rowid > 4000;
-- the shortest text of every power of two down to the smallest number
WITH RECURSIVE powers(x) AS (VALUES (0.5) UNION ALL SELECT x / 2 FROM powers WHERE x > 5e-324) SELECT count(*), substr(hex(bloom_build(x, 2000)), 1, 128) FROM powers;
--> 1074|424C4D4602010107004B000000000000004B0000000000000000000000000000D0070000000000007B14AE47E17A843FBEAEF77E271F69DCE7C93F7EA0B52887
