import assert from "node:assert/strict";
import { check, eventually } from "../support/browser.mjs";
import { cellsOf, shownCells, shownTable } from "./support.mjs";

const falsePositives = `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000)
  SELECT 'absent ' || i FROM n WHERE bloom_contains(?, 'absent ' || i)`;

const keysIn = (page) => page.locator("#watch-keys button").allTextContents();
const answer = (page) => page.locator("#watch-answer").textContent();

async function shape(page, { kind = "standard", cells = 128, hashes = 4, blocks = 1 }) {
  await page.locator("#watch-kind").selectOption(kind);
  await page.locator("#watch-m").selectOption(String(cells));
  await page.locator("#watch-k").fill(String(hashes));
  await page.locator("#watch-k").blur();
  await page.locator("#watch-blocks").selectOption(String(blocks));
}

const fresh = (native, { kind = "standard", cells = 128, hashes = 4, blocks = 1 }) =>
  native.value("SELECT bloom_create_sized(?, ?, ?, ?)", cells, hashes, kind, cells / blocks);

async function withKeys(native, filter, keys) {
  for (const key of keys) filter = await native.value("SELECT bloom_add(?, ?)", filter, key);
  return filter;
}

async function press(page, key, button) {
  await page.locator("#watch-key").fill(key);
  await page.locator("#watch").getByRole("button", { name: button, exact: true }).click();
}

async function sameCells(page, filter, settings) {
  await eventually(() => shownCells(page, "watch-cells"), cellsOf(filter.hex, { kind: "standard", cells: 128, ...settings }));
}

export async function testWatch(page, native) {
  for (const settings of [{}, { kind: "partitioned" }, { cells: 512, hashes: 3, blocks: 4 }, { kind: "counting", cells: 64, hashes: 2 }]) {
    await check(`watch: cells and positions, ${JSON.stringify(settings)}`, async () => {
      await shape(page, settings);
      await page.getByRole("button", { name: "Clear" }).click();
      await eventually(() => keysIn(page), []);
      const keys = ["oak", "Zoë", "42", "a,b 'c'"];
      for (const [i, key] of keys.entries()) {
        await press(page, key, "Add");
        await eventually(async () => (await keysIn(page)).length, i + 1);
      }
      const filter = await withKeys(native, await fresh(native, settings), keys);
      await sameCells(page, filter, settings);
      for (const key of ["oak", "elm"]) {
        await press(page, key, "Look up");
        const positions = await native.rows("SELECT i, cell, value FROM bloom_positions(?, ?)", filter, key);
        await eventually(async () => (await shownTable(page, "#watch-positions")).slice(1).map((row) => row.slice(0, 3).map(Number)), positions);
        const ringed = await page.locator("#watch-cells > .cell").evaluateAll((cells) => cells.flatMap((cell, i) => (cell.classList.contains("probed") ? [i] : [])));
        assert.deepEqual(ringed, [...new Set(positions.map(([, cell]) => cell))].sort((a, b) => a - b));
      }
    });
  }
  await check("watch: false positives appear, and as many as the extension finds", async () => {
    await shape(page, {});
    await page.getByRole("button", { name: "Clear" }).click();
    await eventually(() => keysIn(page), []);
    for (const count of [10, 20]) {
      await page.getByRole("button", { name: "Add 10 words" }).click();
      await eventually(async () => (await keysIn(page)).length, count);
    }
    const filter = await withKeys(native, await fresh(native, {}), await keysIn(page));
    await sameCells(page, filter, {});
    const found = (await native.rows(falsePositives, filter)).flat();
    assert.ok(found.length > 0);
    await page.getByRole("button", { name: "Look up 1,000 absent keys" }).click();
    await eventually(() => page.locator("#watch-false-positives button").allTextContents(), found.slice(0, 12));
    assert.match(await page.locator("#watch-false-positives p").textContent(), new RegExp(`^${found.length} of 1,000 `));
    await page.locator("#watch-false-positives button").first().click();
    await eventually(() => answer(page), `${found[0]}: maybe present. This is a false positive: other keys have set all of its cells.`);
  });
  await check("watch: counters count, stick at 15, and stay", async () => {
    const settings = { kind: "counting" };
    await shape(page, settings);
    await page.getByRole("button", { name: "Clear" }).click();
    await eventually(() => keysIn(page), []);
    await press(page, "fig", "Add");
    await press(page, "fig", "Add 16 times");
    await eventually(() => keysIn(page), ["fig × 17"]);
    let filter = await withKeys(native, await fresh(native, settings), Array(17).fill("fig"));
    await sameCells(page, filter, settings);
    assert.ok((await shownCells(page, "watch-cells")).includes(15));
    await press(page, "fig", "Remove");
    await eventually(() => keysIn(page), ["fig × 16"]);
    filter = await native.value("SELECT bloom_remove(?, 'fig')", filter);
    await sameCells(page, filter, settings);
    const saturated = await native.value("SELECT json_extract(bloom_info(?), '$.saturated')", filter);
    assert.match(await page.locator("#watch-state").textContent(), new RegExp(`saturated counters${saturated}$`));
  });
  await check("watch: an absent key cannot be removed, in the extension's words", async () => {
    const filter = await fresh(native, { kind: "counting" });
    await press(page, "nowhere", "Remove");
    await eventually(() => page.locator("#watch-problem").textContent(), await native.error("SELECT bloom_remove(?, 'nowhere')", filter));
  });
  await check("watch: removing what was never added loses keys, and the page says which", async () => {
    const settings = { kind: "counting" };
    await page.getByRole("button", { name: "Clear" }).click();
    await eventually(() => keysIn(page), []);
    await page.getByRole("button", { name: "Add 10 words" }).click();
    await eventually(async () => (await keysIn(page)).length, 10);
    await page.getByRole("button", { name: "Add 10 words" }).click();
    await eventually(async () => (await keysIn(page)).length, 20);
    const keys = await keysIn(page);
    let filter = await withKeys(native, await fresh(native, settings), keys);
    const lost = [];
    for (const [absent] of await native.rows(falsePositives, filter)) {
      await press(page, absent, "Remove");
      filter = await native.value("SELECT bloom_remove(?, ?)", filter, absent);
      await sameCells(page, filter, settings);
      for (const key of keys) {
        if (await native.value("SELECT NOT bloom_contains(?, ?)", filter, key)) lost.push(key);
      }
      if (lost.length > 0) break;
    }
    assert.ok(lost.length > 0);
    await eventually(async () => (await page.locator("#watch-lost").textContent()).includes(`absent" although added: ${lost.join(", ")}.`), true);
  });
  await check("watch: by the keyboard alone", async () => {
    await shape(page, {});
    await page.getByRole("button", { name: "Clear" }).click();
    await eventually(() => keysIn(page), []);
    await page.locator("#watch-key").focus();
    await page.keyboard.press("Control+A");
    await page.keyboard.type("medlar");
    await page.keyboard.press("Enter");
    await eventually(() => keysIn(page), ["medlar"]);
    await page.keyboard.press("Control+A");
    await page.keyboard.type("sloe");
    await page.keyboard.press("Tab");
    await page.keyboard.press("Tab");
    await page.keyboard.press("Space");
    await eventually(() => answer(page), "sloe: certainly absent. At least one of its cells is 0.");
  });
  await check("watch: a key is text, whatever is in it", async () => {
    const key = "<img src=x onerror='window.broken = 1'>";
    await press(page, key, "Add");
    await eventually(async () => (await keysIn(page)).at(-1), key);
    assert.equal(await page.locator("main img").count(), 0);
    assert.equal(await page.evaluate(() => window.broken), undefined);
  });
}
