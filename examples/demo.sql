-- The SQL of demo.sh, which runs it in a directory that holds bloom.so and the two lists of paths.

-- What is known exactly: the paths that packages own. The list comes sorted, so the b-tree is
-- packed as densely as it can be: the fairest index to compare a filter with.
CREATE TABLE owned(path TEXT PRIMARY KEY) WITHOUT ROWID;
-- In this mode a line is a path, whatever quotes or commas it holds.
.mode ascii
.separator "\037" "\n"
.import owned.txt owned

CREATE TABLE size AS
  SELECT page_count * page_size AS index_bytes FROM pragma_page_count, pragma_page_size;

CREATE TABLE found(path TEXT);
.import found.txt found

-- The filter: one query builds it, and it is kept like any other value.
CREATE TABLE filters(name TEXT PRIMARY KEY, filter BLOB);
INSERT INTO filters SELECT 'owned', bloom_build(path) FROM owned;

-- The questions of the job at hand, in the order in which they are asked.
CREATE TABLE asked(path TEXT);

-- "Which of them are not owned?", without the filter and with it. What the filter calls absent is
-- certainly not owned; only for the rest is the index asked.
CREATE VIEW not_owned_without AS
  SELECT path FROM asked
  WHERE NOT EXISTS (SELECT 1 FROM owned WHERE owned.path = asked.path);
CREATE VIEW not_owned_with AS
  SELECT path FROM asked
  WHERE NOT bloom_contains((SELECT bloom_open(filter) FROM filters WHERE name = 'owned'), path)
     OR NOT EXISTS (SELECT 1 FROM owned WHERE owned.path = asked.path);

-- "Which of them are owned?", likewise.
CREATE VIEW owned_without AS
  SELECT path FROM asked
  WHERE EXISTS (SELECT 1 FROM owned WHERE owned.path = asked.path);
CREATE VIEW owned_with AS
  SELECT path FROM asked
  WHERE bloom_contains((SELECT bloom_open(filter) FROM filters WHERE name = 'owned'), path)
    AND EXISTS (SELECT 1 FROM owned WHERE owned.path = asked.path);

-- Checks: each must find nothing.
CREATE VIEW lost AS
  SELECT path FROM owned
  WHERE bloom_contains((SELECT bloom_open(filter) FROM filters WHERE name = 'owned'), path)
        IS NOT 1;
CREATE VIEW not_owned_differs AS
  SELECT * FROM (SELECT path FROM not_owned_without EXCEPT SELECT path FROM not_owned_with)
  UNION ALL
  SELECT * FROM (SELECT path FROM not_owned_with EXCEPT SELECT path FROM not_owned_without);
CREATE VIEW owned_differs AS
  SELECT * FROM (SELECT path FROM owned_without EXCEPT SELECT path FROM owned_with)
  UNION ALL
  SELECT * FROM (SELECT path FROM owned_with EXCEPT SELECT path FROM owned_without);

-- What was counted, a row for a job. `maybe`: questions that the filter could not answer.
CREATE TABLE counted(job TEXT, asked INT, absent INT, maybe INT);
CREATE VIEW count_asked AS
  SELECT count(*) AS asked,
         count(*) - (SELECT count(*) FROM owned_without) AS absent,
         sum(bloom_contains((SELECT bloom_open(filter) FROM filters WHERE name = 'owned'), path))
           AS maybe
  FROM asked;

-- What was measured, and the medians of it.
CREATE TABLE measured(job TEXT, ordering TEXT, cache TEXT, way TEXT, ms REAL);
CREATE VIEW median AS
  SELECT job, ordering, cache, way, ms, since
  FROM (SELECT *, row_number() OVER (same ORDER BY ms) AS place, count(*) OVER same AS rounds,
               min(rowid) OVER same AS since
        FROM measured WINDOW same AS (PARTITION BY job, ordering, cache, way))
  WHERE place = (rounds + 1) / 2;

-- The report, line by line.
CREATE VIEW report_size AS
  SELECT printf('  exact index %,9d KiB', index_bytes / 1024) AS line
  FROM size
  UNION ALL
  SELECT printf('  filter      %,9d KiB, 1/%d of it: %.1f bits per path, ' ||
                '%.2f %% false positives expected',
                length(filter) / 1024, index_bytes / length(filter),
                length(filter) * 8.0 / (SELECT count(*) FROM owned), 100 * bloom_fpr(filter))
  FROM size, filters;
CREATE VIEW report_counted AS
  SELECT printf('  %-13s %5.1f %%  %,9d %,9d  %4.0f %%  %,9d  %9s', job, 100.0 * absent / asked,
                asked, maybe, 100.0 * (asked - maybe) / asked, maybe - (asked - absent),
                printf('%,d', round(absent * bloom_fpr(filter)))) AS line
  FROM counted, filters;
CREATE VIEW report_measured AS
  SELECT printf('  %-13s %-10s %-10s %10.1f %9.1f %14.2f', job, ordering, cache, slow.ms, quick.ms,
                slow.ms / quick.ms) AS line
  FROM (SELECT * FROM median WHERE way = 'without') AS slow
  JOIN (SELECT * FROM median WHERE way = 'with') AS quick USING (job, ordering, cache)
  ORDER BY slow.since;
