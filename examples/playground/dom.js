"use strict";
// Helpers that build elements and format values. Text is inserted as text, never as HTML.

const find = (id) => document.getElementById(id);

// For example element("p", { class: "note" }, "text", other): attributes, then children.
function element(name, attributes = {}, ...children) {
  return fill(document.createElement(name), attributes, ...children);
}

function svgElement(name, attributes = {}, ...children) {
  return fill(document.createElementNS("http://www.w3.org/2000/svg", name), attributes, ...children);
}

function fill(node, attributes, ...children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") node.addEventListener(name, value);
    else if (value !== false) node.setAttribute(name, value === true ? "" : value);
  }
  node.append(...children);
  return node;
}

function cell(name, value, attributes) {
  return element(name, attributes, value instanceof Node ? value : String(value));
}

// A table that is too wide scrolls sideways, with the keyboard too.
function table(caption, heads, rows) {
  const head = element("tr", {}, ...heads.map((text) => cell("th", text, { scope: "col" })));
  const body = rows.map(([first, ...others]) => element("tr", {},
    cell("th", first, { scope: "row" }), ...others.map((value) => cell("td", value, {}))));
  return element("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": caption },
    element("table", {}, element("caption", {}, caption), element("thead", {}, head), element("tbody", {}, ...body)));
}

// A column for each thing { name, ... }, a row for each property [name, textOf].
function propertyTable(caption, head, things, properties) {
  const made = table(caption, [head, ...things.map(({ name }) => name)],
    properties.map(([name, textOf]) => [name, ...things.map(textOf)]));
  made.classList.add("properties");
  return made;
}

// Waits until the element is in view.
const inView = (node) => new Promise((resolve) => {
  new IntersectionObserver((seen, observer) => seen.some((each) => each.isIntersecting) && resolve(observer.disconnect())).observe(node);
});

// The content of a <dl class="facts">: [name, text] each.
const factList = (facts) => facts.map(([name, text]) => element("div", {}, element("dt", {}, name), element("dd", {}, text)));

const whole = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });
const short = new Intl.NumberFormat("en", { maximumSignificantDigits: 3 });

function bytesText(bytes) {
  if (bytes < 10_000) return `${whole.format(bytes)} bytes`;
  const step = bytes < 1e6 ? [1e3, "kB"] : bytes < 1e9 ? [1e6, "MB"] : [1e9, "GB"];
  return `${short.format(bytes / step[0])} ${step[1]}`;
}

function percentText(rate) {
  if (rate === 0) return "0 %";
  return rate < 1e-5 ? `${(100 * rate).toExponential(2)} %` : `${short.format(100 * rate)} %`;
}

// The SQL literal of a value; for a blob only its first bytes.
function sqlText(value) {
  if (value === null) return "NULL";
  if (value instanceof Uint8Array) return `${blobStart(value)} (${bytesText(value.length)})`;
  return typeof value === "string" ? `'${value.replaceAll("'", "''")}'` : String(value);
}

function blobStart(bytes) {
  const start = Array.from(bytes.subarray(0, 12), (byte) => byte.toString(16).padStart(2, "0")).join("");
  return `x'${start}${bytes.length > 12 ? "..." : ""}'`;
}

// Returns an event handler that runs work() and shows its error in `place`.
function telling(place, work) {
  return async (event) => {
    event?.preventDefault();
    place.textContent = "";
    try {
      await work(event);
    } catch (error) {
      if (error.message !== "stopped") place.textContent = error.message;
    }
  };
}
