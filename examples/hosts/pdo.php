<?php
// LD_PRELOAD=./libbloom_auto.so php pdo.php
// From PHP 8.4 on, Pdo\Sqlite has loadExtension(), and needs no LD_PRELOAD.
$db = new PDO("sqlite::memory:");
$db->exec("CREATE TABLE items(code);
           CREATE VIRTUAL TABLE items_seen USING bloom(source=items, column=code);
           INSERT INTO items VALUES ('Bonn')");
$find = $db->prepare("SELECT count(*) FROM items_seen WHERE key = ?");
foreach (["Bonn", "Rome"] as $key) {
    $find->execute([$key]);
    echo "$key ", $find->fetchColumn(), "\n";
}
