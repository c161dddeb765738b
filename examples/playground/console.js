// The SQL console. It has its own database in its own worker; stopping a statement stops the worker.

const mostRows = 200;

class Console {
  constructor(engine, tour) {
    this.engine = engine;
    this.tour = tour;
    this.files = new Map();
    this.db = null;
  }

  // Opens a new database that contains the filters of the files that were read.
  async open() {
    this.db = new Database(this.engine);
    this.done = 0; // steps of the tour
    await this.db.run("CREATE TABLE files(name TEXT PRIMARY KEY, filter BLOB)");
    for (const [name, filter] of this.files) await this.#insert(name, filter);
  }

  async keep(name, filter) {
    this.files.set(name, filter);
    if (this.db) await this.#insert(name, filter);
  }

  #insert(name, filter) {
    return this.db.run("INSERT OR REPLACE INTO files VALUES (?1, ?2)", [name, filter]);
  }

  async run(sql) {
    if (!this.db) await this.open();
    find("console-stop").disabled = false;
    find("console-status").textContent = "Running ...";
    const began = performance.now();
    try {
      const results = await this.db.run(sql, [], { text: true, limit: mostRows });
      this.#show(results);
      find("console-status").textContent = `Done in ${short.format((performance.now() - began) / 1000)} s.`;
    } catch (error) {
      if (error.message !== "stopped") {
        this.#show(error.results ?? []);
        find("console-status").textContent = "";
      }
      throw error;
    } finally {
      find("console-stop").disabled = true;
    }
  }

  // Each step needs the steps before it: those that have not run yet run first.
  async runStep(step) {
    find("console-sql").value = this.tour[step].sql;
    if (!this.db) await this.open();
    const before = this.tour.slice(this.done, step).map(({ sql }) => sql).join("\n");
    if (before) await this.db.run(before);
    this.done = Math.max(this.done, step + 1);
    await this.run(this.tour[step].sql);
  }

  // Stops the running statement. The next statement gets an empty database.
  reset() {
    this.db?.stop();
    this.db = null;
    find("console-problem").textContent = "";
    find("console-status").textContent = "The database is empty.";
    find("console-results").replaceChildren();
  }

  #show(results) {
    const shown = results.filter(({ columns }) => columns.length > 0).map(resultTable);
    find("console-results").replaceChildren(...shown);
  }
}

function resultTable({ columns, rows, more }, i) {
  const found = table(`Result ${i + 1}: ${more ? `the first ${rows.length} rows` : rows.length === 1 ? "1 row" : `${rows.length} rows`}`,
    columns, rows.map((row) => row.map(resultText)));
  found.classList.add("result");
  return found;
}

function resultText(value) {
  return typeof value === "string" ? value : sqlText(value);
}

function startConsole(engine) {
  const tour = JSON.parse(find("tour").textContent);
  const sql = new Console(engine, tour);
  const problem = find("console-problem");
  const run = telling(problem, () => sql.run(find("console-sql").value));
  find("console-form").addEventListener("submit", run);
  find("console-sql").addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) run(event);
  });
  for (const id of ["console-stop", "console-reset"]) find(id).addEventListener("click", () => sql.reset());
  find("console-tour").replaceChildren(...tour.map(({ title }, step) => element("li", {},
    element("button", { type: "button", class: "step", click: telling(problem, () => sql.runStep(step)) }, title))));
  return sql;
}
