-- Needs SQLite 3.35: RETURNING; and IS NULL of a column that is NOT NULL, which older ones scan for.
CREATE VIRTUAL TABLE a USING bloom(capacity=1000);
INSERT INTO a(key) VALUES ('r'), ('s') RETURNING key;
--> r
--> s
INSERT OR IGNORE INTO a(key) VALUES ('r'), ('t') RETURNING key;
--> r
--> t
SELECT changes();
--> 1
SELECT count(*) FROM a WHERE key IS NULL;
--> 0
