import assert from "node:assert/strict";
import { check, eventually } from "../support/browser.mjs";
import { grouped, percent, shownTable } from "./support.mjs";

const kinds = ["standard", "counting", "partitioned"];

async function shape(page, settings) {
  await page.locator(settings.m ? "#by-cells" : "[name=known]:not(#by-cells)").check();
  for (const name of ["n", "p", "m", "k"]) {
    if (settings[name] !== undefined) await page.locator(`#${name}`).fill(String(settings[name]));
  }
  await page.locator("#block").selectOption(settings.block ?? "");
}

// Rows as the page shows them: cells, hashes, block, and rate at the end.
async function shown(page) {
  const rows = await shownTable(page, "#sizes");
  return [rows[1], rows[2], rows[3], rows[6]].map((row) => row?.slice(1));
}

const columns = (sizes) => [
  sizes.map(([cells]) => grouped(cells)), sizes.map(([, hashes]) => String(hashes)),
  sizes.map(([cells, , block]) => (block === 0 || block === cells ? "unblocked" : grouped(block))),
  sizes.map(([, , , rate]) => percent(rate)),
];

const plan = (native, n, p) => native.rows("SELECT cells, hashes, block, fpr FROM bloom_plan(?, ?)", n, p);

async function plannedWithBlock(native, n, p, block) {
  const sizes = [];
  for (const kind of kinds) {
    await native.rows("DROP TABLE IF EXISTS sized");
    await native.rows(`CREATE VIRTUAL TABLE sized USING bloom(capacity=${n}, fpr=${p}, kind=${kind}, block=${block})`);
    sizes.push((await native.rows(`SELECT cells, hashes, block, bloom_rate(cells, ?, hashes, ?, block) FROM (SELECT
      json_extract(info, '$.cells') AS cells, json_extract(info, '$.hashes') AS hashes, json_extract(info, '$.block') AS block FROM sized)`, n, kind))[0]);
  }
  return sizes;
}

async function sized(native, n, m, k, block) {
  const sizes = [];
  for (const kind of kinds) {
    const unit = block || (kind === "partitioned" ? k : 1);
    const cells = Math.ceil(m / unit) * unit;
    sizes.push([cells, k, block, await native.value("SELECT bloom_rate(?, ?, ?, ?, ?)", cells, n, k, kind, block)]);
  }
  return sizes;
}

// Every number behind a curve is the one that the extension gives.
async function compareCurve(native, page, chart, rateAt) {
  const [heads, ...rows] = await shownTable(page, `#${chart}`);
  assert.deepEqual(heads.slice(1), kinds);
  assert.ok(rows.length > 10);
  for (const [at, ...rates] of rows) {
    const number = Number(at.replaceAll(",", ""));
    for (const [i, kind] of kinds.entries()) {
      if (rates[i] !== "") assert.equal(rates[i], percent(await rateAt(number, kind, i)), `${chart} of ${kind} at ${at}`);
    }
  }
}

export async function testSizing(page, native) {
  for (const [n, p] of [[1000000, 0.01], [1, 0.5], [1000, 0.0001], [123456789, 1e-7], [1000000000, 0.003]]) {
    await check(`size: ${n} keys at ${p}`, async () => {
      await shape(page, { n, p });
      await eventually(() => shown(page), columns(await plan(native, n, p)));
    });
  }
  for (const block of [0, 512, 4096, 32768]) {
    await check(`size: with blocks of ${block} cells`, async () => {
      await shape(page, { n: 1000000, p: 0.001, block: String(block) });
      await eventually(() => shown(page), columns(await plannedWithBlock(native, 1000000, 0.001, block)));
    });
  }
  for (const [m, k, block] of [[10000000, 7, 0], [1001, 3, 0], [1000000, 8, 512]]) {
    await check(`size: ${m} cells, ${k} hashes, blocks of ${block}`, async () => {
      await shape(page, { n: 100000, m, k, block: String(block) });
      await eventually(() => shown(page), columns(await sized(native, 100000, m, k, block)));
    });
  }
  await check("size: impossible values are reported in the extension's words", async () => {
    await shape(page, { n: 100000, m: 1000000, k: 7, block: "512" });
    await eventually(() => page.locator("#sizing-problem").textContent(),
      (await native.error("SELECT bloom_create_sized(1024, 7, 'partitioned', 512)")).replace("bloom_create_sized", "partitioned"));
  });
  await check("size: sliders move the numbers", async () => {
    await shape(page, { n: 1000, p: 0.01 });
    await page.locator("#n-slider").fill("4");
    assert.equal(await page.locator("#n").inputValue(), "10000");
    await eventually(() => shown(page), columns(await plan(native, 10000, 0.01)));
  });
  await check("size: curves", async () => {
    await shape(page, { n: 50000, p: 0.001 });
    const sizes = await plan(native, 50000, 0.001);
    await eventually(() => shown(page), columns(sizes));
    await page.waitForTimeout(500);
    await compareCurve(native, page, "rate-by-keys", (n, kind, i) =>
      native.value("SELECT bloom_rate(?, ?, ?, ?, ?)", sizes[i][0], n, sizes[i][1], kind, sizes[i][2]));
    await compareCurve(native, page, "rate-by-hashes", (k, kind, i) =>
      native.value("SELECT bloom_rate(?, ?, ?, ?, ?)", sizes[i][0], 50000, k, kind, sizes[i][2]));
    assert.equal(await page.locator("#rate-by-keys polyline").count(), 3);
  });
}
