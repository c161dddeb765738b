// Runs the checks in Node, in a folder where sqlite-bloom-wasm is installed, and exchanges a database with the extension.
//   node node.mjs EXTENSION REPOSITORY
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import { pathToFileURL } from "node:url";

const [extension, repository] = process.argv.slice(2);
const module = await import(pathToFileURL(createRequire(path.resolve("x.js")).resolve("sqlite-bloom-wasm")));
const { runChecks } = await import(pathToFileURL(path.join(repository, "tests/release/wasm/checks.mjs")));
const { check, conclude } = await import(pathToFileURL(path.join(repository, "tests/support/browser.mjs")));

const native = (file, sql) => execFileSync("sqlite3", ["-init", "/dev/null", "-cmd", `.load ${extension}`, file, sql], { encoding: "utf8" }).trim();

for (const [name, error] of await runChecks(module)) await check(name, () => assert.equal(error, null));

const make = `CREATE TABLE t(a); CREATE VIRTUAL TABLE seen USING bloom(source=t, column=a);
  INSERT INTO t VALUES (42), ('Zürich'), (0.1), (x'00'), (9007199254740993)`;

await check("its database works in the extension", async () => {
  const db = await module.open();
  db.exec(make);
  writeFileSync("from-wasm.db", db.export());
  assert.equal(native("from-wasm.db", "SELECT count(*) FROM t JOIN seen ON key = a; INSERT INTO t VALUES ('new'); PRAGMA integrity_check"), "5\nok");
  const again = await module.open(readFileSync("from-wasm.db"));
  assert.deepEqual(again.exec("SELECT count(*) AS found FROM t JOIN seen ON key = a"), [{ found: 6 }]);
});

await check("a filter has the bytes of the extension's", async () => {
  const build = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 3000) SELECT hex(bloom_build(i, 3000, 0.001, ";
  const db = await module.open();
  for (const kind of ["standard", "counting", "partitioned"]) {
    assert.equal(db.exec(`${build}'${kind}')) AS filter FROM n`)[0].filter, native(":memory:", `${build}'${kind}')) FROM n`));
  }
});

process.exitCode = conclude();
