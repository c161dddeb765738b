import assert from "node:assert/strict";
import { createWriteStream, writeFileSync } from "node:fs";
import { once } from "node:events";
import path from "node:path";
import { check, downloaded, eventually } from "../support/browser.mjs";
import { grouped } from "./support.mjs";

const lineCount = 1_000_000;
const status = (page) => page.locator("#file-status").textContent();

// Everything that a line can be.
function oddFile(folder) {
  const file = path.join(folder, "odd <b>lines.txt");
  const long = "x".repeat(3_000_000);
  writeFileSync(file, Buffer.concat([
    Buffer.from(`first\r\n\n\r\nZoë\n42\n42.0\n two words \n${long}\nfirst\n\0nul\0\n`), Buffer.from([0xff, 0xfe, 0x0a]), Buffer.from("last, without an end")]));
  return file;
}

async function longFile(folder) {
  const file = path.join(folder, "million.txt");
  const out = createWriteStream(file);
  for (let i = 0; i < lineCount; i += 1000) {
    out.write(Array.from({ length: 1000 }, (_, j) => `https://example.com/item/${i + j}\n`).join(""));
  }
  out.end();
  await once(out, "finish");
  return file;
}

async function give(page, file, { p = 0.01, kind = "standard", capacity = "" } = {}) {
  await page.locator("#file-p").fill(String(p));
  await page.locator("#file-kind").selectOption(kind);
  await page.locator("#file-capacity").fill(String(capacity));
  await page.locator("#file-input").setInputFiles(file);
}

async function finished(page) {
  await page.waitForFunction(() => /lines in/.test(document.getElementById("file-status").textContent), null, { timeout: 240000 });
  await page.locator("#file-result").waitFor();
}

const download = (page) => downloaded(page, () => page.locator("#file-download").click());

// Notes the frames while a file is read, the longest time between two, and the steps of its progress.
async function watchFrames(page) {
  await page.evaluate(() => {
    window.frames = { longest: 0, count: 0, last: performance.now() };
    const tick = () => {
      const now = performance.now();
      if (!document.getElementById("file-working").hidden) {
        window.frames.longest = Math.max(window.frames.longest, now - window.frames.last);
        window.frames.count += 1;
      }
      window.frames.last = now;
      requestAnimationFrame(tick);
    };
    tick();
    const seen = new Set();
    window.percents = seen;
    new MutationObserver(() => seen.add(document.getElementById("file-percent").textContent))
      .observe(document.getElementById("file-percent"), { childList: true, characterData: true, subtree: true });
  });
}

export async function testFile(page, native, folder) {
  const odd = oddFile(folder);
  for (const settings of [{}, { p: 0.0001, kind: "partitioned" }, { kind: "counting", capacity: 1000 }]) {
    await check(`file: the download is the extension's filter byte for byte, ${JSON.stringify(settings)}`, async () => {
      await give(page, odd, settings);
      await finished(page);
      assert.match(await status(page), /^10 lines in /);
      const { name, bytes } = await download(page);
      assert.match(name, /^odd .*\.bloom$/);
      const { p = 0.01, kind = "standard", capacity = null } = settings;
      assert.equal(bytes.toString("hex"), await native.filterOfFile(odd, capacity, p, kind));
    });
  }
  await check("file: its name is text, whatever is in it", async () => {
    assert.equal(await page.locator("#file b").count(), 0);
    assert.match(await page.locator("#file-download").textContent(), /<b>lines/);
  });
  await check("file: a line is looked up", async () => {
    for (const [line, answer] of [["Zoë", /^Maybe/], ["not in it", /^Certainly absent/]]) {
      await page.locator("#file-line").fill(line);
      await page.locator("#file-line").press("Enter");
      await eventually(async () => answer.test(await page.locator("#file-answer").textContent()), true);
    }
  });
  await check("file: the console has its filter", async () => {
    await page.locator("#console-sql").fill("SELECT bloom_contains(filter, 'Zoë'), length(filter) FROM files WHERE name LIKE 'odd%'");
    await page.getByRole("button", { name: "Run", exact: true }).click();
    const { bytes } = await download(page);
    await eventually(() => page.locator("#console-results td, #console-results tbody th").allTextContents(), ["1", String(bytes.length)]);
  });

  const long = await longFile(folder);
  await check(`file: ${lineCount} lines, and the page goes on`, async () => {
    await watchFrames(page);
    const began = Date.now();
    await give(page, long);
    await finished(page);
    const seconds = (Date.now() - began) / 1000;
    const { longest, count } = await page.evaluate(() => window.frames);
    const percents = await page.evaluate(() => [...window.percents]);
    console.log(`          ${seconds.toFixed(1)} s, ${count} frames, the longest ${longest.toFixed(0)} ms; ${percents.length} steps of progress`);
    assert.match(await status(page), new RegExp(`^${grouped(lineCount)} lines`));
    assert.ok(count > 20 && longest < 500, `${count} frames, one took ${longest} ms`);
    assert.ok(percents.length >= 10 && percents.includes("100 %"), percents.join());
    const { bytes } = await download(page);
    assert.equal(bytes.toString("hex"), await native.filterOfFile(long, null, 0.01, "standard"));
  });
  await check("file: cancelled, and another one read", async () => {
    await give(page, long);
    await page.waitForFunction(() => Number.parseInt(document.getElementById("file-percent").textContent, 10) >= 10);
    await page.getByRole("button", { name: "Cancel" }).click();
    assert.equal(await status(page), "Cancelled.");
    await page.locator("#file-working").waitFor({ state: "hidden" });
    assert.equal(await page.locator("#file-result").isVisible(), false);
    assert.equal(await page.locator("#file-problem").textContent(), "");
    await give(page, odd);
    await finished(page);
    assert.match(await status(page), /^10 lines in /);
  });
  await check("file: another one in place of the one that is read", async () => {
    await give(page, long);
    await page.waitForFunction(() => Number.parseInt(document.getElementById("file-percent").textContent, 10) >= 10);
    await give(page, odd);
    await finished(page);
    await page.waitForTimeout(1500);
    assert.match(await status(page), /^10 lines in /);
    assert.match(await page.locator("#file-download").textContent(), /odd/);
  });
  await check("file: dropped on the page", async () => {
    await page.locator("#file-area").evaluate((area) => {
      const dataTransfer = new DataTransfer();
      dataTransfer.items.add(new File(["one\ntwo\nthree\n"], "dropped.txt"));
      area.dispatchEvent(new DragEvent("drop", { dataTransfer, bubbles: true, cancelable: true }));
    });
    await eventually(async () => /^3 lines/.test(await status(page)), true);
  });
  await check("file: an empty one", async () => {
    const empty = path.join(folder, "empty.txt");
    writeFileSync(empty, "");
    await give(page, empty);
    await eventually(async () => /^0 lines/.test(await status(page)), true);
    assert.equal((await download(page)).bytes.toString("hex"), (await native.rows("SELECT bloom_create(1)"))[0][0].hex);
  });
  await check("file: impossible values are reported in the extension's words", async () => {
    await give(page, odd, { p: 2 });
    await eventually(() => page.locator("#file-problem").textContent(), await native.error("SELECT bloom_build(1, NULL, 2.0, 'standard')"));
  });
}
