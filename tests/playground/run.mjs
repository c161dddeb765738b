// Clicks through the page in a real browser and compares what it says with the extension.
//   node run.mjs PAGE EXTENSION MODULES PICTURES
// MODULES has playwright-core and axe-core; pictures of the page go to the folder PICTURES.
import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import http from "node:http";
import { createRequire } from "node:module";
import os from "node:os";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { check, conclude, Native } from "./support.mjs";
import { testConsole } from "./console.mjs";
import { testFile } from "./file.mjs";
import { testMerge } from "./merge.mjs";
import { testSizing } from "./sizing.mjs";
import { testWatch } from "./watch.mjs";

const [pagePath, extension, modules, pictures] = process.argv.slice(2).map((name) => path.resolve(name));
const require = createRequire(path.join(modules, "x.js"));
const { chromium } = require("playwright-core");
const axe = readFileSync(require.resolve("axe-core/axe.min.js"), "utf8");

async function serve() {
  const server = http.createServer((request, response) => {
    response.writeHead(request.url === "/" ? 200 : 404, { "Content-Type": "text/html; charset=utf-8" });
    response.end(request.url === "/" ? readFileSync(pagePath) : "");
  });
  await new Promise((listening) => server.listen(0, "127.0.0.1", listening));
  return { url: `http://127.0.0.1:${server.address().port}/`, close: () => server.close() };
}

// A page that is ready, with what went wrong in it and what it fetched.
async function open(browser, url, options = {}) {
  const page = await browser.newPage({ viewport: { width: 1280, height: 900 }, ...options });
  page.troubles = [];
  page.on("pageerror", (error) => page.troubles.push(error.message));
  page.on("console", (message) => message.type() === "error" && page.troubles.push(message.text()));
  page.on("request", (request) => {
    if (!/^(blob|data):/.test(request.url()) && request.url() !== url) page.troubles.push(`fetched ${request.url()}`);
  });
  await page.goto(url);
  await page.waitForSelector("html[data-ready]", { timeout: 60000 });
  return page;
}

async function withPage(browser, url, options, use) {
  const page = await open(browser, url, options);
  await use(page);
  await check("nothing went wrong in the page, and nothing was fetched", () => assert.deepEqual(page.troubles, []));
  await page.close();
}

// Some of everything, so that there is something to look at.
async function fillPage(page) {
  await page.locator("#watch-kind").selectOption("counting");
  await page.locator("#watch-words").click();
  await page.locator("#watch-stranger").click();
  await page.locator("#watch-strangers p").waitFor();
  await page.locator("#console-tour button").nth(2).click();
  await page.locator("#console-results table").waitFor();
  await page.locator("#file-input").setInputFiles({ name: "lines.txt", mimeType: "text/plain", buffer: Buffer.from("one\ntwo\nthree\n") });
  await page.locator("#file-result").waitFor();
  for (const details of await page.locator("details > summary").all()) await details.click();
}

async function testAccess(browser, url) {
  for (const colorScheme of ["light", "dark"]) {
    for (const viewport of [{ width: 1280, height: 900 }, { width: 390, height: 844 }]) {
      const page = await open(browser, url, { colorScheme, viewport, reducedMotion: "reduce" });
      await fillPage(page);
      await page.evaluate(axe);
      await check(`axe-core finds nothing, ${colorScheme}, ${viewport.width} wide`, async () => {
        const { violations, passes } = await page.evaluate(() => window.axe.run());
        assert.ok(passes.length > 20);
        assert.deepEqual(violations.map(({ id, impact, nodes }) => `${impact}: ${id}: ${nodes.map(({ html }) => html).join(" ").slice(0, 300)}`), []);
      });
      await check(`nothing sticks out sideways, ${colorScheme}, ${viewport.width} wide`, async () =>
        assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), viewport.width));
      await page.close();
    }
  }
}

async function takePictures(browser, url) {
  mkdirSync(pictures, { recursive: true });
  for (const [name, viewport, colorScheme] of [
    ["wide", { width: 1280, height: 900 }, "light"], ["phone", { width: 390, height: 844 }, "dark"],
  ]) {
    const page = await open(browser, url, { viewport, colorScheme, reducedMotion: "reduce" });
    await page.locator("#sizing").evaluate((section) => section.scrollIntoView());
    await page.screenshot({ path: path.join(pictures, `size-${name}.png`) });
    await page.locator("#watch-kind").selectOption("counting");
    await page.locator("#watch-words").click();
    await page.getByRole("button", { name: "cherry" }).waitFor();
    await page.getByRole("button", { name: "apple" }).click();
    await page.locator("#watch-words").click();
    await page.getByRole("button", { name: "willow" }).or(page.getByRole("button", { name: "ash" })).first().waitFor();
    await page.locator("#watch-stranger").click();
    await page.locator("#watch-strangers button").first().click();
    await page.getByText("A false positive").waitFor();
    await page.locator("#watch").evaluate((section) => section.scrollIntoView());
    await page.waitForTimeout(300);
    await page.screenshot({ path: path.join(pictures, `watch-${name}.png`) });
    await page.close();
  }
}

async function main() {
  const folder = mkdtempSync(path.join(os.tmpdir(), "playground-"));
  const native = new Native(extension);
  const server = await serve();
  const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: ["--no-sandbox"] });
  try {
    const file = pathToFileURL(pagePath).href;
    await withPage(browser, file, {}, (page) => testSizing(page, native));
    await withPage(browser, file, {}, (page) => testWatch(page, native));
    await withPage(browser, file, {}, (page) => testMerge(page, native));
    await withPage(browser, file, {}, (page) => testFile(page, native, folder));
    await withPage(browser, file, {}, testConsole);
    console.log("  from a server, on a phone:");
    const phone = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true };
    await withPage(browser, server.url, phone, (page) => testWatch(page, native));
    await withPage(browser, server.url, phone, testConsole);
    await testAccess(browser, file);
    await takePictures(browser, file);
  } finally {
    await browser.close();
    server.close();
    native.stop();
    rmSync(folder, { recursive: true });
  }
}

await main();
process.exitCode = conclude();
