// Builds a filter from the lines of a file. The build runs in its own worker; cancelling stops that worker.

const filterOfLines = "SELECT count(*) AS lines, bloom_build(line, ?1, ?2, ?3) AS filter FROM lines WHERE line <> ''";

class FileFilter {
  constructor(db, engine, keep) {
    this.db = db;
    this.engine = engine;
    this.keep = keep; // called with (name, filter)
    this.filter = null;
  }

  async build(file) {
    this.worker?.stop();
    const worker = new Database(this.engine);
    this.worker = worker;
    this.#showWorking(file);
    try {
      const began = performance.now();
      const [lines, filter] = await this.#filterOfLines(worker, file);
      await this.#showResult(file, lines, filter, (performance.now() - began) / 1000);
    } finally {
      worker.stop();
      if (worker === this.worker) find("file-working").hidden = true;
    }
  }

  // Returns the number of lines and the filter.
  async #filterOfLines(worker, file) {
    const run = async (source) => {
      const options = { file: source, onProgress: (done) => this.#showProgress(done) };
      return (await worker.run(filterOfLines, this.#settings(), options))[0].rows[0];
    };
    try {
      return await run(file);
    } catch (error) {
      if (error.message !== "disk I/O error") throw error;
      // A worker of WebKit cannot read files if the page was opened from a file, but the page can.
      return run(new Uint8Array(await file.arrayBuffer()));
    }
  }

  cancel() {
    this.worker?.stop();
    find("file-status").textContent = "Cancelled.";
  }

  #settings() {
    const capacity = find("file-capacity").value;
    return [capacity === "" ? null : Number(capacity), Number(find("file-p").value), find("file-kind").value];
  }

  #showWorking(file) {
    find("file-working").hidden = false;
    find("file-result").hidden = true;
    find("file-status").textContent = `Reading ${file.name} (${bytesText(file.size)}) ...`;
    this.#showProgress(0);
  }

  #showProgress(done) {
    find("file-progress").value = done;
    find("file-percent").textContent = `${Math.floor(100 * done)} %`;
  }

  async #showResult(file, lines, filter, seconds) {
    this.filter = filter;
    const info = JSON.parse((await this.db.row("SELECT bloom_info(?1) AS info", [filter])).info);
    const name = `${file.name}.bloom`;
    find("file-status").textContent = `${whole.format(lines)} lines in ${short.format(seconds)} s.`;
    const facts = [
      ["estimated keys", whole.format(info.keys)], ["size", bytesText(info.bytes)],
      ["share of file size", percentText(info.bytes / Math.max(1, file.size))], ["cells", whole.format(info.cells)],
      ["hashes", info.hashes], ["false-positive rate", percentText(info.fpr)],
    ];
    find("file-facts").replaceChildren(...factList(facts));
    this.#offer(name, filter);
    find("file-answer").textContent = "";
    find("file-result").hidden = false;
    await this.keep(file.name, filter);
  }

  #offer(name, filter) {
    const link = find("file-download");
    if (link.href) URL.revokeObjectURL(link.href);
    link.href = URL.createObjectURL(new Blob([filter], { type: "application/octet-stream" }));
    link.download = name;
    link.textContent = `Download ${name}`;
    find("file-sql").textContent = `.load bloom\nSELECT bloom_contains(readfile(${sqlText(name)}), 'a line');`;
  }

  async lookUp(line) {
    const { maybe } = await this.db.row("SELECT bloom_contains(?1, ?2) AS maybe", [this.filter, line]);
    find("file-answer").textContent = maybe ? "Maybe present: the file may contain this line." : "Certainly absent: the file does not contain this line.";
  }
}

function startFile(db, engine, keep) {
  const files = new FileFilter(db, engine, keep);
  const problem = find("file-problem"), area = find("file-area"), input = find("file-input");
  const build = (file) => telling(problem, () => file && files.build(file))();
  input.addEventListener("change", () => { build(input.files[0]); input.value = ""; });
  area.addEventListener("dragover", (event) => { event.preventDefault(); area.classList.add("over"); });
  area.addEventListener("dragleave", () => area.classList.remove("over"));
  area.addEventListener("drop", (event) => {
    event.preventDefault();
    area.classList.remove("over");
    build(event.dataTransfer.files[0]);
  });
  find("file-cancel").addEventListener("click", () => files.cancel());
  find("file-lookup").addEventListener("submit", telling(problem, () => files.lookUp(find("file-line").value)));
}
