// Writes to the table t of the file argv[2] through better-sqlite3, without the extension.
const Database = require("better-sqlite3");

const db = new Database(process.argv[2]);
const insert = db.prepare("INSERT INTO t(k) VALUES (?)");
db.transaction(() => {
  for (const key of ["node", "Zürich", 42, 9007199254740993n, 1.5, "05", Buffer.from("blob"), null]) insert.run(key);
})();
try {
  db.transaction(() => {
    insert.run("undone");
    throw new Error("undo");
  })();
} catch (error) {
  if (error.message !== "undo") throw error;
}
db.prepare("UPDATE t SET k = k || ' changed' WHERE k = ?").run("first");
db.prepare("DELETE FROM t WHERE k = ?").run("second");
db.prepare("REPLACE INTO t(id, k) VALUES (3, 'replaced')").run();
db.prepare("INSERT INTO t(id, k) VALUES (1, 'x') ON CONFLICT(id) DO UPDATE SET k = 'upsert'").run();
db.exec("ALTER TABLE t ADD COLUMN y; VACUUM");
insert.run("after VACUUM");
