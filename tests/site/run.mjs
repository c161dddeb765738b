// Clicks through the site in a real browser, on a wide and on a narrow screen.
//   node run.mjs SITE BASE MENU MODULES PICTURES
// SITE is the folder of the built site, which is served as BASE; MENU is the file with the groups of pages that the
// navigation must show; pictures of the site go to the folder PICTURES.
import assert from "node:assert/strict";
import { mkdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { Browser, check, conclude, eventually, screens, serve } from "../support/browser.mjs";

const [site, base, menuFile, modules, pictures] = process.argv.slice(2);
const menu = JSON.parse(readFileSync(menuFile, "utf8"));
const wide = screens[0], narrow = screens[1];

class Reader {
  // A reader with a page of the site open. mode: of the reader's system, light or dark.
  static async of(browser, server, screen, mode = "light") {
    const reader = new Reader();
    Object.assign(reader, { browser, server, screen });
    reader.page = await browser.newPage((url) => url.startsWith(server.url),
      { viewport: screen.viewport, colorScheme: mode, reducedMotion: "reduce" });
    await reader.open("");
    return reader;
  }

  async open(name) {
    await this.page.goto(this.server.url + name);
    // Vue has taken over from the HTML that the server sent.
    await this.page.waitForFunction(() => document.querySelector("#app")?.__vue_app__);
  }

  async leave() {
    await check("nothing went wrong in the site, and no request left it", async () => assert.deepEqual(await this.browser.troubles(this.page), []));
    await this.page.close();
  }
}

const heading = (page) => page.locator("main h1").evaluate((title) => title.firstChild.textContent.trim());
const isDark = (page) => page.evaluate(() => document.documentElement.classList.contains("dark"));
const background = (page) => page.evaluate(() => getComputedStyle(document.body).backgroundColor);

// Every page that can be reached by links, as { links, ids } by address.
async function crawl(reader) {
  const found = new Map(), waiting = [reader.server.url];
  while (waiting.length > 0) {
    const url = waiting.pop();
    if (found.has(url)) continue;
    await reader.open(url.slice(reader.server.url.length));
    const { links, ids, broken } = await reader.page.evaluate(() => ({
      links: [...document.querySelectorAll("main a[href], aside a[href], nav a[href], .VPHome a[href]")].map((link) => link.href),
      ids: [...document.querySelectorAll("[id]")].map((element) => element.id),
      broken: [...document.images].filter((image) => image.naturalWidth === 0).map((image) => image.src),
    }));
    found.set(url, { links, ids, broken });
    const own = links.filter((link) => link.startsWith(reader.server.url)).map((link) => link.split("#")[0]);
    waiting.push(...own.filter((link) => /(\/|\.html)$/.test(link)));
  }
  return found;
}

async function testLinks(reader) {
  const found = await crawl(reader);
  await check("links: every page of the navigation is reached", () => {
    const wanted = menu.flatMap(({ items }) => items.map(({ link }) => `${reader.server.url}${link.slice(1)}.html`));
    assert.deepEqual(wanted.filter((url) => !found.has(url)), []);
  });
  await check(`links: each one in ${found.size} pages leads to a page and to a heading that are there`, async () => {
    const bad = [];
    for (const [url, { links }] of found) {
      for (const link of links.filter((each) => each.startsWith("http://127.0.0.1"))) {
        const [address, anchor] = link.split("#");
        const target = found.get(address);
        if (!target) {
          const { ok } = await reader.page.request.get(address).then((response) => ({ ok: response.ok() }));
          if (!ok) bad.push(`${url}: ${link}`);
        } else if (anchor && !target.ids.includes(decodeURIComponent(anchor))) {
          bad.push(`${url}: ${link}`);
        }
      }
    }
    assert.deepEqual(bad, []);
  });
  await check("every picture is shown", () =>
    assert.deepEqual([...found].flatMap(([url, { broken }]) => broken.map((source) => `${url}: ${source}`)), []));
  return [...found.keys()];
}

async function testNavigation(reader) {
  const { page } = reader;
  await check("navigation: the groups and pages are in order", async () => {
    await reader.open("docs/getting-started.html");
    const shown = await page.locator(".VPSidebar .group").evaluateAll((groups) => groups.map((group) => ({
      text: group.querySelector("h2").textContent, items: [...group.querySelectorAll("a")].map((link) => link.textContent),
    })));
    assert.deepEqual(shown, menu.map(({ text, items }) => ({ text, items: items.map((item) => item.text) })));
  });
  await check(`navigation: a click opens a page, ${reader.screen.name}`, async () => {
    const { text } = menu.at(-1).items[0];
    if (reader.screen === narrow) await page.locator(".VPLocalNav .menu").click();
    await page.locator(".VPSidebar").getByRole("link", { name: text, exact: true }).click();
    await eventually(() => heading(page), text);
  });
}

async function testSearch(reader) {
  const { page } = reader;
  for (const [words, ...wanted] of [["downgrade", "Operate in production"], ["worth it", "Is it worth it?"],
    ["cannot list the keys of a Bloom filter", "Errors", "Bloom tables"],
    ["Runtime error near line 3: f: cannot list the keys of a Bloom filter (give the key: key = ?, key IN (...)", "Errors", "Bloom tables"],
    ["Parse error near line 1: no such module: bloom", "Errors", "Messages of SQLite"],
    ["Runtime error: urls_seen: the triggers of source 'urls' are missing or have changed, so keys may be missing from the filter", "Errors", "Tables that follow another"],
    ["Error: stepping, bloom: cannot follow 'urls' with writers=any: 'id' is an INTEGER PRIMARY KEY, so BEFORE triggers do not see the final value", "Errors", "Tables that follow another"],
    ["bloom_remove: argument 2 must be a key that was added, got 'x', which is not in the filter (19)", "Errors"]]) {
    await check(`search: "${words}" leads to "${wanted.join(": ")}" first, ${reader.screen.name}`, async () => {
      await reader.open("");
      await page.locator(".VPNavBarSearch button").click();
      await page.locator("#localsearch-input").fill(words);
      const isWanted = (text) => wanted.every((title) => text.includes(title));
      await eventually(async () => isWanted(await page.locator("#localsearch-list .result").first().textContent()), true);
    });
  }
  await check(`search: finds a function and opens its section, ${reader.screen.name}`, async () => {
    await reader.open("");
    await page.locator(".VPNavBarSearch button").click();
    await page.locator("#localsearch-input").fill("bloom_union");
    await page.locator("#localsearch-list .result").first().waitFor();
    await page.locator("#localsearch-input").press("Enter");
    await page.waitForURL(/#/);
    // The address changes before the page does.
    await eventually(async () => /bloom_union/.test(await page.locator("main").textContent()), true);
  });
}

async function testModes(reader) {
  const { page } = reader;
  await check(`dark mode: follows the system, the switch and the next visit, ${reader.screen.name}`, async () => {
    await page.emulateMedia({ colorScheme: "light" });
    await reader.open("");
    assert.equal(await isDark(page), false);
    const light = await background(page);
    if (reader.screen === narrow) await page.locator(".VPNavBarHamburger").click();
    await page.locator(".VPSwitchAppearance:visible").click();
    await eventually(() => isDark(page), true);
    assert.notEqual(await background(page), light);
    await page.reload();
    assert.equal(await isDark(page), true);
    await page.evaluate(() => localStorage.clear());
    await page.emulateMedia({ colorScheme: "dark" });
    await page.reload();
    assert.equal(await isDark(page), true);
  });
}

async function testPlayground(reader) {
  const { page } = reader;
  await check(`the playground is one of the pages, ${reader.screen.name}`, async () => {
    await page.emulateMedia({ colorScheme: "light" });
    await reader.open("playground.html");
    await page.evaluate(() => localStorage.setItem("vitepress-theme-appearance", "dark"));
    await page.reload();
    const frame = page.frameLocator("iframe.playground");
    await frame.locator("html[data-ready]").waitFor({ timeout: 60000 });
    await frame.locator("#console-sql").fill("SELECT bloom_contains(bloom_build('a'), 'a') AS answer");
    await frame.getByRole("button", { name: "Run", exact: true }).click();
    await eventually(() => frame.locator("#console-results tbody").textContent(), "1");
    assert.equal(await frame.locator("html").evaluate((root) => getComputedStyle(root).colorScheme), "dark");
    assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), reader.screen.viewport.width);
    await page.evaluate(() => localStorage.clear());
  });
}

// axe-core on every page: what is not serious does not keep a reader out.
async function testAccess(reader, urls, mode) {
  const serious = [], tooWide = [];
  for (const url of urls) {
    await reader.open(url.slice(reader.server.url.length));
    const violations = await reader.browser.violations(reader.page);
    serious.push(...violations.filter((each) => /^(serious|critical)/.test(each)).map((each) => `${url}: ${each}`));
    const width = await reader.page.evaluate(() => document.documentElement.scrollWidth);
    if (width > reader.screen.viewport.width) tooWide.push(`${url}: ${width}`);
  }
  await check(`axe-core finds nothing serious in ${urls.length} pages, ${mode}, ${reader.screen.name}`, () => assert.deepEqual(serious, []));
  await check(`nothing sticks out sideways, ${reader.screen.name}`, () => assert.deepEqual(tooWide, []));
}

async function takePictures(browser, server) {
  mkdirSync(pictures, { recursive: true });
  for (const [screen, mode] of [[wide, "light"], [narrow, "dark"]]) {
    const reader = await Reader.of(browser, server, screen, mode);
    for (const [name, page] of [["landing", ""], ["site", "docs/getting-started.html"]]) {
      await reader.open(page);
      await reader.page.screenshot({ path: path.join(pictures, `${name}-${screen.name}.png`), fullPage: name === "landing" });
    }
    await reader.leave();
  }
}

async function main() {
  const server = await serve(site, base);
  const browser = new Browser(modules);
  try {
    const first = await Reader.of(browser, server, wide);
    // Of the pages that show a file of the repository one stands for all.
    const urls = (await testLinks(first)).filter((url) => !/\.\w+\.html$/.test(url) || url.endsWith("url_check.py.html"));
    await first.leave();
    for (const [screen, mode] of [[wide, "light"], [narrow, "dark"]]) {
      const reader = await Reader.of(browser, server, screen, mode);
      await testNavigation(reader);
      await testSearch(reader);
      await testAccess(reader, urls, mode);
      await testModes(reader);
      await testPlayground(reader);
      await reader.leave();
    }
    await takePictures(browser, server);
  } finally {
    server.close();
  }
}

await main();
process.exitCode = conclude();
