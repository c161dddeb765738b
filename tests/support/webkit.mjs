// WebKit for tests: Debian's WebKitWebDriver, with the part of playwright-core's interface that the tests use.
import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import net from "node:net";
import os from "node:os";
import path from "node:path";

const patience = 30000;
const elementKey = "element-6066-11e4-a52e-4f735466cecf"; // how WebDriver marks elements in JSON
const codes = { Enter: "\uE007", Tab: "\uE004", Space: " ", Control: "\uE009" };

const sleep = (milliseconds) => new Promise((wake) => setTimeout(wake, milliseconds));

// Returns the first true result of look().
async function until(look, what, timeout = patience) {
  for (const end = Date.now() + timeout; Date.now() < end; await sleep(30)) {
    const got = await look();
    if (got) return got;
  }
  throw new Error(`not within ${timeout} ms: ${what}`);
}

async function freePort() {
  const server = net.createServer();
  await new Promise((listening) => server.listen(0, "127.0.0.1", listening));
  const { port } = server.address();
  await new Promise((closed) => server.close(closed));
  return port;
}

// Runs in the page: the elements that the steps of a locator find. A step is { css }, { button, exact } or { nth }.
function found(steps) {
  const text = (element) => (element.getAttribute("aria-label") ?? element.textContent).trim().replace(/\s+/g, " ");
  const isVisible = (element) => element.checkVisibility({ visibilityProperty: true });
  return steps.reduce((elements, { css, button, exact, nth }) => {
    if (nth !== undefined) return elements.slice(nth, nth + 1);
    const inner = [...new Set(elements.flatMap((element) => [...element.querySelectorAll(css ?? "button")]))];
    return css ? inner : inner.filter((element) => isVisible(element) && (exact ? text(element) === button : text(element).includes(button)));
  }, [document]);
}

// Runs in the page: types as a user does who replaces the whole text. Sliders have no text.
function fill(element, text) {
  element.focus();
  if (element.type === "range") {
    element.value = text;
    element.dispatchEvent(new Event("input", { bubbles: true }));
    element.dispatchEvent(new Event("change", { bubbles: true }));
    return;
  }
  element.select();
  document.execCommand(text === "" ? "delete" : "insertText", false, text);
}

function select(element, value) {
  if (![...element.options].some((option) => option.value === value)) throw new Error(`no option ${value}`);
  element.value = value;
  element.dispatchEvent(new Event("input", { bubbles: true }));
  element.dispatchEvent(new Event("change", { bubbles: true }));
}

// Runs in the page: notes in window.wasClicked whether the next click is one on the element.
function expectClick(element) {
  element.scrollIntoView({ behavior: "instant", block: "center" });
  window.wasClicked = null;
  const note = (event) => { window.wasClicked = element.contains(event.target); };
  document.addEventListener("click", note, { capture: true, once: true });
}

// Runs in the page: notes what goes wrong from now on.
function noteTroubles() {
  window.troubles = [];
  window.addEventListener("error", (event) => window.troubles.push(event.message));
  window.addEventListener("unhandledrejection", (event) => window.troubles.push(String(event.reason)));
  document.addEventListener("securitypolicyviolation", (event) => window.troubles.push(`refused ${event.blockedURI}`));
}

class Locator {
  constructor(page, steps) {
    this.page = page;
    this.steps = steps;
  }

  locator(css) { return new Locator(this.page, [...this.steps, { css }]); }
  nth(index) { return new Locator(this.page, [...this.steps, { nth: index }]); }
  first() { return this.nth(0); }

  // `role` is "button".
  getByRole(role, { name, exact = false }) { return new Locator(this.page, [...this.steps, { [role]: name, exact }]); }

  evaluateAll(use, argument) {
    return this.page.call(`(steps, argument) => (${use})((${found})(steps), argument)`, [this.steps, argument]);
  }

  async evaluate(use, argument) {
    await this.waitFor({ state: "attached" });
    return this.page.call(`(steps, argument) => (${use})((${found})(steps)[0], argument)`, [this.steps, argument]);
  }

  count() { return this.evaluateAll((all) => all.length); }
  async all() { return Array.from({ length: await this.count() }, (_, i) => this.nth(i)); }
  allTextContents() { return this.evaluateAll((all) => all.map((element) => element.textContent)); }
  textContent() { return this.evaluate((element) => element.textContent); }
  inputValue() { return this.evaluate((element) => element.value); }
  focus() { return this.evaluate((element) => element.focus()); }
  blur() { return this.evaluate((element) => element.blur()); }
  fill(text) { return this.evaluate(fill, text); }
  selectOption(value) { return this.evaluate(select, value); }

  isVisible() {
    return this.evaluateAll((all) => all.length > 0 && all[0].checkVisibility({ visibilityProperty: true }));
  }

  waitFor({ state = "visible" } = {}) {
    const reached = { attached: async () => await this.count() > 0, visible: () => this.isVisible(), hidden: async () => !await this.isVisible() };
    return until(reached[state], `${JSON.stringify(this.steps)} is ${state}`);
  }

  async #element() {
    await this.waitFor({ state: "attached" });
    const script = `return (${found})(arguments[0])[0]`;
    return (await this.page.send("POST", "/execute/sync", { script, args: [this.steps] }))[elementKey];
  }

  // The driver clicks where the element was, which may have moved since: then the click is repeated.
  async click() {
    const what = JSON.stringify(this.steps);
    await this.waitFor();
    await until(() => this.evaluate((element) => !element.disabled), `${what} is enabled`);
    await until(async () => {
      await this.evaluate(expectClick);
      await this.page.send("POST", `/element/${await this.#element()}/click`, {}).catch((error) => {
        if (!/not interactable|intercepted/.test(error.message)) throw error;
      });
      return this.page.evaluate(() => new Promise((go) => setTimeout(() => go(window.wasClicked), window.wasClicked === null ? 200 : 0)));
    }, `${what} is clicked`);
  }

  async check() {
    if (!await this.evaluate((element) => element.checked)) await this.click();
  }

  async press(key) {
    await this.focus();
    await this.page.keyboard.press(key);
  }

  // A file: its path, or { name, buffer }.
  async setInputFiles(file) {
    const name = file.buffer ? this.page.keep(file) : file;
    await this.page.send("POST", `/element/${await this.#element()}/value`, { text: name });
  }
}

// One window, with a driver of its own, because the colours come from the environment of the driver. Nothing moves in it:
// the driver does not wait for the end of smooth scrolling.
export class WebKitPage extends Locator {
  troubles = [];
  folder = mkdtempSync(path.join(os.tmpdir(), "webkit-"));
  downloads = path.join(this.folder, "downloads");
  keyboard = { press: (keys) => this.#press(keys), type: (text) => this.#type([...text]) };

  #killDriver = () => this.driver.kill();

  constructor(mayRequest) {
    super(null, []);
    this.page = this;
    this.mayRequest = mayRequest;
  }

  static async open(mayRequest, { viewport, colorScheme }) {
    const page = new WebKitPage(mayRequest);
    await page.#start(colorScheme === "dark");
    await page.#resize(viewport);
    return page;
  }

  async #start(isDark) {
    const config = path.join(this.folder, "config");
    mkdirSync(path.join(config, "gtk-3.0"), { recursive: true });
    mkdirSync(this.downloads);
    writeFileSync(path.join(config, "user-dirs.dirs"), `XDG_DOWNLOAD_DIR="${this.downloads}"\n`);
    writeFileSync(path.join(config, "gtk-3.0", "settings.ini"), "[Settings]\ngtk-enable-animations=0\n");
    const port = await freePort();
    this.root = `http://127.0.0.1:${port}/session`;
    this.driver = spawn("WebKitWebDriver", [`--port=${port}`], {
      stdio: "ignore",
      env: {
        ...process.env, HOME: this.folder, XDG_CONFIG_HOME: config, GTK_THEME: isDark ? "Adwaita:dark" : "Adwaita",
        WEBKIT_DISABLE_SANDBOX_THIS_IS_DANGEROUS: "1",
      },
    });
    process.on("exit", this.#killDriver);
    await until(() => fetch(`http://127.0.0.1:${port}/status`).then(() => true, () => false), "the driver of WebKit");
    const { sessionId } = await this.send("POST", "", { capabilities: { alwaysMatch: { timeouts: { script: 120000 } } } });
    this.root += `/${sessionId}`;
  }

  // The window is larger than the page by its bars. Pages of less than 447 pixels have that width: a window is not narrower.
  async #resize({ width, height }) {
    const rect = { width, height };
    for (let attempt = 0; attempt < 2; ++attempt) {
      await this.send("POST", "/window/rect", rect);
      await sleep(200);
      const [innerWidth, innerHeight] = await this.evaluate(() => [window.innerWidth, window.innerHeight]);
      rect.width += width - innerWidth;
      rect.height += height - innerHeight;
    }
  }

  async send(method, path, body) {
    const response = await fetch(this.root + path, { method, body: body && JSON.stringify(body) });
    const { value } = await response.json();
    if (value?.error) throw new Error(`${value.error}: ${value.message}`);
    return value;
  }

  // Runs a function in the page, or the text of a script.
  async evaluate(use, ...values) {
    if (typeof use === "string") return this.send("POST", "/execute/sync", { script: use, args: [] });
    return this.call(String(use), values);
  }

  // Values travel as JSON text, because WebDriver does not tell undefined from null.
  async call(source, values) {
    const script = `const [values, done] = arguments;
      new Promise((go) => go((${source})(...values))).then(
        (value) => done(JSON.stringify({ value })), (error) => done(JSON.stringify({ error: String(error) })));`;
    const { value, error } = JSON.parse(await this.send("POST", "/execute/async", { script, args: [values] }));
    if (error) throw new Error(error);
    return value;
  }

  async goto(url) {
    await this.send("POST", "/url", { url });
    await this.evaluate(noteTroubles);
  }

  async reload() {
    await this.readTroubles();
    await this.send("POST", "/refresh", {});
    await this.evaluate(noteTroubles);
  }

  // Adds to `troubles` what went wrong since the page was loaded, and the requests that are not allowed.
  async readTroubles() {
    const [errors, addresses] = await this.evaluate(() =>
      [window.troubles.splice(0), performance.getEntriesByType("resource").map((entry) => entry.name)]);
    const fetched = addresses.filter((url) => !/^(blob|data):/.test(url) && !this.mayRequest(url));
    this.troubles.push(...errors, ...fetched.map((url) => `fetched ${url}`));
  }

  waitForSelector(css, { timeout = patience } = {}) {
    return until(() => this.evaluate((selector) => Boolean(document.querySelector(selector)), css), css, timeout);
  }

  waitForFunction(use, argument, { timeout = patience } = {}) {
    return until(() => this.evaluate(use, argument), String(use), timeout);
  }

  waitForTimeout(milliseconds) { return sleep(milliseconds); }

  keep({ name, buffer }) {
    const file = path.join(this.folder, name);
    writeFileSync(file, buffer);
    return file;
  }

  async #act(actions) {
    await this.send("POST", "/actions", { actions: [{ type: "key", id: "keyboard", actions }] });
  }

  // Keys joined by "+" are held together.
  #press(keys) {
    const values = keys.split("+").map((key) => codes[key] ?? key.toLowerCase());
    return this.#act([...values.map((value) => ({ type: "keyDown", value })), ...values.reverse().map((value) => ({ type: "keyUp", value }))]);
  }

  #type(letters) {
    return this.#act(letters.flatMap((value) => [{ type: "keyDown", value }, { type: "keyUp", value }]));
  }

  async close() {
    await this.send("DELETE", "");
    this.driver.kill();
    process.off("exit", this.#killDriver);
    rmSync(this.folder, { recursive: true, force: true });
  }
}
