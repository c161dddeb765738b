<?php
$db = new SQLite3(":memory:");
$db->enableExceptions(true);
$db->loadExtension("bloom.so");

// A filter of the keys of a query, stored as a blob.
$db->exec("
    CREATE TABLE items(code PRIMARY KEY);
    INSERT INTO items VALUES (42), (9007199254740993), ('Zürich');
    CREATE TABLE filters AS SELECT bloom_build(code) AS filter FROM items");
$has = $db->prepare("SELECT bloom_contains(filter, ?) FROM filters");
$keys = [[42], [42.0], ["42"], ["42", SQLITE3_BLOB], [2**53 + 1], [(float)(2**53 + 1)], ["Zürich"], ["Bonn"]];
echo "keys:";
foreach ($keys as $key) {
    $has->bindValue(1, ...$key);
    echo " ", $has->execute()->fetchArray()[0];
}
$filter = $db->querySingle("SELECT filter FROM filters");
$asked = $db->prepare("SELECT bloom_contains(?, ?)");
$asked->bindValue(1, $filter, SQLITE3_BLOB);
$asked->bindValue(2, "Zürich", SQLITE3_BLOB);
echo "\nblob: ", strlen($filter), " ", $asked->execute()->fetchArray()[0], "\n";

// A filter that follows a table, in front of a join with it.
$db->exec("CREATE VIRTUAL TABLE items_seen USING bloom(source=items, column=code)");
$insert = $db->prepare("INSERT INTO items VALUES (?)");
$insert->bindValue(1, "Bonn");
$insert->execute();
$db->exec("CREATE TABLE asked(code); INSERT INTO asked VALUES ('Bonn'), ('Rome')");
$rows = $db->query("SELECT code FROM asked JOIN items_seen ON key = code CROSS JOIN items USING (code)");
while ($row = $rows->fetchArray()) echo "join: ", $row["code"], "\n";

try {
    $db->querySingle("SELECT bloom_contains(NULL, 42)");
} catch (Exception $error) {
    echo "error: ", $error->getMessage(), "\n";
}
