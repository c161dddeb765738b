// Loads a file into node:sqlite, and compares a filter with the set of its keys.
//   node .github/load.mjs FILE
import assert from "node:assert";
import { resolve } from "node:path";
import { DatabaseSync } from "node:sqlite";

const db = new DatabaseSync(":memory:", { allowExtension: true });
db.loadExtension(resolve(process.argv[2]));
console.log(Object.values(db.prepare("SELECT bloom_debug()").get())[0]);

db.exec(`
  CREATE TABLE t(k);
  CREATE VIRTUAL TABLE f USING bloom(source=t, column=k);
  WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 10000) INSERT INTO t SELECT 'key ' || i FROM n;
  INSERT INTO f(f) VALUES ('merge'), ('integrity-check')`);
const { missing } = db.prepare("SELECT count(*) AS missing FROM t LEFT JOIN f ON f.key = t.k WHERE f.key IS NULL").get();
assert.strictEqual(missing, 0);
const { wrong } = db.prepare("SELECT count(*) AS wrong FROM t JOIN f ON f.key = t.k || ' absent'").get();
assert(wrong < 300, `${wrong} of 10000 absent keys may be present`);
