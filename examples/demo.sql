-- The tables, the filters and the report of demo.sh.

-- People who have unsubscribed, and the recipients of a mail: 1 % of them have.
CREATE TABLE unsubscribed(address TEXT PRIMARY KEY COLLATE NOCASE) WITHOUT ROWID;
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 200000)
  INSERT INTO unsubscribed SELECT printf('%08x.%d@example.com', i * 2654435761 % 4294967296, i) FROM n ORDER BY 1;
CREATE TABLE recipients(address TEXT);
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 200000)
  INSERT INTO recipients SELECT printf(iif(i % 100 = 0, '%08X.%d@Example.com', '%08x.%d@example.org'), i * 2654435761 % 4294967296, i) FROM n;
-- The same number of recipients who have all unsubscribed, in another order.
CREATE TABLE everyone AS SELECT address FROM unsubscribed ORDER BY substr(address, 5, 4);

CREATE VIRTUAL TABLE unsubscribed_seen USING bloom(source=unsubscribed, column=address);
CREATE VIEW checked AS SELECT f.key, u.* FROM unsubscribed_seen AS f JOIN unsubscribed AS u ON u.address = +f.key;

-- A log, and a part of the number of one request.
CREATE TABLE log(id INTEGER PRIMARY KEY, line TEXT);
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 200000)
  INSERT INTO log(line) SELECT printf('GET /item/%d: done after %d ms, request %08x%08x',
                               i * 31 % 5000, i % 300, i * 2654435761 % 4294967296, i * 2246822519 % 4294967296) FROM n;
CREATE TABLE wanted AS SELECT substr(line, -13, 12) AS part FROM log WHERE id = 100000;
CREATE VIRTUAL TABLE log_search USING bloom_search(source=log, like=(line));

-- Each job with plain SQLite and with a filter; `runs` is how often the filtered one runs per round.
CREATE TABLE jobs(job TEXT, title TEXT, runs INTEGER);
INSERT INTO jobs VALUES
  ('a', '200,000 recipients, 1 % have unsubscribed: whom do we mail', 1),
  ('b', 'The log line with a part of a request number, LIKE in 200,000 lines', 20),
  ('c', 'Unfavourable: all 200,000 recipients have unsubscribed', 1);
CREATE VIEW a_plain AS SELECT count(*) AS found FROM recipients AS r WHERE NOT EXISTS (SELECT 1 FROM unsubscribed AS u WHERE u.address = r.address);
CREATE VIEW a_filtered AS SELECT count(*) AS found FROM recipients AS r WHERE NOT EXISTS (SELECT 1 FROM checked WHERE key = r.address);
CREATE VIEW b_plain AS SELECT group_concat(id) AS found FROM log WHERE line LIKE '%' || (SELECT part FROM wanted) || '%';
CREATE VIEW b_filtered AS SELECT group_concat(id) AS found FROM log_search WHERE line LIKE '%' || (SELECT part FROM wanted) || '%';
CREATE VIEW c_plain AS SELECT count(*) AS found FROM everyone AS r WHERE NOT EXISTS (SELECT 1 FROM unsubscribed AS u WHERE u.address = r.address);
CREATE VIEW c_filtered AS SELECT count(*) AS found FROM everyone AS r WHERE NOT EXISTS (SELECT 1 FROM checked WHERE key = r.address);

-- What the rounds found, and the ms that they took.
CREATE TABLE counted(job TEXT, way TEXT, found);
CREATE TABLE measured(job TEXT, way TEXT, ms REAL);
CREATE VIEW differs AS SELECT job FROM counted GROUP BY job HAVING count(DISTINCT ifnull(found, '')) > 1 OR max(found IS NULL);

-- The report, line by line.
CREATE VIEW medians AS
  SELECT job, way, max(0.01, ms) AS ms
  FROM (SELECT *, row_number() OVER (PARTITION BY job, way ORDER BY ms) AS place, count(*) OVER (PARTITION BY job, way) AS places FROM measured)
  WHERE place = (places + 1) / 2;
CREATE VIEW results AS
  SELECT job, title, p.ms AS plain, f.ms AS filtered,
         CASE WHEN p.ms >= f.ms THEN printf(iif(p.ms / f.ms < 20, '%.1f times faster', '%.0f times faster'), p.ms / f.ms)
              ELSE printf('%.0f %% slower', 100 * f.ms / p.ms - 100) END AS words
  FROM jobs JOIN medians AS p USING (job) JOIN medians AS f USING (job) WHERE p.way = 'plain' AND f.way = 'filtered';
CREATE VIEW bars AS
  SELECT job, way, ms, replace(hex(zeroblob(max(1, CAST(40 * ms / max(plain, filtered) + 0.5 AS INTEGER)))), '00', '#') AS bar
  FROM results JOIN medians USING (job);
CREATE VIEW report AS
  SELECT char(10) || 'RESULT: with a filter, the check of the mailing list is ' || (SELECT words FROM results WHERE job = 'a') ||
         ', and the search in the log ' || (SELECT words FROM results WHERE job = 'b') || '.' AS line
  UNION ALL
  SELECT line FROM (
    SELECT job, 0 AS n, char(10) || title || ': ' || words AS line FROM results
    UNION ALL
    SELECT job, iif(way = 'plain', 1, 2),
           printf('  %-14s %-40s %s', iif(way = 'plain', 'plain SQLite', 'with a filter'), bar, printf(iif(ms < 10, '%.2f ms', '%.0f ms'), ms)) FROM bars
    ORDER BY 1, 2)
  UNION ALL
  SELECT char(10) || printf('The filter takes %,d KiB, its %,d addresses take %,d KiB.', bytes / 1024,
                            (SELECT count(*) FROM unsubscribed), (SELECT sum(length(address)) / 1024 FROM unsubscribed)) FROM unsubscribed_seen;
