// The size calculator: the filter of each kind for n and p, or for m and k.

const kinds = ["standard", "counting", "partitioned"];

// Keeps a slider, which may be logarithmic, and the number beside it in sync.
function pairWithSlider(name, changed) {
  const slider = find(`${name}-slider`), number = find(name);
  const isLog = slider.dataset.scale === "log";
  const rounded = (value) => (value >= 1 ? Math.round(value) : Number(value.toPrecision(2)));
  const toSlider = () => { slider.value = isLog ? Math.log10(number.value) : number.value; };
  slider.addEventListener("input", () => {
    number.value = isLog ? rounded(Number((10 ** slider.value).toPrecision(3))) : slider.value;
    changed();
  });
  number.addEventListener("input", () => { toSlider(); changed(); });
  toSlider();
}

function sizingSettings() {
  return {
    byCells: find("by-cells").checked,
    n: Number(find("n").value), p: Number(find("p").value),
    m: Number(find("m").value), k: Number(find("k").value),
    block: find("block").value,
  };
}

// m, rounded up to whole blocks, or to whole slices of a partitioned filter.
function wholeCells({ m, k, block }, kind) {
  const unit = Number(block) || (kind === "partitioned" ? k : 1);
  return Math.ceil(m / unit) * unit;
}

function tableOptions(settings, kind) {
  const block = settings.block === "" ? [] : [`block=${settings.block}`];
  const size = settings.byCells
    ? [`cells=${wholeCells(settings, kind)}`, `hashes=${settings.k}`]
    : [`capacity=${settings.n}`, `fpr=${settings.p}`];
  return [...size, `kind=${kind}`, ...block].join(", ");
}

// The filter of one kind. A virtual table without keys has its properties and takes no memory, however large it is.
async function sizeOfKind(db, settings, kind) {
  try {
    const { info } = await db.row(
      `DROP TABLE IF EXISTS sized;
CREATE VIRTUAL TABLE sized USING bloom(${tableOptions(settings, kind)});
SELECT info FROM sized`);
    const { cells, hashes, block, bytes } = JSON.parse(info);
    const { rate } = await db.row("SELECT bloom_rate(?1, ?2, ?3, ?4, ?5) AS rate", [cells, settings.n, hashes, kind, block]);
    return { kind, cells, hashes, block, bytes, rate };
  } catch (error) {
    return { kind, error: error.message.replace(/^bloom: /, "") };
  }
}

function blockText({ cells, block }) {
  return block === 0 || block === cells ? "unblocked" : whole.format(block);
}

function sizeTable(sizes, n) {
  const rows = [
    ["cells, m", ({ cells }) => whole.format(cells)], ["hashes, k", ({ hashes }) => hashes], ["cells per block", blockText],
    ["size", ({ bytes }) => bytesText(bytes)], ["bits per key", ({ bytes }) => short.format(8 * bytes / n)],
    ["predicted FPR", ({ rate }) => percentText(rate)],
  ];
  return propertyTable(`A filter for ${whole.format(n)} keys`, "kind", sizes.map((size) => ({ ...size, name: size.kind })), rows);
}

// Returns `count` integers from low to high in about equal ratios.
function spread(low, high, count) {
  const step = (high / low) ** (1 / (count - 1));
  return [...new Set(Array.from({ length: count }, (_, i) => Math.round(low * step ** i)))];
}

function rateAxis(sizes) {
  const lowest = Math.min(...sizes.map(({ rate }) => rate).filter((rate) => rate > 0), 0.1);
  const range = [10 ** (Math.max(-15, Math.floor(Math.log10(lowest)) - 2)), 1];
  return { label: "false-positive rate", kind: "log", range, ticks: powersOfTen(range, 7), text: powerText };
}

async function ratesByKeys(db, { kind, cells, hashes, block }, counts) {
  const rows = await db.rows("SELECT value AS at, bloom_rate(?2, value, ?3, ?4, ?5) AS rate FROM json_each(?1)",
    [JSON.stringify(counts), cells, hashes, kind, block]);
  return { name: kind, points: rows.map(({ at, rate }) => [at, rate]) };
}

// A partitioned filter has only the k that divide its block.
async function ratesByHashes(db, { kind, cells, block }, n, counts) {
  const rows = await db.rows(
    `SELECT value AS at, bloom_rate(?2, ?3, value, ?4, ?5) AS rate FROM json_each(?1)
 WHERE CASE WHEN ?4 = 'partitioned' THEN iif(?5, ?5, ?2) % value = 0 ELSE 1 END`,
    [JSON.stringify(counts), cells, n, kind, block]);
  return { name: kind, points: rows.map(({ at, rate }) => [at, rate]) };
}

async function drawCurves(db, sizes, n) {
  const y = rateAxis(sizes);
  const keys = [Math.max(1, n / 10), n * 10];
  const counts = spread(...keys, 41);
  drawChart(find("rate-by-keys"), {
    title: "False-positive rate by number of keys",
    x: { label: "keys in the filter", kind: "log", range: keys, ticks: powersOfTen(keys, 5), text: powerText }, y,
    series: await Promise.all(sizes.map((size) => ratesByKeys(db, size, counts))),
    marks: sizes.map(({ kind, rate }) => ({ name: kind, at: [n, rate] })),
  });
  const most = Math.min(255, Math.max(16, ...sizes.map(({ hashes }) => 2 * hashes)));
  const hashes = Array.from({ length: most }, (_, i) => i + 1);
  drawChart(find("rate-by-hashes"), {
    title: "False-positive rate by hashes per key",
    x: { label: `hashes per key, k (${whole.format(n)} keys)`, kind: "linear", range: [1, most], text: String,
      ticks: hashes.filter((k) => k % Math.ceil(most / 8) === 0) }, y,
    series: await Promise.all(sizes.map((size) => ratesByHashes(db, size, n, hashes))),
    marks: sizes.map(({ kind, hashes: k, rate }) => ({ name: kind, at: [k, rate] })),
  });
}

function startSizing(db) {
  const show = latestOnly(telling(find("sizing-problem"), async () => {
    const settings = sizingSettings();
    find("by-keys-fields").hidden = settings.byCells;
    find("by-cells-fields").hidden = !settings.byCells;
    const sizes = [];
    for (const kind of kinds) sizes.push(await sizeOfKind(db, settings, kind));
    const possible = sizes.filter(({ error }) => !error);
    find("sizing-problem").textContent = sizes.filter(({ error }) => error).map(({ kind, error }) => `${kind}: ${error}`).join("\n");
    find("sizes").replaceChildren(sizeTable(possible, settings.n));
    if (possible.length > 0) await drawCurves(db, possible, settings.n);
  }));
  for (const name of ["n", "p", "m", "k"]) pairWithSlider(name, show);
  for (const control of document.querySelectorAll("[name=known], #block")) control.addEventListener("change", show);
  return show();
}
