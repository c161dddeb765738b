// A program for Node whose better-sqlite3 has the extension built in.
//   node embed.js SQL    runs SQL in a database in memory and prints the rows
// docs/embedding.md says how to build it.
const Database = require("better-sqlite3");

const db = new Database(":memory:");
for (const row of db.prepare(process.argv[2]).raw().iterate()) console.log(row.join("|"));
