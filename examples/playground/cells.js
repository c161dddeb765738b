// The cells of a filter, drawn. Which value a cell has is read from the stored bytes as docs/format.md
// has them; everything else about a filter is queried with SQL.

const HEADER_BYTES = 64;

function cellValues(filter, { kind, cells }) {
  const bytes = filter.subarray(HEADER_BYTES);
  const value = kind === "counting"
    ? (i) => (bytes[i >> 1] >> (4 * (i & 1))) & 15
    : (i) => (bytes[i >> 3] >> (i & 7)) & 1;
  return Array.from({ length: cells }, (_, i) => value(i));
}

// Where a block, or a slice of a partitioned filter, begins.
function startsOfParts({ kind, cells, hashes, block }) {
  const part = kind === "partitioned" ? block / hashes : block;
  return part < cells ? (i) => i % part === 0 : () => false;
}

class CellGrid {
  constructor(place) {
    this.place = place;
    this.values = [];
  }

  // info: as bloom_info() has it.
  show(filter, info) {
    const values = cellValues(filter, info);
    if (values.length !== this.values.length || this.place.childElementCount === 0) this.#makeCells(values.length);
    const starts = startsOfParts(info);
    values.forEach((value, i) => {
      const cell = this.place.children[i];
      cell.textContent = info.kind === "counting" && value > 0 ? value : "";
      cell.className = [
        "cell", value > 0 && "set", value === 15 && "saturated", starts(i) && "start",
        this.values[i] !== undefined && this.values[i] !== value && "changed",
      ].filter(Boolean).join(" ");
    });
    this.values = values;
    const set = values.filter((value) => value > 0).length;
    this.place.setAttribute("aria-label", `${values.length} cells, ${set} of them ${info.kind === "counting" ? "above 0" : "set"}`);
  }

  // Rings around the cells of a key: solid where something is in them.
  mark(positions) {
    for (const cell of this.place.querySelectorAll(".probed")) cell.classList.remove("probed", "missing");
    for (const { cell, value } of positions) {
      this.place.children[cell].classList.add("probed", ...(value > 0 ? [] : ["missing"]));
    }
  }

  #makeCells(count) {
    this.values = [];
    this.place.setAttribute("role", "img");
    this.place.classList.toggle("many", count > 128);
    this.place.replaceChildren(...Array.from({ length: count }, (_, i) => element("span", { class: "cell", title: `cell ${i}` })));
  }
}
