-- Asks and changes the database that another machine made by write.sql.
.print -- every key is there
SELECT name, bloom_contains_all(filter, '', 'Köln', x'00ff', 42, -7, 0.1, 1e-7, -1.5, 1e23, 9e999, -0.0) FROM filters WHERE name <> 'built';
SELECT sum(bloom_contains((SELECT bloom_open(filter) FROM filters WHERE name = 'built'), n * 8)) FROM keys;
SELECT (SELECT count(*) FROM keys JOIN sized ON key = n), (SELECT count(*) FROM keys JOIN lines ON key = n),
       (SELECT count(*) FROM keys JOIN whole ON key = n), (SELECT count(*) FROM keys JOIN sliced ON key = n),
       (SELECT count(*) FROM keys JOIN counted ON key = n), (SELECT count(*) FROM keys JOIN growing ON key = n),
       (SELECT count(*) FROM keys JOIN following ON k = key);
.print -- and few others
SELECT (SELECT count(*) FROM keys JOIN sized ON key = n + 0.01), (SELECT count(*) FROM keys JOIN lines ON key = n + 0.01),
       (SELECT count(*) FROM keys JOIN whole ON key = n + 0.01), (SELECT count(*) FROM keys JOIN sliced ON key = n + 0.01),
       (SELECT count(*) FROM keys JOIN counted ON key = n + 0.01), (SELECT count(*) FROM keys JOIN growing ON key = n + 0.01),
       (SELECT count(*) FROM keys JOIN following ON key = k || 'x');
.print -- changes
DELETE FROM counted WHERE key IN (SELECT n FROM keys WHERE n > 300);
UPDATE keys SET k = 'other ' || k WHERE n < 100;
INSERT INTO growing(key) SELECT k FROM keys;
INSERT INTO sized(filter) SELECT bloom_build(k, 20000) FROM keys;
INSERT INTO sized(sized) VALUES ('halve');
UPDATE filters SET filter = bloom_halve(filter) WHERE name IN ('standard', 'counting', 'lines');
INSERT INTO filters SELECT 'united', bloom_union(filter, bloom_add(bloom_create(1000, 0.01, 'partitioned'), 'x')) FROM filters WHERE name = 'partitioned';
INSERT INTO following(following) VALUES ('rebuild');
SELECT count(*) FROM keys JOIN following ON key = k;
SELECT name, hex(substr(filter, 1, 64)), bloom_check(filter), round(bloom_count(filter), 6) FROM filters;
SELECT round(json_extract(info, '$.keys'), 3), json_extract(info, '$.cells') FROM sized UNION ALL SELECT round(json_extract(info, '$.keys'), 3), json_extract(info, '$.cells') FROM counted;
PRAGMA integrity_check;
