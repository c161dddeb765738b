// Starts the parts of the page.
async function main() {
  const engine = embeddedEngine();
  startRace(engine).then(telling(find("search-problem"), () => startSearch(engine)));
  const db = new Database(engine);
  const { version, sqlite } = await db.row("SELECT bloom_version() AS version, sqlite_version() AS sqlite");
  find("versions").textContent = `sqlite-bloom ${version} in SQLite ${sqlite}`;
  const sql = startConsole(engine);
  startFile(db, engine, (name, filter) => sql.keep(name, filter));
  await startSizing(new ShownDatabase(db, find("sizing-sql")));
  await startWatch(new ShownDatabase(db, find("watch-sql")));
  await startMerge(new ShownDatabase(db, find("merge-sql")));
  document.documentElement.dataset.ready = "yes";
}

telling(find("page-problem"), main)();
