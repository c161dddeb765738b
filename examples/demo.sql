-- The schema and the report of demo.sh. demo.sh runs this file in a directory that holds the
-- lists code.txt, licence.txt and repeated.txt, with one phrase per line.

-- The table that is looked up: the phrases of the header files. The list is sorted, so SQLite packs
-- the b-tree as densely as possible. This is the fairest index to compare a filter with.
CREATE TABLE code(phrase TEXT PRIMARY KEY) WITHOUT ROWID;
-- In this mode a line is one value, whatever it contains.
.mode ascii
.separator "\037" "\n"
.import code.txt code

CREATE TABLE size AS
  SELECT page_count * page_size AS index_bytes FROM pragma_page_count, pragma_page_size;

-- The keys to look up: the phrases of the licence files, in the order of the files.
CREATE TABLE licence(phrase TEXT);
.import licence.txt licence

-- The keys that the losing case looks up: phrases of the header files, in the order of the files.
CREATE TABLE repeated(phrase TEXT);
.import repeated.txt repeated

-- The filter. One query builds the filter; a table stores it like any other value.
CREATE TABLE filters(name TEXT PRIMARY KEY, filter BLOB);
INSERT INTO filters SELECT 'code', bloom_build(phrase) FROM code;

-- The lookups of the current job.
CREATE TABLE lookups(phrase TEXT);

-- The same query without the filter and with it. A phrase that the filter calls absent is certainly
-- absent, so SQLite looks up only the remaining phrases in the index.
CREATE VIEW found_without AS
  SELECT phrase FROM lookups
  WHERE EXISTS (SELECT 1 FROM code WHERE code.phrase = lookups.phrase);
CREATE VIEW found_with AS
  SELECT phrase FROM lookups
  WHERE bloom_contains((SELECT bloom_open(filter) FROM filters WHERE name = 'code'), phrase)
    AND EXISTS (SELECT 1 FROM code WHERE code.phrase = lookups.phrase);

-- Checks. Both views must be empty.
CREATE VIEW lost AS
  SELECT phrase FROM code
  WHERE bloom_contains((SELECT bloom_open(filter) FROM filters WHERE name = 'code'), phrase)
        IS NOT 1;
CREATE VIEW differs AS
  WITH without_filter AS (SELECT phrase, count(*) AS n FROM found_without GROUP BY phrase),
       with_filter AS (SELECT phrase, count(*) AS n FROM found_with GROUP BY phrase)
  SELECT phrase FROM (SELECT * FROM without_filter EXCEPT SELECT * FROM with_filter)
  UNION ALL
  SELECT phrase FROM (SELECT * FROM with_filter EXCEPT SELECT * FROM without_filter);

-- Counts, one row per job. `maybe`: lookups that the filter does not stop.
CREATE TABLE counted(job TEXT, lookups INT, hits INT, maybe INT);
CREATE VIEW count_lookups AS
  SELECT count(*) AS lookups, (SELECT count(*) FROM found_without) AS hits,
         sum(bloom_contains((SELECT bloom_open(filter) FROM filters WHERE name = 'code'), phrase))
           AS maybe
  FROM lookups;

-- Times, one row per round and way.
CREATE TABLE measured(job TEXT, cache TEXT, round INT, way TEXT, ms REAL);
-- The two ways of one round run one after the other, so a busy machine slows both. The view shows
-- the round with the median ratio.
CREATE VIEW gains AS
  WITH pairs AS (
    SELECT job, cache, slow.ms AS without_ms, quick.ms AS with_ms,
           slow.ms / max(quick.ms, 0.001) AS ratio, slow.rowid AS since
    FROM (SELECT rowid, * FROM measured WHERE way = 'without') AS slow
    JOIN (SELECT * FROM measured WHERE way = 'with') AS quick USING (job, cache, round)),
  ranked AS (
    SELECT *, row_number() OVER (same ORDER BY ratio) AS place,
           (count(*) OVER same + 1) / 2 AS middle, min(since) OVER same AS first
    FROM pairs WINDOW same AS (PARTITION BY job, cache))
  SELECT job, cache, first, without_ms, with_ms, ratio FROM ranked WHERE place = middle;
CREATE VIEW gains_in_words AS
  SELECT *, CASE WHEN ratio >= 1.05 THEN printf('%.1f times faster', ratio)
                 WHEN ratio > 0.95 THEN 'as fast'
                 ELSE printf('%.0f %% slower', 100 / ratio - 100) END AS words
  FROM gains;

-- The report, line by line.
CREATE VIEW report_found AS
  SELECT printf('  %,d of %,d phrases from licence files are also in a header file.', hits, lookups)
           AS line
  FROM counted WHERE job = 'licence phrases'
  UNION ALL
  SELECT printf('  %.1f %% of the lookups find nothing. The filter stops %.1f %% of all lookups.',
                100.0 * (lookups - hits) / lookups, 100.0 * (lookups - maybe) / lookups)
  FROM counted WHERE job = 'licence phrases';
CREATE VIEW report_gain AS
  SELECT printf('  %-37s %s with the filter (%.0f ms instead of %.0f ms)',
                CASE cache WHEN 'large' THEN 'Index in memory:'
                           WHEN 'small' THEN 'Small page cache, database in a file:'
                           ELSE '  with equal memory for both:' END,
                words, with_ms, without_ms) AS line
  FROM gains_in_words WHERE job = 'licence phrases' ORDER BY first;
-- Phrases from the whole result, because neighbouring phrases overlap.
CREATE VIEW report_examples AS
  SELECT '    ' || phrase AS line
  FROM (SELECT phrase, row_number() OVER () AS n, count(*) OVER () AS hits FROM found_with)
  WHERE n % max(1, hits / 3) = 0 LIMIT 3;
CREATE VIEW report_size AS
  SELECT printf('  Index of the header phrases:  %,8d KiB for %,d phrases', index_bytes / 1024,
                (SELECT count(*) FROM code)) AS line
  FROM size
  UNION ALL
  SELECT printf('  Filter:                       %,8d KiB, 1/%d of the index, %.1f bits per phrase',
                length(filter) / 1024, index_bytes / length(filter),
                length(filter) * 8.0 / (SELECT count(*) FROM code))
  FROM size, filters
  UNION ALL
  SELECT printf('  False-positive rate:          %.2f %% expected, %.2f %% measured',
                100 * bloom_fpr(filter), 100.0 * (maybe - hits) / max(1, lookups - hits))
  FROM filters, counted WHERE job = 'licence phrases';
CREATE VIEW report_jobs AS
  SELECT printf('  %-17s %7.1f %%  %-12s %7.0f ms %7.0f ms   %s', job,
                100.0 * (lookups - hits) / lookups, cache, without_ms, with_ms, words) AS line
  FROM gains_in_words JOIN counted USING (job) ORDER BY first;
