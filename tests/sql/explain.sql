-- bloom_explain(filter, table, column): 'ok', or in what the filter compares otherwise than the column.
CREATE TABLE items(code INTEGER, name TEXT COLLATE NOCASE, part TEXT, loose);
INSERT INTO items VALUES (5, 'Ann', 'x', 1);
CREATE TABLE asked(code TEXT, name TEXT, n INTEGER, trimmed TEXT COLLATE RTRIM, "odd name" TEXT);
INSERT INTO asked VALUES ('x', 'ann', 7, 'r', '5');
CREATE VIRTUAL TABLE plain USING bloom(capacity=100);
CREATE VIRTUAL TABLE codes USING bloom(source=items, column=code);
CREATE VIRTUAL TABLE names USING bloom(source=items, column=name);
CREATE VIRTUAL TABLE loose USING bloom(source=items, column=loose);
CREATE VIRTUAL TABLE pairs USING bloom(source=items, column=(code, part));

-- agree
SELECT bloom_explain('plain', 'asked', 'code'), bloom_explain('plain', 'asked', 'n'), bloom_explain('Plain', 'Asked', 'Odd Name');
--> ok|ok|ok
SELECT bloom_explain('codes', 'asked', 'code'), bloom_explain('codes', 'asked', 'n'), bloom_explain('codes', 'items', 'code');
--> ok|ok|ok
SELECT bloom_explain('names', 'asked', 'name'), bloom_explain('names', 'items', 'name'), bloom_explain('loose', 'asked', 'code');
--> ok|ok|ok

-- collations
SELECT bloom_explain('plain', 'items', 'name');
--> items.name has the collation nocase, and the filter has binary: a key that is equal only under nocase is answered "absent" (make the filter with collate=nocase)
SELECT bloom_explain('names', 'asked', 'trimmed');
--> asked.trimmed has the collation rtrim, and the filter has nocase: a key that is equal only under rtrim is answered "absent" (make the filter with collate=rtrim)

-- types
SELECT bloom_explain('names', 'asked', 'n');
--> asked.n has numbers, and the filter follows a column that is not numeric: if that has text such as '05', no number is answered "absent" (compare text with text, in the filter and in the column: names.key = CAST(asked.n AS TEXT))
SELECT bloom_explain('loose', 'items', 'code');
--> items.code has numbers, and the filter follows a column that is not numeric: if that has text such as '05', no number is answered "absent" (compare text with text, in the filter and in the column: loose.key = CAST(items.code AS TEXT))
INSERT INTO asked(code, trimmed) VALUES ('007', '7.0');
SELECT bloom_explain('plain', 'asked', 'code');
--> asked.code has text such as '007', which SQLite compares as a number, but the filter compares as bytes (if the keys were added as numbers, write plain.key = CAST(asked.code AS NUMERIC))
SELECT bloom_explain('plain', 'asked', 'trimmed');
--> asked.trimmed has the collation rtrim, and the filter has binary: a key that is equal only under rtrim is answered "absent" (make the filter with collate=rtrim)
--> asked.trimmed has text such as '7.0', which SQLite compares as a number, but the filter compares as bytes (if the keys were added as numbers, write plain.key = CAST(asked.trimmed AS NUMERIC))
SELECT bloom_explain('codes', 'asked', 'code');
--> ok

-- errors
SELECT bloom_explain('pairs', 'asked', 'code');
--> Error: bloom_explain: pairs: key must be bloom_key(code, part), because the filter follows 2 columns (or give code = ? AND part = ?), got 'x'
SELECT bloom_explain('asked', 'asked', 'code');
--> Error: bloom_explain: no such column: key
SELECT bloom_explain('plain', 'asked', 'nothing');
--> Error: bloom_explain: there is no column asked.nothing in a table (a view has no type)
SELECT bloom_explain('plain', 'nothing', 'code');
--> Error: bloom_explain: there is no column nothing.code in a table (a view has no type)
SELECT bloom_explain('nothing', 'asked', 'code');
--> Error: bloom_explain: no such table: nothing
SELECT bloom_explain('plain', NULL, 'code');
--> Error: bloom_explain: argument 2 must be a name, got NULL
CREATE VIEW v AS SELECT code FROM asked;
SELECT bloom_explain('plain', 'v', 'code');
--> Error: bloom_explain: there is no column v.code in a table (a view has no type)
CREATE VIEW unsafe AS SELECT bloom_explain('plain', 'asked', 'code') AS e;
SELECT e FROM unsafe;
--> Error: unsafe use of bloom_explain()
DROP TRIGGER codes_before_insert;
SELECT bloom_explain('codes', 'asked', 'code');
--> Error: bloom_explain: codes: the triggers of source 'items' are missing or have changed, so keys may be missing from the filter (the command 'rebuild' fixes that; if the source no longer exists, run DROP TABLE)
