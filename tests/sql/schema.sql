-- With an untrusted schema: views, triggers, generated columns, CHECK, partial and expression indexes.
PRAGMA trusted_schema = OFF;
CREATE TABLE s(filter BLOB CONSTRAINT is_filter CHECK (bloom_check(filter) = 'ok'));
INSERT INTO s VALUES (bloom_add(bloom_create(100), 'a', 'b'));
INSERT INTO s VALUES (x'00');
--> Error: CHECK constraint failed: is_filter (19)
CREATE TABLE t(k TEXT, composite GENERATED ALWAYS AS (bloom_key(k, 1)) VIRTUAL);
CREATE TABLE g(k, n, both BLOB AS (bloom_key(k, n)) STORED);
INSERT INTO t(k) VALUES ('a'), ('b'), ('c');
INSERT INTO g(k, n) VALUES ('a', 1);
SELECT both FROM g;
--> 1:a,1:1,
-- views
CREATE VIEW known AS SELECT k FROM t WHERE bloom_contains((SELECT bloom_open(filter) FROM s), k);
SELECT * FROM known;
--> a
--> b
CREATE VIEW plan AS SELECT kind, cells FROM bloom_plan(100, 0.01);
SELECT * FROM plan;
--> standard|976
--> counting|976
--> partitioned|1024
CREATE VIEW cells AS SELECT count(*) FROM s, bloom_positions(s.filter, 'a');
SELECT * FROM cells;
--> 7
CREATE VIEW built AS SELECT bloom_count(bloom_build(k)) FROM t;
SELECT * FROM built;
--> 3
-- triggers
CREATE TRIGGER keep AFTER INSERT ON t BEGIN UPDATE s SET filter = bloom_add(filter, NEW.k); END;
INSERT INTO t(k) VALUES ('d');
SELECT bloom_contains(filter, 'd') FROM s;
--> 1
-- indexes
CREATE TABLE o(k);
CREATE INDEX partial ON o(k) WHERE bloom_contains(x'424c4d4601010102400000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000f0939c8f97fddda00000006802000000', k);
INSERT INTO o VALUES ('a'), ('x'), (NULL), ('b');
SELECT count(*) FROM o INDEXED BY partial WHERE bloom_contains(x'424c4d4601010102400000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000f0939c8f97fddda00000006802000000', k);
--> 2
CREATE INDEX expression ON t(bloom_key(k, 1));
EXPLAIN QUERY PLAN SELECT * FROM t WHERE bloom_key(k, 1) = x'00';
--> QUERY PLAN
--> SEARCH t USING INDEX expression (<expr>=?)
SELECT count(*) FROM t WHERE bloom_key(k, 1) = CAST('1:a,1:1,' AS BLOB);
--> 1
CREATE INDEX by_handle ON s(bloom_open(filter));
--> Error: non-deterministic functions prohibited in index expressions
CREATE INDEX i ON s(bloom_version());
--> Error: non-deterministic functions prohibited in index expressions
CREATE INDEX i ON s(bloom_debug());
--> Error: non-deterministic functions prohibited in index expressions
CREATE VIEW v AS SELECT bloom_version() || bloom_debug() AS text;
PRAGMA trusted_schema = OFF;
SELECT length(text) > 20 FROM v;
--> 1
