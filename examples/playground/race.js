// The race: one join with a filter in front of the index, and without. It has its own database in its own worker, so that
// the rest of the page starts meanwhile.

const raceQueries = {
  "plain SQLite": "SELECT count(*) FROM visits AS v JOIN blocked AS b ON b.url = v.url",
  "with a filter": "SELECT count(*) FROM visits AS v JOIN checked AS c ON v.url = c.key",
};
const raceRounds = 3;

// ?1 URLs, ?2 visits, ?3 of 1,000 visits are on the list. The URLs have no order, so a lookup finds its page by chance.
const raceData = [
  "DROP VIEW IF EXISTS checked", "DROP TABLE IF EXISTS seen", "DROP TABLE IF EXISTS blocked", "DROP TABLE IF EXISTS visits",
  "CREATE TABLE blocked(url TEXT PRIMARY KEY) WITHOUT ROWID",
  `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?1)
  INSERT INTO blocked SELECT printf('https://%08x.example/%d', i * 2654435761 % 4294967296, i) FROM n ORDER BY 1`,
  "CREATE TABLE visits(url TEXT)",
  `WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < ?2 - 1),
  k(i, here, j) AS (SELECT i, i * 617 % 1000 < ?3, CAST(i * 7919 % ?1 + 1 AS INTEGER) FROM n)
  INSERT INTO visits SELECT printf(iif(here, 'https://%08x.example/%d', 'https://%08x.test/%d'), j * 2654435761 % 4294967296, j) FROM k`,
  "CREATE VIRTUAL TABLE seen USING bloom(source=blocked, column=url)",
  "CREATE VIEW checked AS SELECT f.key, b.* FROM seen AS f JOIN blocked AS b ON b.url = +f.key",
];

const median = (values) => values.toSorted((a, b) => a - b)[(values.length - 1) >> 1];

// Returns { found, ms } of each query.
async function race(db, { rows, visits, share }) {
  for (const sql of raceData) await db.run(sql, [rows, visits, 10 * share].slice(0, Math.max(0, ...sql.match(/\?\d/g)?.map((at) => Number(at[1])) ?? [])));
  const results = Object.fromEntries(Object.keys(raceQueries).map((name) => [name, { times: [] }]));
  for (let round = 0; round < raceRounds; ++round) {
    for (const [name, sql] of Object.entries(raceQueries)) {
      const began = performance.now();
      const [{ rows: [[found]] }] = await db.run(sql);
      results[name].times.push(performance.now() - began);
      results[name].found = found;
    }
  }
  return Object.entries(results).map(([name, { found, times }]) => ({ name, found, ms: median(times) }));
}

function raceText([plain, filtered], means = "filter") {
  const ratio = plain.ms / filtered.ms;
  if (ratio > 0.95 && ratio < 1.05) return "Both take the same time.";
  return ratio > 1 ? `With the ${means}: ${ratio.toFixed(1)} times faster.` : `With the ${means}: ${Math.round(100 / ratio - 100)} % slower.`;
}

function raceBars(results) {
  const longest = Math.max(...results.map(({ ms }) => ms));
  return results.map(({ name, ms }, i) => element("div", { class: "racer" }, element("span", {}, name),
    element("span", { class: "track" }, element("span", { class: `bar ${i ? "standard" : "plain"}`, style: `width: ${100 * ms / longest}%` })),
    element("span", {}, `${short.format(ms)} ms`)));
}

// Ends with the first race.
function startRace(engine) {
  const db = new Database(engine);
  const button = find("race-start");
  const setting = (id) => Number(find(id).value);
  find("race-sql").textContent = Object.values(raceQueries).map((sql) => `${sql};`).join("\n")
    + `\n\n-- The filter and the view:\n${raceData.slice(-2).map((sql) => `${sql};`).join("\n")}`;
  const run = latestOnly(telling(find("race-problem"), async () => {
    find("race-problem").textContent = "";
    find("race-answer").textContent = "Racing ...";
    button.disabled = true;
    try {
      const given = { rows: setting("race-rows"), visits: setting("race-visits"), share: setting("race-share") };
      const results = await race(db, given);
      if (results[0].found !== results[1].found) throw new Error(`different results: ${results.map(({ found }) => found).join(" and ")}`);
      const { bytes, lookups, absent } = await db.row("SELECT bytes, lookups, absent FROM seen");
      find("race-answer").textContent = raceText(results);
      find("race-bars").replaceChildren(...raceBars(results));
      find("race-facts").textContent = `Both find ${whole.format(results[0].found)} of ${whole.format(given.visits)} visits. `
        + `The filter takes ${bytesText(bytes)}, and saved ${percentText(absent / lookups)} of the lookups.`;
    } catch (error) {
      find("race-answer").textContent = "";
      throw error;
    } finally {
      button.disabled = false;
    }
  }));
  pairWithSlider("race-share", () => {});
  find("race-form").addEventListener("submit", (event) => { event.preventDefault(); run(); });
  find("race-share-slider").addEventListener("change", run);
  return run();
}
