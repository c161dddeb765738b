// A small filter, its cells, and the cells that each key sets.

const words = ("apple pear plum fig quince cherry mango lime olive grape melon papaya guava lychee date kiwi peach medlar " +
  "sloe currant oak elm ash birch pine larch yew holly willow rowan alder cedar maple beech hazel poplar linden spruce fir juniper").split(" ");

const watchSchema = `CREATE TABLE watched(filter BLOB); INSERT INTO watched VALUES (NULL);
CREATE TABLE watched_keys(key TEXT)`;

// The positions of a key, and the added keys that share each position.
const positionsOfKey = `SELECT probed.i, probed.cell, probed.value,
       (SELECT json_group_array(DISTINCT k.key) FROM watched_keys AS k
         WHERE EXISTS (SELECT 1 FROM bloom_positions(w.filter, k.key) AS own WHERE own.cell = probed.cell)) AS keys
  FROM watched AS w, bloom_positions(w.filter, ?1) AS probed`;

const falsePositives = `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000)
SELECT 'absent ' || i AS key FROM n
 WHERE bloom_contains((SELECT bloom_open(filter) FROM watched), 'absent ' || i)
   AND 'absent ' || i NOT IN (SELECT key FROM watched_keys)`;

class Watch {
  constructor(db) {
    this.db = db;
    this.grid = new CellGrid(find("watch-cells"));
    this.probed = null;
    this.inTurn = oneByOne();
  }

  // Returns an event handler that does the work after all earlier work has ended.
  handler(work) {
    return telling(find("watch-problem"), () => this.inTurn(work));
  }

  // Makes a new filter and adds the current keys.
  async reshape() {
    const shape = [Number(find("watch-m").value), Number(find("watch-k").value), find("watch-kind").value,
      Number(find("watch-m").value) / Number(find("watch-blocks").value)];
    await this.db.run("UPDATE watched SET filter = bloom_create_sized(?1, ?2, ?3, ?4)", shape);
    for (const { key } of await this.db.rows("SELECT key FROM watched_keys ORDER BY rowid")) {
      await this.db.run("UPDATE watched SET filter = bloom_add(filter, ?1)", [key]);
    }
    find("watch-remove").disabled = shape[2] !== "counting";
    await this.show();
  }

  async add(key, times = 1) {
    for (let i = 0; i < times; ++i) {
      await this.db.run("UPDATE watched SET filter = bloom_add(filter, ?1); INSERT INTO watched_keys VALUES (?1)", [key]);
    }
    await this.lookUp(key);
  }

  async remove(key) {
    await this.db.run(`UPDATE watched SET filter = bloom_remove(filter, ?1);
DELETE FROM watched_keys WHERE rowid = (SELECT min(rowid) FROM watched_keys WHERE key = ?1)`, [key]);
    await this.lookUp(key);
  }

  async lookUp(key) {
    this.probed = key;
    find("watch-key").value = key;
    await this.show();
  }

  async addWords(count) {
    const { before } = await this.db.row("SELECT count(*) AS before FROM watched_keys");
    for (let i = before; i < before + count; ++i) {
      await this.db.run("UPDATE watched SET filter = bloom_add(filter, ?1); INSERT INTO watched_keys VALUES (?1)", [words[i] ?? `word ${i}`]);
    }
    this.probed = null;
    await this.show();
  }

  async clear() {
    await this.db.run("DELETE FROM watched_keys");
    this.probed = null;
    find("watch-false-positives").replaceChildren();
    await this.reshape();
  }

  async show() {
    const { filter, info } = await this.db.row("SELECT filter, bloom_info(filter) AS info FROM watched");
    const state = JSON.parse(info);
    this.grid.show(filter, state);
    const keys = await this.db.rows("SELECT key, count(*) AS times, bloom_contains(filter, key) AS found FROM watched_keys, watched GROUP BY key ORDER BY min(watched_keys.rowid)");
    this.#showState(state, keys);
    this.#showKeys(keys);
    await this.#showAnswer();
  }

  #showState(state, keys) {
    const facts = [
      ["keys added", whole.format(keys.length)], ["estimated keys", short.format(state.keys)],
      ["cells set", percentText(state.fill)], ["current FPR", percentText(state.fpr)], ["size", bytesText(state.bytes)],
    ];
    if (state.kind === "counting") facts.push(["saturated counters", whole.format(state.saturated)]);
    find("watch-state").replaceChildren(...factList(facts));
  }

  #showKeys(keys) {
    find("watch-keys").replaceChildren(...keys.map(({ key, times }) => element("li", {},
      element("button", { type: "button", class: "chip", click: this.handler(() => this.lookUp(key)) }, times > 1 ? `${key} × ${times}` : key))));
    const lost = keys.filter(({ found }) => !found).map(({ key }) => key);
    find("watch-lost").textContent = lost.length === 0 ? ""
      : `Answered "absent" although added: ${lost.join(", ")}. A key that was never added was removed, and the removal cleared cells of these keys.`;
  }

  async #showAnswer() {
    if (this.probed === null) {
      this.grid.mark([]);
      find("watch-answer").textContent = "Look up a key to mark its cells.";
      find("watch-positions").replaceChildren();
      return;
    }
    const { maybe, added } = await this.db.row(
      "SELECT bloom_contains(filter, ?1) AS maybe, ?1 IN (SELECT key FROM watched_keys) AS added FROM watched", [this.probed]);
    const positions = await this.db.rows(positionsOfKey, [this.probed]);
    this.grid.mark(positions);
    find("watch-answer").textContent = answerText(this.probed, maybe, added);
    find("watch-answer").className = maybe && !added ? "answer wrong" : "answer";
    const cells = table(`Cells of ${this.probed}`, ["hash", "cell", "value", "keys that set it"],
      positions.map(({ i, cell, value, keys }) => [i, cell, value, JSON.parse(keys).join(", ")]));
    cells.classList.add("cells-of-key");
    find("watch-positions").replaceChildren(cells);
  }

  async lookUpAbsentKeys() {
    const { rate } = await this.db.row("SELECT bloom_fpr(filter) AS rate FROM watched");
    const found = await this.db.rows(falsePositives);
    find("watch-false-positives").replaceChildren(
      element("p", {}, `${whole.format(found.length)} of 1,000 keys that were never added are answered "maybe present". Expected: ${short.format(1000 * rate)}.`),
      element("ul", { class: "chips" }, ...found.slice(0, 12).map(({ key }) =>
        element("li", {}, element("button", { type: "button", class: "chip", click: this.handler(() => this.lookUp(key)) }, key)))));
  }
}

function answerText(key, maybe, added) {
  if (!maybe && added) return `${key}: absent. This is wrong: the key was added.`;
  if (!maybe) return `${key}: certainly absent. At least one of its cells is 0.`;
  if (added) return `${key}: maybe present. The key was added.`;
  return `${key}: maybe present. This is a false positive: other keys have set all of its cells.`;
}

async function startWatch(db) {
  const watch = new Watch(db);
  const key = () => {
    const { value } = find("watch-key");
    if (value === "") throw new Error("Enter a key first.");
    return value;
  };
  const on = (id, work) => find(id).addEventListener("click", watch.handler(work));
  find("watch-form").addEventListener("submit", watch.handler(() => watch.add(key())));
  on("watch-lookup", () => watch.lookUp(key()));
  on("watch-remove", () => watch.remove(key()));
  on("watch-saturate", () => watch.add(key(), 16));
  on("watch-words", () => watch.addWords(10));
  on("watch-clear", () => watch.clear());
  on("watch-absent", () => watch.lookUpAbsentKeys());
  for (const id of ["watch-kind", "watch-m", "watch-k", "watch-blocks"]) {
    find(id).addEventListener("change", watch.handler(() => watch.reshape()));
  }
  await db.run(watchSchema);
  await watch.reshape();
  await watch.addWords(5);
  await watch.lookUp("apple");
}
