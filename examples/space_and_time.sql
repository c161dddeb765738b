-- What a filter saves, from parameters: a textbook's malicious-URL check. A browser wants to know
-- of each site that it visits whether it is on a list of bad ones; the list is far away.
--   sqlite3 -cmd '.load build/bloom' < examples/space_and_time.sql
.mode column
.headers on

CREATE TABLE parameters AS SELECT
  5000000 AS urls,         -- on the list
  40      AS url_bytes,
  30      AS k,            -- arrays of bits
  900000  AS m,            -- bits in each
  102000  AS visits,       -- in a year
  2000    AS bad_visits,   -- of them to sites on the list
  0.5     AS lookup,       -- seconds for a question to the list
  0.001   AS filter,       -- seconds for a question to the filter
  0.03    AS fpr;

-- Space: the list itself, or k arrays of m bits.
SELECT urls * url_bytes / 1e6 AS list_MB, k * m / 8 / 1e6 AS filter_MB FROM parameters;
--> list_MB  filter_MB
--> -------  ---------
--> 200.0    3.375

-- Time: every visit is looked up in the filter; bad sites and false positives are also looked up in the list.
SELECT visits * lookup AS list_only_s,
       visits * filter + (visits - bad_visits) * fpr * lookup + bad_visits * lookup AS with_filter_s
FROM parameters;
--> list_only_s  with_filter_s
--> -----------  -------------
--> 51000.0      2602.0

-- The book's figures do not belong to each other: so many URLs in that filter give a far higher
-- rate than its 3 %. What 3 % takes, by this extension's own arithmetic:
SELECT round(bloom_rate(k * m, urls, k, 'partitioned'), 3) AS rate_of_that_filter FROM parameters;
--> rate_of_that_filter
--> -------------------
--> 0.89
SELECT kind, hashes, round(bytes / 1e6, 3) AS MB, round(plan.fpr, 4) AS fpr
FROM parameters, bloom_plan(urls, parameters.fpr) AS plan;
--> kind         hashes  MB      fpr
--> -----------  ------  ------  ------
--> standard     5       4.571   0.0298
--> counting     5       18.285  0.0299
--> partitioned  4       5.079   0.0229
