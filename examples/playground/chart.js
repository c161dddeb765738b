// Charts as SVG: lines over logarithmic or linear axes.

const chartSize = { width: 380, height: 262, left: 52, right: 12, top: 24, bottom: 40 };

const scales = {
  log: ([low, high]) => (value) => (Math.log10(value) - Math.log10(low)) / (Math.log10(high) - Math.log10(low)),
  linear: ([low, high]) => (value) => (value - low) / (high - low),
};

function powersOfTen([low, high], most) {
  const first = Math.ceil(Math.log10(low) - 1e-9), last = Math.floor(Math.log10(high) + 1e-9);
  const step = Math.max(1, Math.ceil((last - first + 1) / most));
  const powers = [];
  for (let power = first; power <= last; power += step) powers.push(10 ** power);
  return powers;
}

function powerText(value) {
  const power = Math.round(Math.log10(value));
  if (power >= 0 && power < 6) return whole.format(value);
  const digits = [...String(Math.abs(power))].map((digit) => "⁰¹²³⁴⁵⁶⁷⁸⁹"[digit]).join("");
  return `10${power < 0 ? "⁻" : ""}${digits}`;
}

function axes({ x, y }, atX, atY) {
  const { width, height, left, right, top, bottom } = chartSize;
  const label = (position, text, more) => svgElement("text", { ...position, ...more }, text);
  return svgElement("g", { class: "axes" },
    ...y.ticks.flatMap((tick) => [
      svgElement("line", { x1: left, x2: width - right, y1: atY(tick), y2: atY(tick) }),
      label({ x: left - 6, y: atY(tick) + 4 }, y.text(tick), { "text-anchor": "end" }),
    ]),
    ...x.ticks.flatMap((tick) => [
      svgElement("line", { x1: atX(tick), x2: atX(tick), y1: top, y2: height - bottom }),
      label({ x: atX(tick), y: height - bottom + 16 }, x.text(tick), { "text-anchor": "middle" }),
    ]),
    label({ x: (left + width - right) / 2, y: height - 6 }, x.label, { "text-anchor": "middle" }),
    label({ x: 0, y: 12 }, y.label, {}));
}

// chart: { title, x, y, series, marks }; an axis { label, kind, range, ticks, text }, a series
// { name, points }, a mark { name, at: [x, y] }. Points outside the ranges are not drawn.
function drawChart(figure, chart) {
  const { width, height, left, right, top, bottom } = chartSize;
  const acrossX = scales[chart.x.kind](chart.x.range), acrossY = scales[chart.y.kind](chart.y.range);
  const atX = (value) => left + acrossX(value) * (width - left - right);
  const atY = (value) => height - bottom - acrossY(value) * (height - top - bottom);
  const inside = ([x, y]) => x >= chart.x.range[0] && x <= chart.x.range[1] && y >= chart.y.range[0] && y <= chart.y.range[1];
  const place = ([x, y]) => `${atX(x).toFixed(1)},${atY(y).toFixed(1)}`;
  const picture = svgElement("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": chart.title },
    axes(chart, atX, atY),
    ...chart.series.map(({ name, points }) =>
      svgElement("polyline", { class: `line ${name}`, points: points.filter(inside).map(place).join(" ") })),
    ...chart.marks.filter(({ at }) => inside(at)).map(({ name, at }) =>
      svgElement("circle", { class: `mark ${name}`, cx: atX(at[0]), cy: atY(at[1]), r: 5 })));
  figure.replaceChildren(
    element("figcaption", {}, chart.title),
    picture,
    legend(chart.series),
    element("details", {}, element("summary", {}, "Show as table"), numbersOf(chart)));
}

function legend(series) {
  return element("p", { class: "legend" }, ...series.map(({ name }) =>
    element("span", {}, svgElement("svg", { viewBox: "0 0 28 10", "aria-hidden": "true" },
      svgElement("line", { class: `line ${name}`, x1: 0, x2: 28, y1: 5, y2: 5 })), name)));
}

function numbersOf({ title, x, series }) {
  const all = [...new Set(series.flatMap(({ points }) => points.map(([at]) => at)))].sort((a, b) => a - b);
  const rows = all.map((at) => [whole.format(at), ...series.map(({ points }) => {
    const point = points.find(([other]) => other === at);
    return point ? percentText(point[1]) : "";
  })]);
  return table(title, [x.label, ...series.map(({ name }) => name)], rows);
}
