// Two filters of the same capacity and rate: halved, merged, intersected, and the resulting false-positive rate.

const buildFilter = `SELECT bloom_halve(bloom_build(value, ?2, ?3, ?4), ?5) AS filter FROM json_each(?1)`;

const mergeFilters = {
  union: "SELECT bloom_halve(bloom_union(?1, ?2), ?3) AS filter",
  intersect: "SELECT bloom_halve(bloom_intersect(?1, ?2), ?3) AS filter",
};

// The false-positive rate: predicted from the cells, and measured with 10,000 lookups.
const judgeFilter = `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 10000)
SELECT bloom_info(?1) AS info, avg(bloom_contains((SELECT bloom_open(?1)), 'absent ' || i)) AS measured FROM n`;

const countFound = "SELECT count(*) AS keys, total(bloom_contains(?1, value)) AS found FROM json_each(?2)";

const linesOf = (id) => [...new Set(find(id).value.split(/\r?\n/).filter((line) => line !== ""))];
const halvings = (id) => Number(find(id).value);

async function madeFilters(db) {
  const shape = [Number(find("merge-capacity").value), Number(find("merge-p").value), find("merge-kind").value];
  const build = async (name) =>
    (await db.row(buildFilter, [JSON.stringify(linesOf(`merge-${name}`)), ...shape, halvings(`merge-halve-${name}`)])).filter;
  const a = await build("a"), b = await build("b");
  const operation = find("merge-union").checked ? "union" : "intersect";
  const { filter } = await db.row(mergeFilters[operation], [a, b, halvings("merge-halve-result")]);
  return { a, b, result: filter, operation };
}

async function startMerge(db) {
  const grids = Object.fromEntries(["a", "b", "result"].map((name) => [name, new CellGrid(find(`merge-cells-${name}`))]));
  const show = latestOnly(telling(find("merge-problem"), async () => {
    const made = await madeFilters(db);
    const judged = [];
    for (const [name, title] of [["a", "A"], ["b", "B"], ["result", made.operation === "union" ? "A or B" : "A and B"]]) {
      const { info, measured } = await db.row(judgeFilter, [made[name]]);
      const state = JSON.parse(info);
      grids[name].show(made[name], state);
      judged.push({ ...state, measured, name: title });
    }
    find("merge-table").replaceChildren(propertyTable("The three filters", "filter", judged, [
      ["cells", ({ cells }) => whole.format(cells)], ["size", ({ bytes }) => bytesText(bytes)],
      ["estimated keys", ({ keys }) => short.format(keys)], ["cells set", ({ fill }) => percentText(fill)],
      ["FPR, predicted", ({ fpr }) => percentText(fpr)], ["FPR, 10,000 lookups", ({ measured: rate }) => percentText(rate)],
    ]));
    await showFound(db, made);
  }));
  find("merge-form").addEventListener("input", show);
  find("merge-form").addEventListener("submit", (event) => event.preventDefault());
  await show();
}

// Counts the keys that the result finds: all of them, or a key is lost.
async function showFound(db, { result, operation }) {
  const a = linesOf("merge-a"), b = linesOf("merge-b");
  const keys = operation === "union" ? [...new Set([...a, ...b])] : a.filter((key) => b.includes(key));
  const { keys: added, found } = await db.row(countFound, [result, JSON.stringify(keys)]);
  find("merge-found").textContent = `The result finds ${found} of the ${added} keys that are in ${
    operation === "union" ? "A or B" : "A and B"}.`;
}
