.load ./bloom
.separator ' '

-- A filter of the keys of a query, stored as a blob.
CREATE TABLE items(code PRIMARY KEY);
INSERT INTO items VALUES (42), (9007199254740993), ('Zürich');
CREATE TABLE filters AS SELECT bloom_build(code) AS filter FROM items;
SELECT 'keys:', bloom_contains(filter, 42), bloom_contains(filter, 42.0), bloom_contains(filter, '42'), bloom_contains(filter, x'3432'),
       bloom_contains(filter, 9007199254740993), bloom_contains(filter, 9007199254740993.0), bloom_contains(filter, 'Zürich'),
       bloom_contains(filter, 'Bonn') FROM filters;
SELECT 'blob:', length(filter), bloom_contains(filter, CAST('Zürich' AS BLOB)) FROM filters;

-- A filter that follows a table, in front of a join with it.
CREATE VIRTUAL TABLE items_seen USING bloom(source=items, column=code);
INSERT INTO items VALUES ('Bonn');
CREATE TABLE asked(code);
INSERT INTO asked VALUES ('Bonn'), ('Rome');
SELECT 'join:', code FROM asked JOIN items_seen ON key = code CROSS JOIN items USING (code);

SELECT bloom_contains(NULL, 42);
