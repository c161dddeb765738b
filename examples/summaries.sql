-- A summary of each table in a database: which of them may hold a value that was found somewhere?
--   sqlite3 -cmd '.load build/bloom' < examples/summaries.sql
.mode list
CREATE TABLE customers(id INTEGER PRIMARY KEY, email TEXT);
CREATE TABLE subscribers(id INTEGER PRIMARY KEY, email TEXT COLLATE NOCASE);
CREATE TABLE complaints(id INTEGER PRIMARY KEY, sender TEXT);
WITH RECURSIVE n(i) AS (VALUES(1) UNION ALL SELECT i + 1 FROM n WHERE i < 20000)
INSERT INTO customers(email) SELECT 'customer' || i || '@example.org' FROM n;
WITH RECURSIVE n(i) AS (VALUES(1) UNION ALL SELECT i + 1 FROM n WHERE i < 5000)
INSERT INTO subscribers(email) SELECT 'Customer' || (i * 3) || '@Example.org' FROM n;
INSERT INTO complaints(sender) VALUES ('customer7@example.org'), ('stranger@example.org');

-- The first way: a catalogue of blobs, kept by SQL alone. Each row knows up to which row of its table it has come. A blob
-- compares bytes: where case must not matter, lower() does it, here and in every question.
CREATE TABLE summaries(name TEXT PRIMARY KEY, filter BLOB NOT NULL, last_id INTEGER NOT NULL);
INSERT INTO summaries SELECT 'customers.email', bloom_build(email, 50000), max(id) FROM customers;
INSERT INTO summaries SELECT 'subscribers.email', bloom_build(lower(email), 50000), max(id) FROM subscribers;
INSERT INTO summaries SELECT 'complaints.sender', bloom_build(sender, 50000), max(id) FROM complaints;

.print Who may know this address?
SELECT name FROM summaries WHERE bloom_contains(filter, 'customer7@example.org');
--> customers.email
--> complaints.sender
.print And who this one?
SELECT name FROM summaries WHERE bloom_contains(filter, 'customer9@example.org');
--> customers.email
--> subscribers.email
.print Does anybody know this one?
SELECT bloom_contains(bloom_union(filter), 'nobody@example.org') FROM summaries;
--> 0

.print Add what has come since, in one statement that rewrites the blob once
INSERT INTO complaints(sender) VALUES ('customer9@example.org');
UPDATE summaries
   SET filter = bloom_union(filter, (SELECT bloom_build(sender, 50000) FROM complaints WHERE id > last_id)),
       last_id = (SELECT max(id) FROM complaints)
 WHERE name = 'complaints.sender' AND last_id < (SELECT max(id) FROM complaints);
SELECT name FROM summaries WHERE bloom_contains(filter, 'customer9@example.org');
--> customers.email
--> subscribers.email
--> complaints.sender

.print The state of all of them
SELECT name, last_id, bloom_count(filter) AS addresses, length(filter) AS bytes,
       round(100 * bloom_fpr(filter), 4) AS percent_wrong
  FROM summaries;
--> customers.email|20000|19975|63552|0.0047
--> subscribers.email|5000|4998|63552|0.0
--> complaints.sender|3|3|63552|0.0

-- The second way: tables that follow. They are right after every statement, deletes included, and know the collation.
CREATE VIRTUAL TABLE customers_email USING bloom(source=customers, column=email, kind=counting);
CREATE VIRTUAL TABLE subscribers_email USING bloom(source=subscribers, column=email, kind=counting);
CREATE VIRTUAL TABLE complaints_sender USING bloom(source=complaints, column=sender, kind=counting);

.print Who may know this address?
CREATE VIEW may_know AS
SELECT 'customers.email' AS name, key FROM customers_email
UNION ALL SELECT 'subscribers.email', key FROM subscribers_email
UNION ALL SELECT 'complaints.sender', key FROM complaints_sender;
SELECT name FROM may_know WHERE key = 'customer9@example.org';
--> customers.email
--> subscribers.email
--> complaints.sender
.print And when it is gone from one? The command 'merge' moves the pending changes into the filter.
DELETE FROM complaints WHERE sender = 'customer9@example.org';
INSERT INTO complaints_sender(complaints_sender) VALUES ('merge');
SELECT name FROM may_know WHERE key = 'customer9@example.org';
--> customers.email
--> subscribers.email

-- The third way: a group, one table with a filter per member. It needs no blob to be read and copied, and no table per member.
CREATE VIRTUAL TABLE who USING bloom_groups(capacity=50000, fpr=0.001, collate=nocase);
INSERT INTO who(member, key) SELECT 'customers.email', email FROM customers;
INSERT INTO who(member, key) SELECT 'subscribers.email', email FROM subscribers;
INSERT INTO who(member, key) SELECT 'complaints.sender', sender FROM complaints;

.print Who may know this address?
SELECT member FROM who WHERE key = 'Customer9@example.org';
--> customers.email
--> subscribers.email
.print What has come since is added key by key.
INSERT INTO complaints(sender) VALUES ('customer9@example.org');
INSERT INTO who(member, key) SELECT 'complaints.sender', sender FROM complaints WHERE id = last_insert_rowid();
SELECT member FROM who WHERE key = 'Customer9@example.org';
--> customers.email
--> subscribers.email
--> complaints.sender

-- Choose blobs for tables that change in batches, for summaries that are sent elsewhere, merged or intersected, and for
-- filters of different sizes: each change of a blob reads and copies all of it. Choose tables for rows that change one by
-- one and for large filters: each change writes one page, and triggers keep the filter up to date. Choose a group for many
-- members that are looked up together: one lookup checks 64 members per page, however many there are.
