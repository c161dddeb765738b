import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { check, eventually } from "../support/browser.mjs";

// What examples/tour.sql promises.
function promises() {
  const tour = readFileSync(new URL("../../examples/tour.sql", import.meta.url), "utf8");
  return [...tour.matchAll(/^--> (.*)$/gm)].map(([, line]) => line);
}

// What the page shows, as the shell would print it.
async function printed(page) {
  const rows = await page.locator("#console-results tbody tr").evaluateAll((all) =>
    all.map((row) => [...row.cells].map((cell) => cell.textContent)));
  return rows.map((row) => row.map((text) => (text === "NULL" ? "" : text)).join("|"));
}

const status = (page) => page.locator("#console-status").textContent();
const problem = (page) => page.locator("#console-problem").textContent();

async function done(page) {
  await page.waitForFunction(() => /^Done/.test(document.getElementById("console-status").textContent));
}

async function run(page, sql) {
  await page.locator("#console-sql").fill(sql);
  await page.locator("#console-sql").press("Control+Enter");
}

export async function testConsole(page) {
  const steps = page.locator("#console-tour button");
  await check("SQL: a step of the tour runs those before it", async () => {
    await steps.nth(3).click();
    await eventually(() => printed(page), ["3225"]);
    await done(page);
    await page.reload();
    await page.waitForSelector("html[data-ready]");
  });
  await check("SQL: the tour gives what examples/tour.sql promises", async () => {
    const lines = [];
    for (let step = 0; step < await steps.count(); ++step) {
      await steps.nth(step).click();
      await page.waitForTimeout(50);
      await done(page);
      assert.equal(await problem(page), "");
      lines.push(...await printed(page));
    }
    assert.ok(lines.length > 10);
    assert.deepEqual(lines, promises());
  });
  await check("SQL: an error is SQLite's, and what came before it is shown", async () => {
    await run(page, "SELECT 1; SELECT bloom_contains('text', 1); SELECT 2");
    await eventually(() => problem(page), "bloom_contains: argument 1 is not a bloom filter ('text')");
    assert.deepEqual(await printed(page), ["1"]);
  });
  await check("SQL: numbers, NULL, blobs and text as the shell has them", async () => {
    await run(page, "SELECT 42.0, 9007199254740993, NULL, x'00ff', '<b>' || char(10) || 'é'");
    await eventually(() => printed(page), ["42.0|9007199254740993||x'00ff' (2 bytes)|<b>\né"]);
  });
  await check("SQL: of many rows the first", async () => {
    await run(page, "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n");
    await eventually(async () => (await printed(page)).length, 200);
  });
  await check("SQL: what does not end is stopped", async () => {
    await run(page, "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT max(i) FROM n");
    await page.waitForTimeout(300);
    await page.getByRole("button", { name: "Stop", exact: true }).click();
    await eventually(() => status(page), "The database is empty.");
    await run(page, "SELECT bloom_contains(bloom_build('a'), 'a')");
    await eventually(() => printed(page), ["1"]);
  });
  await check("SQL: the tour starts again", async () => {
    await steps.nth(1).click();
    await eventually(() => printed(page), promises().slice(0, 1));
    await steps.nth(0).click();
    await eventually(() => problem(page), "table known already exists");
    await page.getByRole("button", { name: "Reset database" }).click();
    await eventually(() => printed(page), []);
    await steps.nth(1).click();
    await eventually(() => printed(page), promises().slice(0, 1));
    assert.equal(await problem(page), "");
  });
}
