// What tests in a browser share: counting, waiting, browsers, axe-core, and a server on this machine.
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import http from "node:http";
import { createRequire } from "node:module";
import os from "node:os";
import path from "node:path";
import { WebKitPage } from "./webkit.mjs";

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
  for (const end = Date.now() + 60000; Date.now() < end; await new Promise((go) => setTimeout(go, 50))) {
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

// What Firefox takes from its settings, and Chromium from each page.
const firefoxSettings = ({ colorScheme, reducedMotion }) => ({
  "layout.css.prefers-color-scheme.content-override": colorScheme === "dark" ? 0 : 1,
  "ui.prefersReducedMotion": reducedMotion === "reduce" ? 1 : 0,
});

// Opens a page that notes its errors, and the requests that are not allowed, in page.troubles.
const openers = {
  async chromium({ chromium }, mayRequest, options) {
    const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: ["--no-sandbox"] });
    return noteTroubles(await browser.newPage(options), mayRequest);
  },
  // Firefox by its standard protocol, WebDriver BiDi: without touch screens, and playwright-core misses its downloads.
  async firefox({ firefox }, mayRequest, { isMobile, hasTouch, ...options }) {
    const downloads = mkdtempSync(path.join(os.tmpdir(), "firefox-"));
    const browser = await firefox.launch({
      channel: "moz-firefox", executablePath: process.env.FIREFOX ?? "/usr/bin/firefox-esr", downloadsPath: downloads,
      firefoxUserPrefs: firefoxSettings(options),
    });
    const page = noteTroubles(await browser.newPage(options), mayRequest);
    page.on("close", () => rmSync(downloads, { recursive: true, force: true }));
    return Object.assign(page, { downloads });
  },
  webkit: (playwright, mayRequest, options) => WebKitPage.open(mayRequest, options),
};

function noteTroubles(page, mayRequest) {
  page.troubles = [];
  page.on("pageerror", (error) => page.troubles.push(error.message));
  page.on("console", (message) => message.type() === "error" && page.troubles.push(message.text()));
  page.on("request", (request) => {
    if (!/^(blob|data):/.test(request.url()) && !mayRequest(request.url())) page.troubles.push(`fetched ${request.url()}`);
  });
  page.on("close", () => page.context().browser().close());
  return page;
}

// A browser, "chromium", "firefox" or "webkit", with playwright-core and axe-core of the folder MODULES. Each page has its
// own process.
export class Browser {
  constructor(modules, name = "chromium") {
    const require = createRequire(path.resolve(modules, "x.js"));
    this.name = name;
    this.playwright = require("playwright-core");
    this.axe = readFileSync(require.resolve("axe-core/axe.min.js"), "utf8");
  }

  newPage(mayRequest, options = {}) {
    return openers[this.name](this.playwright, mayRequest, { viewport: screens[0].viewport, ...options });
  }

  // What went wrong in the page.
  async troubles(page) {
    await page.readTroubles?.();
    return page.troubles;
  }

  // What axe-core finds wrong in the page, one line each.
  async violations(page) {
    await page.evaluate(this.axe);
    const { violations, passes } = await page.evaluate(() => window.axe.run());
    assert.ok(passes.length > 10);
    return violations.map(({ id, impact, nodes }) => `${impact}: ${id}: ${nodes.map(({ html }) => html).join(" ").slice(0, 300)}`);
  }
}

// Returns the name and the bytes of the file that act() downloads.
export async function downloaded(page, act) {
  if (!page.downloads) {
    const [download] = await Promise.all([page.waitForEvent("download"), act()]);
    return { name: download.suggestedFilename(), bytes: readFileSync(await download.path()) };
  }
  await act();
  const sizes = () => readdirSync(page.downloads).map((name) => [name, statSync(path.join(page.downloads, name)).size]);
  let last = [];
  await eventually(async () => {
    const before = last;
    last = sizes();
    return last.length === 1 && last[0][1] > 0 && String(last) === String(before);
  }, true);
  const [[name]] = last;
  const file = path.join(page.downloads, name);
  const bytes = readFileSync(file);
  rmSync(file);
  return { name, bytes };
}

const types = {
  ".html": "text/html; charset=utf-8", ".js": "text/javascript", ".mjs": "text/javascript", ".wasm": "application/wasm",
  ".css": "text/css", ".svg": "image/svg+xml", ".png": "image/png",
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
