// A search as you type: the lines of a log, by a bloom_search table and by a scan of the log, in a database of its own.

const searchLines = 200_000;
const searchData = [
  "CREATE TABLE log(id INTEGER PRIMARY KEY, user TEXT, line TEXT)",
  // 25 users at a time send 20 requests each; x and y have no order.
  `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${searchLines}),
  r(i, who, x, y) AS (SELECT i, (i / 500 * 25 + i * 7 % 25) * 7919 % 3000, i * 2654435761 % 4294967296, i * 40503 % 65521 FROM n)
  INSERT INTO log SELECT i, substr('annabentcoradoraemilhanaivanjulekofilena', who % 10 * 4 + 1, 4) || who,
    printf('%s %s%d %d %d ms request %08x%08x', datetime(1767225600 + i * 3, 'unixepoch'),
      CASE y % 5 WHEN 0 THEN 'GET /products/' WHEN 1 THEN 'GET /orders/' WHEN 2 THEN 'POST /payments/' WHEN 3 THEN 'GET /search?page='
        ELSE 'GET /account/invoices/' END, x % 50000,
      CASE WHEN i / 300 % 97 = 7 AND y % 4 = 0 THEN 503 WHEN y % 97 = 0 THEN 404 ELSE 200 END, y % 300, x, x % 1000003 * y * 2654435 % 4294967291) FROM r`,
  "CREATE VIRTUAL TABLE log_search USING bloom_search(source=log, like=(line), equal=(user))",
];

// Returns what the visitor wants. `hasGram`: the filters can help with the text.
function searchWanted() {
  const needle = find("search-needle").value, user = find("search-user").value.trim();
  const conditions = [["line LIKE", needle && `%${needle}%`], ["user =", user]].filter(([, value]) => value);
  return {
    where: conditions.map(([condition], i) => `${condition} ?${i + 1}`).join(" AND ") || "true",
    values: conditions.map(([, value]) => value), user,
    hasGram: /[^%_\u0080-\u00bf]{4}/u.test(needle),
  };
}

// Repeats a query for 15 ms, because the clocks of browsers are coarse. Returns { name, found, ms }.
async function timedCount(db, table, name, { where, values }) {
  const began = performance.now();
  for (let rounds = 1; ; ++rounds) {
    const { found } = await db.row(`SELECT count(*) AS found FROM ${table} WHERE ${where}`, values);
    const ms = performance.now() - began;
    if (ms >= 15) return { name, found, ms: ms / rounds };
  }
}

// Returns the ids [first, last] that the search table reads for a query, and the statements in which it reads them.
async function searchReads(db, { where, values }) {
  const { statements } = await db.run(`SELECT count(*) FROM log_search WHERE ${where}`, values, { trace: true });
  const reads = statements.filter((sql) => /^SELECT `id`, .* FROM "main"\."log" /.test(sql));
  const runs = reads.map((sql) => /NOT INDEXED WHERE `id` BETWEEN (-?\d+) AND (-?\d+)/.exec(sql)?.slice(1).map(Number) ?? [1, searchLines])
    .map(([first, last]) => [Math.max(first, 1), Math.min(last, searchLines)]).filter(([first, last]) => first <= last);
  return { reads, runs, rows: runs.reduce((sum, [first, last]) => sum + last - first + 1, 0) };
}

function searchText([scan, search], { user, hasGram }, isScan) {
  const found = `${whole.format(search.found)} ${search.found === 1 ? "line" : "lines"}. `;
  if (!isScan) return found + raceText([scan, search], "search table");
  if (user === "" && !hasGram) return `${found}Fewer than 4 characters in a row: the filters cannot help, so this is a scan of all rows.`;
  return `${found}More than half of the ranges may have such lines, so this is a scan of all rows.`;
}

async function showSearch(db, ranges, tableBytes) {
  const wanted = searchWanted(), { where, values } = wanted;
  const first = `SELECT id, user, line FROM log_search WHERE ${where} ORDER BY id LIMIT 10`;
  const rounds = [];
  for (let i = 0; i < 2; ++i) rounds.push([await timedCount(db, "log", "plain scan", wanted), await timedCount(db, "log_search", "search table", wanted)]);
  const times = rounds[0].map((one, i) => ({ ...one, ms: Math.min(one.ms, rounds[1][i].ms) }));
  if (times[0].found !== times[1].found) throw new Error(`different results: ${times.map(({ found }) => found).join(" and ")}`);
  const [{ rows }] = await db.run(first, values);
  const { detail } = await db.row(`EXPLAIN QUERY PLAN ${first}`, values);
  const { reads, runs, rows: rowsRead } = await searchReads(db, wanted);
  const family = ranges.filter(({ isKey }) => Boolean(isKey) === (wanted.user !== "" && !wanted.hasGram));
  const rangesRead = family.filter((range) => runs.some(([from, to]) => from <= range.last && range.first <= to));
  const { bytes } = await db.row("SELECT bytes FROM log_search LIMIT 1");
  const isScan = rowsRead === searchLines;
  find("search-answer").textContent = searchText(times, wanted, isScan);
  find("search-answer").classList.toggle("wrong", isScan);
  find("search-bars").replaceChildren(...raceBars(times));
  find("search-facts").replaceChildren(...factList([
    ["rows read", `${whole.format(rowsRead)} of ${whole.format(searchLines)}`],
    ["ranges read", `${rangesRead.length} of ${family.length}`],
    ["size of the filters", `${bytesText(bytes)}, ${percentText(bytes / tableBytes)} of the table`],
  ]));
  find("search-rows").replaceChildren(...(rows.length ? [table("The first 10 lines found", ["id", "user", "line"], rows)] : []));
  find("search-sql").textContent = [first.replace(/\?(\d)/g, (_, i) => sqlText(values[i - 1])), ...searchData].map((sql) => `${sql};`).join("\n\n")
    + `\n\n-- The plan:\n-- ${detail}\n-- Statements of the search table on log: ${reads.length}${reads.slice(0, 3).map((sql) => `\n--   ${sql}`).join("")}`;
}

// The table is large, so it is made when a visitor comes near it.
async function startSearch(engine) {
  await inView(find("search-form"));
  const db = new Database(engine);
  find("search-answer").textContent = `Making a search table of ${whole.format(searchLines)} lines ...`;
  for (const sql of searchData.slice(0, 2)) await db.run(sql);
  const { bytes } = await db.row("SELECT page_count * page_size AS bytes FROM pragma_page_count, pragma_page_size");
  await db.run(searchData[2]);
  const ranges = await db.rows("SELECT id < 1 << 60 AS isKey, first, last FROM log_search_ranges");
  const show = latestOnly(telling(find("search-problem"), () => showSearch(db, ranges, bytes)));
  find("search-form").addEventListener("input", show);
  find("search-form").addEventListener("submit", (event) => event.preventDefault());
  for (const example of document.querySelectorAll("#search-examples button")) {
    example.addEventListener("click", () => {
      for (const field of ["needle", "user"]) find(`search-${field}`).value = example.dataset[field] ?? "";
      show();
    });
  }
  await show();
}
