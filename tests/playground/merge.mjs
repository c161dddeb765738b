import { check, eventually } from "../support/browser.mjs";
import { cellsOf, grouped, percent, shownCells, shownTable } from "./support.mjs";

const names = ["a", "b", "result"];
const judge = `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 10000)
  SELECT bloom_fpr(?1), avg(bloom_contains(?1, 'absent ' || i)) FROM n`;

async function set(page, { a, b, kind, operation, halved }) {
  await page.locator("#merge-a").fill(a.join("\n"));
  await page.locator("#merge-b").fill(b.join("\n"));
  await page.locator("#merge-kind").selectOption(kind);
  await page.locator(operation === "union" ? "#merge-union" : "#merge-intersect").check();
  for (const [i, name] of names.entries()) await page.locator(`#merge-halve-${name}`).selectOption(String(halved[i]));
}

async function made(native, { a, b, kind, operation, halved }) {
  const build = (keys, times) => native.value(
    "SELECT bloom_halve(bloom_build(value, 30, 0.02, ?), ?) FROM json_each(?)", kind, times, JSON.stringify(keys));
  const filters = [await build(a, halved[0]), await build(b, halved[1])];
  filters.push(await native.value(`SELECT bloom_halve(bloom_${operation}(?, ?), ?)`, ...filters, halved[2]));
  return filters;
}

export async function testMerge(page, native) {
  const a = ["apple", "pear", "plum", "fig", "quince", "cherry"], b = ["apple", "fig", "oak", "elm", "ash"];
  for (const kind of ["standard", "counting", "partitioned"]) {
    for (const [operation, halved] of [["union", [0, 0, 0]], ["union", [1, 0, 1]], ["intersect", [0, 0, 0]], ["intersect", [0, 2, 1]]]) {
      await check(`merge: ${operation} of ${kind} filters, halved ${halved.join(", ")} times`, async () => {
        const settings = { a, b, kind, operation, halved };
        await set(page, settings);
        const filters = await made(native, settings);
        const infos = [];
        for (const filter of filters) infos.push(JSON.parse(await native.value("SELECT bloom_info(?)", filter)));
        const rates = [];
        for (const filter of filters) rates.push(...await native.rows(judge, filter));
        await eventually(async () => {
          const rows = await shownTable(page, "#merge-table");
          return [rows[1], rows[5], rows[6]].map((row) => row.slice(1));
        }, [infos.map(({ cells }) => grouped(cells)), rates.map(([rate]) => percent(rate)), rates.map(([, measured]) => percent(measured))]);
        for (const [i, name] of names.entries()) {
          await eventually(() => shownCells(page, `merge-cells-${name}`), cellsOf(filters[i].hex, infos[i]));
        }
        const keys = operation === "union" ? 9 : 2;
        await eventually(async () => /finds (\d+)/.exec(await page.locator("#merge-found").textContent())[1], String(keys));
      });
    }
  }
}
