// node knex_migration.js, beside bloom.so: a migration of Knex, as docs/orms.md describes it. Prints nothing if it works.
const assert = require("node:assert");

const knex = require("knex")({
  client: "sqlite3",
  connection: "app.db",
  useNullAsDefault: true,
  pool: { afterCreate: (connection, done) => connection.loadExtension("./bloom", (error) => done(error, connection)) },
});

const found = async (key) => (await knex.raw("SELECT count(*) AS found FROM users_seen WHERE key = ?", [key]))[0].found;

async function main() {
  await knex.schema.createTable("users", (table) => {
    table.increments();
    table.text("email");
    table.text("age");
  });
  await knex("users").insert([{ email: "ann@example.com" }, { email: "bob@example.com" }]);
  await knex.raw("CREATE VIRTUAL TABLE users_seen USING bloom(source=users, column=email)");

  // Knex alters no column in place.
  await knex.schema.alterTable("users", (table) => table.integer("age").alter());
  await assert.rejects(found("ann@example.com"), /triggers of source 'users' are missing/);
  await knex.raw("INSERT INTO users_seen(users_seen) VALUES ('rebuild')");
  await knex("users").insert({ email: "eve@example.com" });
  for (const key of ["ann", "bob", "eve"]) assert.strictEqual(await found(`${key}@example.com`), 1);
  assert.strictEqual(await found("nobody@example.com"), 0);
  await knex.raw("INSERT INTO users_seen(users_seen) VALUES ('integrity-check')");
  await knex.destroy();
}

main();
