// Runs the checks in a page that imports sqlite-bloom-wasm.
//   node browser.mjs BROWSER FOLDER MODULES
// FOLDER is served; it has checks.mjs, and node_modules with the package. MODULES has playwright-core and axe-core.
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import path from "node:path";
import { Browser, check, conclude, serve } from "../../support/browser.mjs";

const [name, folder, modules] = process.argv.slice(2);

// The page may do no more than docs/embedding.md says that it needs.
const page = `<!doctype html><meta charset="utf-8"><link rel="icon" href="data:,">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; connect-src 'self'; img-src data:">
<script type="module" src="page.mjs"></script>`;
const script = `import * as module from "./node_modules/sqlite-bloom-wasm/browser.mjs";
import { runChecks } from "./checks.mjs";
window.results = await runChecks(module);`;

writeFileSync(path.join(folder, "index.html"), page);
writeFileSync(path.join(folder, "page.mjs"), script);
const server = await serve(folder);
const browser = new Browser(modules, name);
const tab = await browser.newPage((url) => url.startsWith(server.url));
try {
  await tab.goto(server.url);
  await tab.waitForFunction(() => window.results !== undefined, null, { timeout: 240000 });
  for (const [what, error] of await tab.evaluate(() => window.results)) await check(what, () => assert.equal(error, null));
} finally {
  await check("nothing went wrong in the page", async () => assert.deepEqual(await browser.troubles(tab), []));
  await tab.close();
  server.close();
}
process.exitCode = conclude();
