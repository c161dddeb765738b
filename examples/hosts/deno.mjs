// deno run --allow-ffi --allow-read deno.mjs
import { DatabaseSync } from "node:sqlite";

const db = new DatabaseSync(":memory:", { allowExtension: true });
db.loadExtension("./bloom");
db.exec(`
  CREATE TABLE items(code);
  CREATE VIRTUAL TABLE items_seen USING bloom(source=items, column=code);
  INSERT INTO items VALUES ('Bonn')`);
for (const key of ["Bonn", "Rome"]) console.log(key, db.prepare("SELECT count(*) AS found FROM items_seen WHERE key = ?").get(key).found);
