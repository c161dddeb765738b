// node node-sqlite3.js, after: npm install sqlite3
const { Database } = require("sqlite3");

const db = new Database(":memory:");
db.serialize(() => {
  db.loadExtension("./bloom");
  db.exec(`
    CREATE TABLE items(code);
    CREATE VIRTUAL TABLE items_seen USING bloom(source=items, column=code);
    INSERT INTO items VALUES ('Bonn')`);
  for (const key of ["Bonn", "Rome"])
    db.get("SELECT count(*) AS found FROM items_seen WHERE key = ?", [key], (error, row) => console.log(key, error ?? row.found));
});
