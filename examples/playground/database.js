// A database in a worker of its own, so that nothing it does stops the page.
class Database {
  // wasm: the bytes of SQLite with the extension; source: the text of the worker.
  constructor({ wasm, source }) {
    const url = URL.createObjectURL(new Blob([source], { type: "text/javascript" }));
    this.worker = new Worker(url);
    URL.revokeObjectURL(url);
    this.waiting = new Map();
    this.last = 0;
    this.worker.onmessage = ({ data }) => this.#receive(data);
    this.worker.onerror = (event) => this.#giveUp(event.message);
    this.worker.postMessage({ wasm });
  }

  #receive({ id, progress, results, error }) {
    const request = this.waiting.get(id);
    if (!request) return;
    if (progress !== undefined) {
      request.onProgress?.(progress);
      return;
    }
    this.waiting.delete(id);
    if (error === null) request.resolve(results);
    else request.reject(Object.assign(new Error(error), { results }));
  }

  #giveUp(reason) {
    for (const { reject } of this.waiting.values()) reject(new Error(reason));
    this.waiting.clear();
  }

  // The results of all statements, each { columns, rows, more }. options: text (numbers as SQLite writes
  // them), limit (of rows), file (what the table `lines` reads), onProgress (of that, 0 to 1).
  run(sql, values = [], { onProgress, ...options } = {}) {
    const id = ++this.last;
    return new Promise((resolve, reject) => {
      this.waiting.set(id, { resolve, reject, onProgress });
      this.worker.postMessage({ id, sql, values, ...options });
    });
  }

  // The rows of the last statement, as objects.
  async rows(sql, values) {
    const { columns, rows } = (await this.run(sql, values)).at(-1);
    return rows.map((row) => Object.fromEntries(columns.map((name, i) => [name, row[i]])));
  }

  async row(sql, values) {
    return (await this.rows(sql, values))[0];
  }

  // What it was doing is lost, and what was in it.
  stop() {
    this.worker.terminate();
    this.#giveUp("stopped");
  }
}

// The same database, and in `place` the statements that it was given last.
class ShownDatabase {
  rows = Database.prototype.rows;
  row = Database.prototype.row;
  shown = new Map();

  constructor(db, place) {
    this.db = db;
    this.place = place;
  }

  run(sql, values = [], options = {}) {
    const named = values.map((value, i) => `?${i + 1} = ${sqlText(value)}`).join(", ");
    this.shown.delete(sql);
    this.shown.set(sql, `${sql};${named && `\n-- ${named}`}`);
    if (this.shown.size > 4) this.shown.delete(this.shown.keys().next().value);
    this.place.textContent = [...this.shown.values()].join("\n\n");
    return this.db.run(sql, values, options);
  }
}

// What a database needs, from where the build has put it into the page.
function embeddedEngine() {
  const base64 = atob(find("engine").textContent.trim());
  return {
    wasm: Uint8Array.from(base64, (letter) => letter.charCodeAt(0)),
    source: find("worker").textContent,
  };
}

// Begins each work() when the one before it has ended: what several statements do is not mixed up.
function oneByOne() {
  let last = Promise.resolve();
  return (work) => (last = last.then(work, work));
}

// Calls work() now, or once more when the one that is running has ended: of what comes while it runs
// only the last counts.
function latestOnly(work) {
  let running = false, again = false;
  return async () => {
    again = true;
    if (running) return;
    running = true;
    while (again) {
      again = false;
      await work();
    }
    running = false;
  };
}
