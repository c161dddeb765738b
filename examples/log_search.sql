-- A large log is searched by a column that has no index: a skip index names the ranges of rows that may contain a value.
--   sqlite3 -cmd '.load build/bloom' < examples/log_search.sql
.mode list
CREATE TABLE log(id INTEGER PRIMARY KEY, time TEXT, client TEXT, status INTEGER);
WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 199999)
INSERT INTO log(time, client, status)
SELECT datetime('2026-01-01', i || ' seconds'), printf('client %05d', (i * 7919) % 100003), 200 + 300 * (i % 50 = 0) FROM n;

-- 2,048 rows per range. An index on the same column would take 8 times the bytes.
CREATE VIRTUAL TABLE log_client USING bloom_groups(source=log, column=client, rows=2048, fpr=0.001);
CREATE VIEW log_by_client AS
SELECT r.key AS client, log.id, log.time, log.status
  FROM log_client AS r JOIN log ON log.id BETWEEN r.first AND r.last AND log.client = r.key;

.print When did a client come?
SELECT id, time, status FROM log_by_client WHERE client = 'client 00077';
--> 43379|2026-01-01 12:02:58|200
--> 143382|2026-01-02 15:49:41|200
.print Which rows were read? The ranges that may contain the client, and the rows after the last range.
SELECT first, last FROM log_client WHERE key = 'client 00077';
--> 43009|45056
--> 143361|145408
--> 198657|9223372036854775807
EXPLAIN QUERY PLAN SELECT id, time, status FROM log_by_client WHERE client = 'client 00077';
--> QUERY PLAN
--> SCAN r VIRTUAL TABLE INDEX 1:key=?
--> SEARCH log USING INTEGER PRIMARY KEY (rowid>? AND rowid<?)

.print Programs without the extension append and change rows. Triggers in plain SQL note changed ranges.
INSERT INTO log(time, client, status) VALUES ('2026-01-04 00:00:00', 'client new', 200);
UPDATE log SET client = 'client moved' WHERE id = 10;
SELECT client, id FROM log_by_client WHERE client = 'client new';
--> client new|200001
SELECT client, id FROM log_by_client WHERE client = 'client moved';
--> client moved|10
SELECT count(*) AS changed_ranges FROM log_client_changed;
--> 1

.print Summarize now and then, for example each night: the changed ranges are read again, and appended rows become ranges.
INSERT INTO log_client(log_client) VALUES ('summarize');
SELECT count(*) AS changed_ranges FROM log_client_changed;
--> 0
SELECT client, id FROM log_by_client WHERE client = 'client moved';
--> client moved|10
SELECT count(*) AS ranges, sum(overfull) AS overfull FROM log_client;
--> 97|0
INSERT INTO log_client(log_client) VALUES ('integrity-check');
