import assert from "node:assert/strict";
import { check, eventually } from "../support/browser.mjs";
import { grouped } from "./support.mjs";

const text = (page, id) => page.locator(`#race-${id}`).textContent();

async function start(page, settings) {
  for (const [name, value] of Object.entries(settings)) await page.locator(`#race-${name}`).fill(String(value));
  await page.getByRole("button", { name: "Race", exact: true }).click();
}

// What the filter of a list of this size takes, and how the page writes it.
async function size(native, rows) {
  await native.rows("DROP TABLE IF EXISTS blocked");
  await native.rows("CREATE TABLE blocked(url)");
  await native.rows(`WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${rows}) INSERT INTO blocked SELECT i FROM n`);
  await native.rows("CREATE VIRTUAL TABLE seen USING bloom(source=blocked, column=url)");
  const bytes = await native.value("SELECT bytes FROM seen");
  await native.rows("DROP TABLE seen");
  return `The filter takes ${grouped(bytes)} bytes`;
}

export async function testRace(page, native) {
  await check("race: the page opens with one", async () => {
    await eventually(async () => /^(With the filter: [\d.]+ (times faster|% slower)|Both take)/.test(await text(page, "answer")), true);
    assert.match(await text(page, "facts"), /^Both find 1,000 of 100,000 visits/);
    assert.equal(await page.locator("#race-bars .racer").count(), 2);
  });
  await check("race: other data, compared with the extension", async () => {
    await start(page, { rows: 3000, visits: 20000, share: 25 });
    await eventually(async () => (await text(page, "facts")).split(".")[0], "Both find 5,000 of 20,000 visits");
    assert.ok((await text(page, "facts")).includes(await size(native, 3000)));
    assert.match(await text(page, "facts"), /saved 7[45](\.\d)? % of the lookups/);
  });
  await check("race: a filter that saves nothing", async () => {
    await start(page, { share: 100 });
    await eventually(async () => /^Both find 20,000 of 20,000 .* saved 0 %/.test(await text(page, "facts")), true);
  });
  await check("race: the slider races again", async () => {
    await page.locator("#race-share-slider").fill("10");
    await eventually(async () => (await text(page, "facts")).split(".")[0], "Both find 2,000 of 20,000 visits");
  });
}
