package require sqlite3

sqlite3 db :memory:
db enable_load_extension 1
db eval {SELECT load_extension('./bloom')}

# A filter of the keys of a query, stored as a blob.
set city Z\u00fcrich
db eval {
    CREATE TABLE items(code PRIMARY KEY);
    INSERT INTO items VALUES (42), (9007199254740993), ($city);
    CREATE TABLE filters AS SELECT bloom_build(code) AS filter FROM items}
set big [expr {2**53 + 1}]
set has {}
foreach key [list [expr {6 * 7}] [expr {42.0}] "42" [binary format a* 42] $big [expr {double($big)}] $city Bonn] {
    lappend has [db onecolumn {SELECT bloom_contains(filter, $key) FROM filters}]
}
puts "keys: $has"
set filter [db onecolumn {SELECT filter FROM filters}]
set bytes [encoding convertto utf-8 $city]
puts "blob: [string length $filter] [db onecolumn {SELECT bloom_contains(@filter, @bytes)}]"

# A filter that follows a table, in front of a join with it.
set new Bonn
db eval {
    CREATE VIRTUAL TABLE items_seen USING bloom(source=items, column=code);
    INSERT INTO items VALUES ($new);
    CREATE TABLE asked(code);
    INSERT INTO asked VALUES ('Bonn'), ('Rome')}
db eval {SELECT code FROM asked JOIN items_seen ON key = code CROSS JOIN items USING (code)} {
    puts "join: $code"
}

catch {db eval {SELECT bloom_contains(NULL, 42)}} message
puts "error: $message"
