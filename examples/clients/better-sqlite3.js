const Database = require("better-sqlite3");

const db = new Database(":memory:");
db.loadExtension("./bloom");

// A filter of the keys of a query, stored as a blob.
db.exec(`
  CREATE TABLE items(code PRIMARY KEY);
  INSERT INTO items VALUES (42), (9007199254740993), ('Zürich');
  CREATE TABLE filters AS SELECT bloom_build(code) AS filter FROM items`);
const has = db.prepare("SELECT bloom_contains(filter, ?) FROM filters").pluck();
const keys = [42n, 42, "42", Buffer.from("42"), 2n ** 53n + 1n, Number(2n ** 53n + 1n), "Zürich", "Bonn"];
console.log("keys:", ...keys.map((key) => has.get(key)));
const filter = db.prepare("SELECT filter FROM filters").pluck().get();
console.log("blob:", filter.length, db.prepare("SELECT bloom_contains(?, ?)").pluck().get(filter, Buffer.from("Zürich")));

// A filter that follows a table, in front of a join with it.
db.exec("CREATE VIRTUAL TABLE items_seen USING bloom(source=items, column=code)");
db.prepare("INSERT INTO items VALUES (?)").run("Bonn");
db.exec("CREATE TABLE asked(code); INSERT INTO asked VALUES ('Bonn'), ('Rome')");
for (const { code } of db.prepare("SELECT code FROM asked JOIN items_seen ON key = code CROSS JOIN items USING (code)").iterate())
  console.log("join:", code);

try {
  db.prepare("SELECT bloom_contains(NULL, 42)").get();
} catch (error) {
  console.log("error:", error.message);
}
