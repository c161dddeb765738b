// How VitePress makes the site. It runs in the folder that build.sh writes.
import { readFileSync } from "node:fs";
import { defineConfig } from "vitepress";

const menu = JSON.parse(readFileSync(new URL("menu.json", import.meta.url), "utf8"));
const icon = "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 4 4'%3E"
  + "%3Cpath fill='%230b7285' d='M0 0h2v1h2v2H2v1H1V2H0z'/%3E%3C/svg%3E";

// Links in the pages are written for the repository: headings get the anchors that forges give them.
const anchor = (heading) => heading.trim().toLowerCase().replace(/[^\p{L}\p{N}_\- ]/gu, "").replaceAll(" ", "-");

// The messages that the page of errors explains, each as the pieces between its "...", the longest first.
const messages = [...readFileSync(new URL("../docs/errors.md", import.meta.url), "utf8").matchAll(/^\| (`.*?) \|/gm)]
  .flatMap(([, cell]) => [...cell.matchAll(/`([^`]+)`/g)].map(([, message]) => message.split("...").filter((piece) => /\w/.test(piece))))
  .sort((one, other) => other.join("").length - one.join("").length);

// The words of a search. A pasted error message has names and values of its reader, which no page has. If the page of errors
// explains it, the words are those of that entry; boost() then prefers this page. Of another long text only the first words
// count, without its prefix and what stands in quotes or brackets.
function findWords(messages, text) {
  const split = (some) => some.split(/[\n\r\p{Z}\p{P}]+/u).filter((word) => word);
  const explained = text.includes(" ") && messages.find((pieces) => {
    let from = 0;
    return pieces.every((piece) => {
      const at = text.indexOf(piece.trim(), from);
      from = at + piece.trim().length;
      return at >= 0;
    });
  });
  if (explained) {
    globalThis.isMessage = true;
    return split(explained.join(" "));
  }
  const message = split(text.replace(/^(.*?\b(error|stepping)\b[^:,]*[:,]\s*)+/i, "").replace(/^(\w+:\s+)+/, "")
    .replace(/'[^']*'|\([^)]*\)?|\bargument \d+/g, " "));
  globalThis.isMessage = message.length > 3;
  return globalThis.isMessage ? message.slice(0, 6) : split(text);
}

// VitePress copies functions into the page as text, without what they refer to.
const wordsOf = new Function("text", `return (${findWords})(${JSON.stringify(messages)}, text)`);

const boost = (id, term) => (!id.includes("/docs/errors") ? 1 : globalThis.isMessage ? 8 : term.includes("_") ? 1 : 2);

// Code that is indented looks like code between fences.
function showIndentedCode(markdown) {
  const { rules } = markdown.renderer;
  rules.code_block = (tokens, at, ...others) => rules.fence(tokens, at, ...others);
}

export default defineConfig({
  title: "sqlite-bloom",
  description: "Bloom filters for SQLite: a loadable extension",
  lang: "en",
  base: process.env.SITE_BASE,
  head: [["link", { rel: "icon", href: icon }]],
  markdown: {
    anchor: { slugify: anchor },
    languageAlias: { mjs: "js", pl: "perl" },
    theme: { light: "github-light-high-contrast", dark: "github-dark-high-contrast" },
    config: showIndentedCode,
  },
  themeConfig: {
    nav: [
      { text: "Getting started", link: "/docs/getting-started" },
      { text: "Playground", link: "/playground" },
    ],
    sidebar: menu,
    outline: [2, 3],
    // All words must be there, and a pasted message leads to the page that explains it.
    search: {
      provider: "local",
      options: {
        miniSearch: {
          searchOptions: { combineWith: "AND", tokenize: wordsOf, boostDocument: boost },
        },
      },
    },
  },
});
