// bun bun.mjs
import { Database } from "bun:sqlite";

const db = new Database(":memory:");
db.loadExtension("./bloom");
db.exec(`
  CREATE TABLE items(code);
  CREATE VIRTUAL TABLE items_seen USING bloom(source=items, column=code);
  INSERT INTO items VALUES ('Bonn')`);
for (const key of ["Bonn", "Rome"]) console.log(key, db.query("SELECT count(*) AS found FROM items_seen WHERE key = ?").get(key).found);
