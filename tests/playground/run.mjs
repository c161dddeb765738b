// Clicks through the page in a real browser and compares what it says with the extension.
//   node run.mjs BROWSER PAGE EXTENSION MODULES PICTURES
// BROWSER is chromium, firefox or webkit; MODULES has playwright-core and axe-core. Chromium also takes pictures of the page,
// in the folder PICTURES.
import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { Browser, check, conclude, screens, serve } from "../support/browser.mjs";
import { Native } from "./support.mjs";
import { testConsole } from "./console.mjs";
import { testFile } from "./file.mjs";
import { testMerge } from "./merge.mjs";
import { testRace } from "./race.mjs";
import { searchReady, testSearch } from "./search.mjs";
import { testSizing } from "./sizing.mjs";
import { testWatch } from "./watch.mjs";

const browserName = process.argv[2];
const [pagePath, extension, modules, pictures] = process.argv.slice(3).map((name) => path.resolve(name));

// A page that is ready. In one of fifteen tries Firefox 153 ESR shows nothing of it: its own thread and a worker's wait for the
// same lock. So it gets three attempts, which the log tells.
async function open(browser, url, options) {
  for (let left = browserName === "firefox" ? 2 : 0; ; --left) {
    const page = await browser.newPage((requested) => requested === url, options);
    try {
      await page.goto(url);
      await page.waitForSelector("html[data-ready]", { timeout: 60000 });
      return page;
    } catch (error) {
      const problem = await page.locator("#page-problem").textContent({ timeout: 1000 }).catch(() => "nothing of it is there");
      const said = `the page did not start: ${problem} ${await browser.troubles(page)}`;
      if (left === 0) throw new Error(said, { cause: error });
      console.log(`  opened again: ${said}`);
      await page.close();
    }
  }
}

async function withPage(browser, url, options, use) {
  const page = await open(browser, url, options);
  await use(page);
  await check("nothing went wrong in the page, and nothing was fetched", async () => assert.deepEqual(await browser.troubles(page), []));
  await page.close();
}

// Some of everything, so that there is something to look at.
async function fillPage(page) {
  await page.locator("#watch-kind").selectOption("counting");
  await page.locator("#watch-words").click();
  await page.locator("#watch-absent").click();
  await page.locator("#watch-false-positives p").waitFor();
  await page.locator("#console-tour button").nth(2).click();
  await page.locator("#console-results table").waitFor();
  await page.locator("#file-input").setInputFiles({ name: "lines.txt", mimeType: "text/plain", buffer: Buffer.from("one\ntwo\nthree\n") });
  await page.locator("#file-result").waitFor();
  await searchReady(page);
  for (const details of await page.locator("details > summary").all()) await details.click();
}

async function testAccess(browser, url) {
  for (const colorScheme of ["light", "dark"]) {
    for (const { name, viewport } of screens) {
      const page = await open(browser, url, { colorScheme, viewport, reducedMotion: "reduce" });
      await fillPage(page);
      await check(`axe-core finds nothing, ${colorScheme}, ${name}`, async () => {
        assert.equal(await page.evaluate((scheme) => matchMedia(`(prefers-color-scheme: ${scheme})`).matches, colorScheme), true);
        assert.deepEqual(await browser.violations(page), []);
      });
      await check(`nothing sticks out sideways, ${colorScheme}, ${name}`, async () =>
        assert.equal(await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth), 0));
      await page.close();
    }
  }
}

// Pictures of whole sections: nothing in them is cut off.
async function takePictures(browser, url) {
  mkdirSync(pictures, { recursive: true });
  for (const [name, viewport, colorScheme] of [
    ["wide", { width: 1280, height: 900 }, "light"], ["phone", { width: 390, height: 844 }, "dark"],
  ]) {
    const page = await open(browser, url, { viewport, colorScheme, reducedMotion: "reduce" });
    await page.locator("#race-bars .racer").first().waitFor();
    await page.locator("#race").screenshot({ path: path.join(pictures, `race-${name}.png`) });
    await searchReady(page);
    await page.locator("#search").screenshot({ path: path.join(pictures, `search-${name}.png`) });
    await page.locator("#sizing").screenshot({ path: path.join(pictures, `size-${name}.png`) });
    await page.locator("#watch-kind").selectOption("counting");
    await page.locator("#watch-words").click();
    await page.getByRole("button", { name: "cherry" }).waitFor();
    await page.getByRole("button", { name: "apple" }).click();
    await page.locator("#watch-words").click();
    await page.getByRole("button", { name: "willow" }).or(page.getByRole("button", { name: "ash" })).first().waitFor();
    await page.locator("#watch-absent").click();
    await page.locator("#watch-false-positives button").first().click();
    await page.getByText("This is a false positive").waitFor();
    await page.locator("#watch").screenshot({ path: path.join(pictures, `watch-${name}.png`) });
    await page.close();
  }
}

async function main() {
  const folder = mkdtempSync(path.join(os.tmpdir(), "playground-"));
  const native = new Native(extension);
  const server = await serve(path.dirname(pagePath));
  const browser = new Browser(modules, browserName);
  try {
    const file = pathToFileURL(pagePath).href;
    await withPage(browser, file, {}, (page) => testRace(page, native));
    await withPage(browser, file, {}, (page) => testSearch(page, native));
    await withPage(browser, file, {}, (page) => testSizing(page, native));
    await withPage(browser, file, {}, (page) => testWatch(page, native));
    await withPage(browser, file, {}, (page) => testMerge(page, native));
    await withPage(browser, file, {}, (page) => testFile(page, native, folder));
    await withPage(browser, file, {}, testConsole);
    console.log("  from a server, on a phone:");
    const phone = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true };
    await withPage(browser, server.url, phone, (page) => testWatch(page, native));
    await withPage(browser, server.url, phone, (page) => testSearch(page, native));
    await withPage(browser, server.url, phone, testConsole);
    await testAccess(browser, file);
    if (browserName === "chromium") await takePictures(browser, file);
  } finally {
    server.close();
    native.stop();
    rmSync(folder, { recursive: true });
  }
}

await main();
process.exitCode = conclude();
