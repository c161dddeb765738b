// What the tests of the page share: the extension to compare with, reading the page.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import readline from "node:readline";

// The extension, loaded into Python's SQLite.
export class Native {
  constructor(extension) {
    const script = new URL("native.py", import.meta.url).pathname;
    this.process = spawn("/usr/bin/python3", ["-B", script, extension], { stdio: ["pipe", "pipe", "inherit"] });
    this.answers = readline.createInterface({ input: this.process.stdout })[Symbol.asyncIterator]();
  }

  async #request(request) {
    this.process.stdin.write(`${JSON.stringify(request)}\n`);
    return JSON.parse((await this.answers.next()).value);
  }

  async rows(sql, ...values) {
    const { rows, error } = await this.#request({ sql, values });
    assert.equal(error, undefined);
    return rows;
  }

  async value(sql, ...values) {
    return (await this.rows(sql, ...values))[0][0];
  }

  async error(sql, ...values) {
    return (await this.#request({ sql, values })).error;
  }

  // The filter of a file's lines, as hexadecimal digits.
  async filterOfFile(file, ...values) {
    return (await this.#request({ file, values })).rows[0][0].hex;
  }

  stop() {
    this.process.stdin.end();
  }
}

// The cells of a filter: docs/format.md, in the test's own words.
export function cellsOf(hex, { kind, cells }) {
  const bytes = Buffer.from(hex, "hex").subarray(64);
  const digits = [...bytes].map((byte) =>
    kind === "counting" ? [byte % 16, byte >> 4] : byte.toString(2).padStart(8, "0").split("").reverse().map(Number));
  return digits.flat().slice(0, cells);
}

// The cells that a grid of the page shows.
export async function shownCells(page, grid) {
  return page.locator(`#${grid} > .cell`).evaluateAll((cells) =>
    cells.map((cell) => (cell.textContent ? Number(cell.textContent) : cell.classList.contains("set") ? 1 : 0)));
}

// A table of the page, as rows of texts with their heads.
export async function shownTable(page, place) {
  return page.locator(`${place} tr`).evaluateAll((rows) => rows.map((row) => [...row.cells].map((cell) => cell.textContent)));
}

const three = new Intl.NumberFormat("en", { maximumSignificantDigits: 3 });

// How the page writes a rate: three digits of a percentage.
export function percent(rate) {
  if (rate === 0) return "0 %";
  return rate < 1e-5 ? `${(100 * rate).toExponential(2)} %` : `${three.format(100 * rate)} %`;
}

export const grouped = (number) => number.toLocaleString("en");
