-- bloom_open: a filter opened once for a statement.
CREATE TABLE t AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 3000) SELECT i AS k FROM n;
CREATE TABLE s(name TEXT PRIMARY KEY, filter BLOB);
INSERT INTO s SELECT 'odd', bloom_build(k, NULL, 1e-9) FROM t WHERE k % 2;
-- the handle gives the same results as the blob
SELECT sum(bloom_contains((SELECT bloom_open(filter) FROM s WHERE name = 'odd'), k)), sum(bloom_contains((SELECT filter FROM s WHERE name = 'odd'), k)), sum(k % 2) FROM t;
--> 1500|1500|1500
SELECT count(*) FROM t WHERE bloom_contains((SELECT bloom_open(filter) FROM s), k) AND k % 2 = 0;
--> 0
-- a handle is a filter for every function
SELECT bloom_count((SELECT bloom_open(filter) FROM s)) BETWEEN 1490 AND 1510, bloom_check((SELECT bloom_open(filter) FROM s)),
       bloom_union((SELECT bloom_open(filter) FROM s), filter) = filter, bloom_halve((SELECT bloom_open(filter) FROM s)) = bloom_halve(filter) FROM s;
--> 1|ok|1|1
-- it is opened once for a statement, not once for a row
EXPLAIN QUERY PLAN SELECT count(*) FROM t WHERE bloom_contains((SELECT bloom_open(filter) FROM s WHERE name = 'odd'), k);
--> QUERY PLAN
--> SCAN t
--> SCALAR SUBQUERY 1
--> SEARCH s USING INDEX sqlite_autoindex_s_1 (name=?)
-- a handle that SQLite has turned into NULL is an error, never an answer
SELECT bloom_contains((SELECT bloom_open(filter) FROM s WHERE name = 'nothing'), 1);
--> Error: bloom_contains: argument 1 is not a bloom filter (NULL; did the subquery find no row? A handle passes only through a scalar subquery: (SELECT bloom_open(filter) FROM ...))
WITH h AS (SELECT bloom_open(filter) AS p FROM s LIMIT 1) SELECT count(*) FROM t CROSS JOIN h WHERE bloom_contains(h.p, k);
--> Error: bloom_contains: argument 1 is not a bloom filter (NULL; did the subquery find no row? A handle passes only through a scalar subquery: (SELECT bloom_open(filter) FROM ...))
SELECT typeof(bloom_open(filter)), bloom_open(filter) IS NULL FROM s;
--> null|1
CREATE TABLE lost AS SELECT bloom_open(filter) AS p FROM s;
SELECT bloom_contains(p, 1) FROM lost;
--> Error: bloom_contains: argument 1 is not a bloom filter (NULL; did the subquery find no row? A handle passes only through a scalar subquery: (SELECT bloom_open(filter) FROM ...))
-- the row may be changed or deleted while a statement has its filter open
UPDATE s SET filter = bloom_add(filter, 2) WHERE bloom_contains((SELECT bloom_open(filter) FROM s), 1);
SELECT bloom_contains(filter, 2) FROM s;
--> 1
DELETE FROM s WHERE bloom_contains((SELECT bloom_open(filter) FROM s), 1);
SELECT count(*) FROM s;
--> 0
-- SQLite passes a pointer on whose owner is freed: the handle is closed, never another filter
CREATE TABLE p(id INTEGER PRIMARY KEY, a, b);
INSERT INTO p VALUES (1, bloom_add(bloom_create(100), 'key'), bloom_create(100));
SELECT bloom_contains(nullif(bloom_open(a), id), coalesce(nullif(bloom_open(b), id), nullif(bloom_open(b), id), 'key')) FROM p;
--> Error: bloom_contains: argument 1 is not a bloom filter (a closed handle)
SELECT bloom_contains(nullif(bloom_open(a), id), coalesce(nullif(bloom_open(b), id), 'key')) FROM p;
--> Error: bloom_contains: argument 1 is not a bloom filter (a closed handle)
SELECT bloom_contains((SELECT nullif(bloom_open(a), id) FROM p), 'key' || max(id, abs(id))) FROM p;
--> 0
-- an aggregate takes the filter itself
SELECT bloom_union(bloom_open(a)) FROM p;
--> Error: bloom_union: argument 1 must be a blob in an aggregate, got a handle
SELECT bloom_union(DISTINCT bloom_open(a)) FROM p;
--> Error: bloom_union: argument 1 must be a blob in an aggregate, got a handle
SELECT bloom_intersect(bloom_open(a)) FROM p;
--> Error: bloom_intersect: argument 1 must be a blob in an aggregate, got a handle
-- a handle stays open while each row opens and closes another one
SELECT sum(bloom_contains((SELECT bloom_open(a) FROM p), 'key')), sum(bloom_count(bloom_open(bloom_add(bloom_create(10), k)))) FROM t;
--> 3000|3000
-- many handles at once
SELECT sum(bloom_contains((SELECT bloom_open(bloom_add(bloom_create(10), t.k))), t.k)) FROM t;
--> 3000
SELECT sum(bloom_contains((SELECT bloom_open(a) FROM p), 'key') + bloom_contains((SELECT bloom_open(b) FROM p), 'key')) FROM t;
--> 3000
