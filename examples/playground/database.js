// A database in its own worker, so that no statement blocks the page.
class Database {
  // wasm: the compiled SQLite with the extension; source: the text of the worker.
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

  #receive({ id, progress, results, error, statements }) {
    const request = this.waiting.get(id);
    if (!request) return;
    if (progress !== undefined) {
      request.onProgress?.(progress);
      return;
    }
    this.waiting.delete(id);
    if (error === null) request.resolve(Object.assign(results, { statements }));
    else request.reject(Object.assign(new Error(error), { results }));
  }

  #giveUp(reason) {
    for (const { reject } of this.waiting.values()) reject(new Error(reason));
    this.waiting.clear();
  }

  // Returns the results of all statements, each { columns, rows, more }. Options: text (numbers as strings), limit (rows
  // per result), file (a File or its bytes, read by the table `lines`), onProgress (called with the share of the file read, 0 to 1),
  // trace (the results get `statements`: the SQL of each statement that ended, also of those of the extension).
  run(sql, values = [], { onProgress, ...options } = {}) {
    const id = ++this.last;
    return new Promise((resolve, reject) => {
      if (this.stopped) reject(new Error("stopped"));
      this.waiting.set(id, { resolve, reject, onProgress });
      this.worker.postMessage({ id, sql, values, ...options });
    });
  }

  // Returns the rows of the last statement as objects.
  async rows(sql, values) {
    const { columns, rows } = (await this.run(sql, values)).at(-1);
    return rows.map((row) => Object.fromEntries(columns.map((name, i) => [name, row[i]])));
  }

  async row(sql, values) {
    return (await this.rows(sql, values))[0];
  }

  // Stops the running statement and discards the database.
  stop() {
    this.stopped = true;
    this.worker.terminate();
    this.#giveUp("stopped");
  }
}

// A database that also shows its last statements in `place`.
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

// Reads what a database needs from the page, where the build has put it.
function embeddedEngine() {
  const base64 = atob(find("engine").textContent.trim());
  return {
    wasm: Uint8Array.from(base64, (letter) => letter.charCodeAt(0)),
    source: find("worker").textContent,
  };
}

// Starts each work() after the one before it has ended, so that their statements do not interleave.
function oneByOne() {
  let last = Promise.resolve();
  return (work) => (last = last.then(work, work));
}

// Calls work() now, or once more after the running call has ended: of all calls during that time only the last one counts.
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
