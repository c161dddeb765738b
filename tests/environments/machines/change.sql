-- Asks and changes the database that another machine made by write.sql.
-- every key is there
SELECT name, bloom_contains_all(filter, '', 'Köln', x'00ff', 42, -7, 0.1, 1e-7, -1.5, 1e23, 9e999, -0.0) FROM filters WHERE name <> 'built';
--> standard|1
--> counting|1
--> partitioned|1
--> lines|1
--> whole|1
SELECT sum(bloom_contains((SELECT bloom_open(filter) FROM filters WHERE name = 'built'), n * 8)) FROM keys;
--> 5000
SELECT (SELECT count(*) FROM keys JOIN sized ON key = n), (SELECT count(*) FROM keys JOIN lines ON key = n),
       (SELECT count(*) FROM keys JOIN whole ON key = n), (SELECT count(*) FROM keys JOIN sliced ON key = n),
       (SELECT count(*) FROM keys JOIN counted ON key = n), (SELECT count(*) FROM keys JOIN growing ON key = n),
       (SELECT count(*) FROM keys JOIN following ON k = key);
--> 5000|5000|5000|5000|5000|5000|5000
SELECT count(*) FROM keys JOIN grouped ON key = n AND member = 'member ' || (keys.rowid % 300);
--> 5000
SELECT count(*), min(key = 'new') FROM grouped WHERE key = 'new' AND member IN ('member 5', 301, x'00ff', 0.5);
--> 4|1
-- and few others
SELECT (SELECT count(*) FROM keys JOIN sized ON key = n + 0.01), (SELECT count(*) FROM keys JOIN lines ON key = n + 0.01),
       (SELECT count(*) FROM keys JOIN whole ON key = n + 0.01), (SELECT count(*) FROM keys JOIN sliced ON key = n + 0.01),
       (SELECT count(*) FROM keys JOIN counted ON key = n + 0.01), (SELECT count(*) FROM keys JOIN growing ON key = n + 0.01),
       (SELECT count(*) FROM keys JOIN following ON key = k || 'x');
--> 0|0|1|0|0|14|2
-- changes
DELETE FROM counted WHERE key IN (SELECT n FROM keys WHERE n > 300);
UPDATE keys SET k = 'other ' || k WHERE n < 100;
INSERT INTO growing(key) SELECT k FROM keys;
INSERT INTO sized(filter) SELECT bloom_build(k, 20000) FROM keys;
INSERT INTO sized(sized) VALUES ('halve');
UPDATE filters SET filter = bloom_halve(filter) WHERE name IN ('standard', 'counting', 'lines');
INSERT INTO filters SELECT 'merged', bloom_union(filter, bloom_add(bloom_create(1000, 0.01, 'partitioned'), 'x')) FROM filters WHERE name = 'partitioned';
DELETE FROM grouped WHERE member IN ('member 7', 301);
INSERT INTO grouped(member, filter) SELECT 'copy', filter FROM grouped WHERE member = 'member 5';
INSERT INTO grouped(grouped) VALUES ('optimize');
INSERT INTO grouped(member, key) SELECT 'member ' || (rowid % 400), k FROM keys;
INSERT INTO grouped(grouped) VALUES ('integrity-check');
SELECT count(*) FROM keys JOIN grouped ON key = k || '' AND member = 'member ' || (keys.rowid % 400);
--> 5000
INSERT INTO following(following) VALUES ('rebuild');
SELECT count(*) FROM keys JOIN following ON key = k;
--> 5000
SELECT (SELECT count(*) FROM keys JOIN log_search ON user = n), (SELECT count(*) FROM log_search WHERE msg LIKE '%key 12%'),
       (SELECT count(*) FROM log_search WHERE msg MATCH 'grüße 7919'), (SELECT count(*) FROM log_search WHERE user = 'none');
--> 5000|111|1|0
UPDATE log SET user = id + 0.3, msg = 'changed ' || msg WHERE id % 50 = 0;
DELETE FROM log WHERE id % 50 = 1;
INSERT INTO log_search(log_search) VALUES ('summarize');
INSERT INTO log_search(log_search) VALUES ('integrity-check');
SELECT (SELECT count(*) FROM log_search WHERE msg MATCH 'changed'), (SELECT count(*) FROM log_search WHERE user = 100.3), (SELECT count(*) FROM keys JOIN log_search ON user = n);
--> 100|1|4800
SELECT name, hex(substr(filter, 1, 64)), bloom_check(filter), round(bloom_count(filter), 6) FROM filters;
--> standard|424C4D4602010107C012000000000000C0120000000000000000000000000000F4010000000000007B14AE47E17A843FABBAB5C7B73ECAFFBD8A341B98C76670|ok|10.0
--> counting|424C4D4602010207001F000000000000001F0000000000000000000000000000F4010000000000007B14AE47E17A843F76233CC4DE0D79C1FA423126F847CF39|ok|10.0
--> partitioned|424C4D4602010308002600000000000000260000000000000000000000000000E8030000000000007B14AE47E17A843F3C81B75A3E596645E4AF3261BE02AADC|ok|11.0
--> lines|424C4D4602010107006400000000000000020000000000004D000000000000000000000000000000000000000000000071AFB74D98AD856B48950D80F5A44C7E|ok|11.0
--> whole|424C4D4602010105E90300000000000000000000000000000000000000000000000000000000000000000000000000007C602B688922A2856836EB0175740D00|ok|10.0
--> built|424C4D46020101070064030000000000007C0000000000000000000000000000204E0000000000007B14AE47E17A843FD99B04791B6154063DAB9449CE396C60|ok|20017.0
--> merged|424C4D4602010308002600000000000000260000000000000000000000000000E8030000000000007B14AE47E17A843F2D0B2E97494B885E9EAB62D1878BB8C7|ok|12.0
SELECT round(json_extract(info, '$.keys'), 3), json_extract(info, '$.cells') FROM sized UNION ALL SELECT round(json_extract(info, '$.keys'), 3), json_extract(info, '$.cells') FROM counted;
--> 10004.0|111104
--> 2402.0|206336
PRAGMA integrity_check;
--> ok
