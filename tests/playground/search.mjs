import assert from "node:assert/strict";
import { check, eventually } from "../support/browser.mjs";
import { grouped, percent, shownTable } from "./support.mjs";

const lines = 200000;
const answer = (page) => page.locator("#search-answer").textContent();
const sql = (page) => page.locator("#search-sql").textContent();

async function type(page, { needle = "", user = "" }) {
  await page.locator("#search-needle").fill(needle);
  await page.locator("#search-user").fill(user);
}

// The page makes its table after the race, when its part is in view.
export async function searchReady(page) {
  await page.evaluate(() => document.getElementById("search").scrollIntoView());
  await page.waitForFunction(() => document.querySelector("#search-facts dd"), undefined, { timeout: 120000 });
  assert.equal(await page.locator("#search-problem").textContent(), "");
}

const pages = (native) => native.value("SELECT page_count - freelist_count FROM pragma_page_count, pragma_freelist_count");

// The same tables in the extension, by the statements that the page shows. Returns the bytes of the log: its pages, and the
// first one of the page's database.
async function copyTables(page, native) {
  for (const name of ["log_search", "log"]) await native.rows(`DROP TABLE IF EXISTS ${name}`);
  const [, ...statements] = (await sql(page)).split("\n\n-- The plan:")[0].split(/;\n\n|;$/).filter(Boolean);
  assert.equal(statements.length, 3);
  const before = await pages(native);
  for (const statement of statements.slice(0, 2)) await native.rows(statement);
  const bytes = 4096 * (await pages(native) - before + 1);
  await native.rows(statements[2]);
  return bytes;
}

async function facts(page) {
  const texts = await page.locator("#search-facts dd").allTextContents();
  const [[rows, ofRows], [ranges, ofRanges]] = texts.map((text) => text.split(" of ").map((part) => Number(part.replaceAll(",", ""))));
  return { rows, ofRows, ranges, ofRanges, size: texts[2] };
}

const quoted = (text) => `'${text.replaceAll("'", "''")}'`;

// The plain scan of the extension: a wanted line is one that it finds.
function condition({ needle = "", user = "" }) {
  const conditions = [needle && `line LIKE ${quoted(`%${needle}%`)}`, user && `user = ${quoted(user)}`];
  return conditions.filter(Boolean).join(" AND ") || "true";
}

// Waits until the page shows this search, then compares its lines and their number with those of the plain scan.
async function compareRows(page, native, search) {
  const where = condition(search);
  const rows = await native.rows(`SELECT id, user, line FROM log WHERE ${where} ORDER BY id LIMIT 10`);
  const count = await native.value(`SELECT count(*) FROM log WHERE ${where}`);
  await eventually(async () => (await sql(page)).startsWith(`SELECT id, user, line FROM log_search WHERE ${where} ORDER BY id LIMIT 10;`), true);
  assert.deepEqual((await shownTable(page, "#search-rows")).slice(1), rows.map((row) => row.map(String)));
  assert.match(await answer(page), new RegExp(`^${grouped(count)} lines?\\. `));
  assert.equal(await page.locator("#search-bars .racer").count(), 2);
  return count;
}

// Every range that has a wanted line was read, and the rows that were read are those of the ranges.
async function compareReads(page, native, { needle }) {
  const read = await facts(page);
  const [[all, wanted, least, most]] = await native.rows(`SELECT count(*), sum(has), min(size), max(size) FROM (
    SELECT last - max(first, 1) + 1 AS size, EXISTS (SELECT 1 FROM log WHERE id BETWEEN first AND last AND line LIKE ?) AS has
    FROM log_search_ranges WHERE id >= 1 << 60)`, `%${needle}%`);
  assert.equal(read.ofRows, lines);
  assert.equal(read.ofRanges, all);
  assert.ok(read.ranges >= wanted, `${read.ranges} of ${wanted} ranges`);
  assert.ok(read.rows >= read.ranges * least && read.rows <= read.ranges * most, `${read.rows} rows of ${read.ranges} ranges`);
  return read;
}

// Parts of lines that are spread over the table, with other case and with wildcards.
async function needles(native) {
  const all = [];
  for (let i = 0; i < 16; ++i) {
    const [[line]] = await native.rows("SELECT line FROM log WHERE id = ?", (i * 77773) % lines + 1);
    const start = (i * 31) % 64, part = line.slice(start, start + 4 + i);
    all.push([part, part.toUpperCase(), `${part.slice(0, 4)}%${line.slice(-4)}`, part.replace(/^(....)./, "$1_")][i % 4]);
  }
  return [...all, "no such line", "it's", "Zoë?", "%%%%", "____"];
}

export async function testSearch(page, native) {
  await check("search: the page opens with one", async () => {
    await searchReady(page);
    const tableBytes = await copyTables(page, native);
    assert.equal(await compareRows(page, native, { needle: "660fb4a0" }), 1);
    const bytes = await native.value("SELECT bytes FROM log_search LIMIT 1");
    assert.equal((await facts(page)).size, `${Number((bytes / 1e6).toPrecision(3))} MB, ${percent(bytes / tableBytes)} of the table`);
  });
  await check("search: parts of lines, compared with the plain scan", async () => {
    for (const needle of await needles(native)) {
      await type(page, { needle });
      await compareRows(page, native, { needle });
      await compareReads(page, native, { needle });
    }
  });
  await check("search: a rare text reads few rows", async () => {
    const needle = (await native.value("SELECT line FROM log WHERE id = 150000")).slice(-16);
    await type(page, { needle });
    assert.equal(await compareRows(page, native, { needle }), 1);
    const read = await compareReads(page, native, { needle });
    assert.ok(read.rows < lines / 50, `${read.rows} rows`);
    assert.match(await answer(page), /^1 line\. With the search table: [\d.]+ times faster\.$/);
  });
  await check("search: a user, with a text and without", async () => {
    const [[user, line]] = await native.rows("SELECT user, line FROM log WHERE id = 123456");
    for (const needle of ["", "GET", "request", line.slice(20, 40), "no such line"]) {
      await type(page, { needle, user });
      await compareRows(page, native, { needle, user });
      const plan = needle ? "equal(user) AND like(line)" : "equal(user)";
      assert.ok((await sql(page)).includes(`-- SCAN log_search VIRTUAL TABLE INDEX 1:${plan} [`), await sql(page));
      assert.ok((await facts(page)).rows < lines / 2);
    }
    await type(page, { user: "nobody" });
    assert.equal(await compareRows(page, native, { user: "nobody" }), 0);
    assert.equal((await facts(page)).ofRanges, await native.value("SELECT count(*) FROM log_search_ranges WHERE id < 1 << 60"));
  });
  await check("search: too short a text is a scan, and the page says so", async () => {
    for (const needle of ["a", "503", "GE%T ", "a_b_c"]) {
      await type(page, { needle });
      await compareRows(page, native, { needle });
      assert.match(await answer(page), /Fewer than 4 characters in a row: the filters cannot help, so this is a scan of all rows\.$/);
      assert.equal((await facts(page)).rows, lines);
    }
    await type(page, {});
    assert.equal(await compareRows(page, native, {}), lines);
    assert.match(await answer(page), /this is a scan of all rows\.$/);
  });
  await check("search: a common text is a scan, and the page says so", async () => {
    await type(page, { needle: "request" });
    assert.equal(await compareRows(page, native, { needle: "request" }), lines);
    assert.match(await answer(page), /More than half of the ranges may have such lines, so this is a scan of all rows\.$/);
    assert.equal((await facts(page)).rows, lines);
  });
  await check("search: the examples", async () => {
    for (const button of await page.locator("#search-examples button").all()) {
      await button.click();
      const [needle, user] = [await page.locator("#search-needle").inputValue(), await page.locator("#search-user").inputValue()];
      assert.ok(await compareRows(page, native, { needle, user }) > 0, needle);
    }
  });
  await check("search: each key searches, and the last one counts", async () => {
    await type(page, {});
    await page.locator("#search-needle").focus();
    await page.keyboard.type("orders/28003");
    await compareRows(page, native, { needle: "orders/28003" });
  });
  await check("search: a text is text, whatever is in it", async () => {
    const needle = "<img src=x onerror='window.broken = 1'>";
    await type(page, { needle });
    assert.equal(await compareRows(page, native, { needle }), 0);
    assert.equal(await page.locator("main img").count(), 0);
    assert.equal(await page.evaluate(() => window.broken), undefined);
  });
}
