-- A large log is searched by parts of its lines, by words, by a client and by a field in JSON, without an index on any of them.
--   sqlite3 -cmd '.load build/bloom' < examples/log_search.sql
.mode list
CREATE TABLE log(id INTEGER PRIMARY KEY, time TEXT, client TEXT, line TEXT, payload TEXT);
WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 49999)
INSERT INTO log(time, client, line, payload)
SELECT datetime('2026-01-01', i || ' seconds'), printf('client %05d', (i * 7919) % 10007),
       printf('GET /item/%d %s request=%08x', i % 977, CASE WHEN i % 499 THEN 'done' ELSE 'connection refused' END, i * 2654435761 % 4294967296),
       json_object('trace', printf('t%06d', i * 7 % 100000)) FROM n;

-- A fifth of the bytes of the log.
CREATE VIRTUAL TABLE log_search USING bloom_search(source=log, like=(line), words=(line),
                                                   equal=(client, json_extract(payload, '$.trace') AS trace));

.print A part of an id, in a log of 50,000 lines:
SELECT id, line FROM log_search WHERE line LIKE '%1b68f1b6%';
.print A client and a word:
SELECT id, time FROM log_search WHERE client = 'client 00077' AND line MATCH 'done' ORDER BY id DESC LIMIT 2;
--> 40005|2026-01-01 11:06:44
--> 29998|2026-01-01 08:19:57
.print A field in JSON:
SELECT id FROM log_search WHERE trace = 't000777';
--> 112
.print Programs without the extension append and change rows. Searches find them at once.
INSERT INTO log(time, client, line) VALUES ('2026-01-04 00:00:00', 'client new', 'the newest line');
UPDATE log SET client = 'client moved' WHERE id = 10;
SELECT id FROM log_search WHERE client = 'client new' OR client = 'client moved' ORDER BY id;
--> 10
--> 50001
SELECT pending_rows FROM log_search LIMIT 1;
--> 64

.print Summarize now and then, for example each night: new and changed rows are added to the filters.
INSERT INTO log_search(log_search) VALUES ('summarize');
SELECT pending_rows FROM log_search LIMIT 1;
--> 0
INSERT INTO log_search(log_search) VALUES ('integrity-check');
