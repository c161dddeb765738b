// What tests in a browser share: counting, waiting, Chromium, axe-core, and a server on this machine.
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { readFileSync } from "node:fs";
import http from "node:http";
import { createRequire } from "node:module";
import path from "node:path";

export const screens = [
  { name: "wide", viewport: { width: 1280, height: 900 } },
  { name: "narrow", viewport: { width: 390, height: 844 } },
];

let passed = 0, failed = 0;

export async function check(name, test) {
  try {
    await test();
    passed += 1;
    console.log(`  ok      ${name}`);
  } catch (error) {
    failed += 1;
    console.log(`  FAILED  ${name}\n${error.stack}`);
  }
}

export function conclude() {
  console.log(`${passed} passed, ${failed} failed`);
  return failed === 0 ? 0 : 1;
}

// Waits until look() returns the wanted value: pages change after the event that makes them.
export async function eventually(look, wanted) {
  let got;
  for (const end = Date.now() + 15000; Date.now() < end; await new Promise((go) => setTimeout(go, 50))) {
    got = await look();
    try {
      assert.deepEqual(got, wanted);
      return;
    } catch {
      // Not yet.
    }
  }
  assert.deepEqual(got, wanted);
}

// Chromium, driven by the playwright-core of the folder MODULES, and axe-core from there.
export class Browser {
  static async launch(modules) {
    const require = createRequire(path.resolve(modules, "x.js"));
    const { chromium } = require("playwright-core");
    const browser = new Browser();
    browser.axe = readFileSync(require.resolve("axe-core/axe.min.js"), "utf8");
    browser.chromium = await chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: ["--no-sandbox"] });
    return browser;
  }

  // A page that notes its errors, and the requests that are not allowed, in page.troubles.
  async newPage(mayRequest, options = {}) {
    const page = await this.chromium.newPage({ viewport: screens[0].viewport, ...options });
    page.troubles = [];
    page.on("pageerror", (error) => page.troubles.push(error.message));
    page.on("console", (message) => message.type() === "error" && page.troubles.push(message.text()));
    page.on("request", (request) => {
      if (!/^(blob|data):/.test(request.url()) && !mayRequest(request.url())) page.troubles.push(`fetched ${request.url()}`);
    });
    return page;
  }

  // What axe-core finds wrong in the page, one line each.
  async violations(page) {
    await page.evaluate(this.axe);
    const { violations, passes } = await page.evaluate(() => window.axe.run());
    assert.ok(passes.length > 10);
    return violations.map(({ id, impact, nodes }) => `${impact}: ${id}: ${nodes.map(({ html }) => html).join(" ").slice(0, 300)}`);
  }

  close() {
    return this.chromium.close();
  }
}

const types = {
  ".html": "text/html; charset=utf-8", ".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml", ".png": "image/png",
};

// Serves the files of a folder at the path `base`.
export async function serve(folder, base = "/") {
  const server = http.createServer(async (request, response) => {
    const { pathname } = new URL(request.url, "http://127.0.0.1");
    const name = pathname.startsWith(base) ? path.normalize(decodeURIComponent(pathname.slice(base.length))) : "";
    try {
      const file = path.join(folder, name.startsWith("..") ? "" : name.replace(/(^|\/)\.?$/, "$1index.html"));
      const content = await readFile(file);
      response.writeHead(200, { "Content-Type": types[path.extname(file)] ?? "application/octet-stream" });
      response.end(content);
    } catch {
      response.writeHead(404);
      response.end();
    }
  });
  await new Promise((listening) => server.listen(0, "127.0.0.1", listening));
  return { url: `http://127.0.0.1:${server.address().port}${base}`, close: () => server.close() };
}
