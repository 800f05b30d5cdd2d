// Charts ------------------------------------------------------------------------------------------------------------

// One colour per kind of model and one stroke per way to use it, so that no two methods look alike.
const family = m => m.title.split(", ")[0];
const families = [...new Set(methods.map(family))];
const colour = m => `var(--c${families.indexOf(family(m)) % 9})`;
const DASHES = { solid: [1, 0], dotted: [2, 2], dashed: [7, 4] };
function stroke(m) {
  if (m.reference) return "dashed";
  const sibling = methods.some(other => !other.reference && other.moves !== m.moves && family(other) === family(m));
  return DOTTED.has(m.moves) && sibling ? "dotted" : "solid";
}
const scale = { domain: methods.map(m => m.title), range: methods.map(colour) };
const dashes = { domain: methods.map(m => m.title), range: methods.map(m => DASHES[stroke(m)]) };
const ofChosen = (yes, no) => ({ condition: { test: "datum.title === chosen", value: yes }, value: no });
const config = {
  background: null,
  font: getComputedStyle(document.body).fontFamily,  // a real name: widths are measured with it
  view: { stroke: null },
  axis: { labelColor: "currentColor", titleColor: "currentColor", domainColor: "var(--line)", tickColor: "var(--line)", gridColor: "var(--line)", gridOpacity: 0.6, labelFontSize: 12, titleFontSize: 12, titleFontWeight: "normal", labelLimit: 260 },
  legend: { labelColor: "currentColor", titleColor: "currentColor", labelFontSize: 11.5, labelLimit: 260, symbolStrokeWidth: 3 },
};
const narrow = () => window.innerWidth < 640;
const axisX = (field, title, extra = {}) => ({ field, type: "quantitative", title, axis: { tickCount: 5, ...extra.axis }, scale: extra.scale || {} });

function draw(id, spec) {
  // What a screen reader says of the picture: the library would put its own words there.
  const place = byId(id);
  place.dataset.words = place.dataset.words || place.getAttribute("aria-label");
  const base = { description: place.dataset.words, width: "container", height: 260, autosize: { type: "fit-x", contains: "padding" }, config };
  // Its menu of actions would offer an online editor. Expressions are interpreted (ast): the page's policy lets nothing be
  // compiled from text.
  return vegaEmbed(place, { ...base, ...spec }, { mode: "vega-lite", actions: false, renderer: "svg", ast: true });
}

// A name in lines that fit beside a narrow picture: broken at its commas, and between words where a part is too long.
const WIDEST_LINE = 24;
function linesOf(title) {
  return title.split(", ").flatMap(part => part.split(" ").reduce((found, word) => {
    const last = found[found.length - 1];
    return last !== undefined && `${last} ${word}`.length <= WIDEST_LINE ? [...found.slice(0, -1), `${last} ${word}`] : [...found, word];
  }, []));
}

// Where a picture ends: one poor method must not squash the others. What lies beyond is cut, and its figure written there.
const isBest = row => !folded.has(row.method) && row.cost !== null;
function costChart() {
  const all = summary.leaderboard.filter(r => r.cost !== null && isShown(r.method));
  const middle = all.map(r => r.cost_high).sort((a, b) => a - b)[Math.floor((all.length - 1) / 2)];
  const top = Math.min(Math.max(...all.map(r => r.cost_high)), 2.5 * middle) * 1.04;
  const rows = all.map(r => ({ title: r.title, cost: r.cost, low: Math.min(r.cost_low, top), high: Math.min(r.cost_high, top), kind: r.reference ? "reference" : "method",
    at: Math.min(r.cost, top), beyond: r.cost > top ? `${price(r.cost)} →` : "", from: r.cost_low, to: r.cost_high }));
  const named = Object.fromEntries(rows.map(row => [row.title, linesOf(row.title)])), longest = Math.max(...Object.values(named).map(found => found.length));
  const y = { field: "title", type: "nominal", sort: null, title: null, axis: narrow() ? { labelExpr: `${JSON.stringify(named)}[datum.value]`, labelLimit: 150, labelFontSize: 11 } : {} };
  const x = field => ({ field, type: "quantitative", title: narrow() ? "cost per case" : "expected cost per case", axis: { tickCount: narrow() ? 4 : 7 }, scale: { domain: [0, top], nice: false } });
  byId("costs-cut").hidden = !rows.some(row => row.to > top);
  return draw("chart-costs", {
    height: (narrow() ? Math.max(36, 13 * longest + 10) : 26) * rows.length,
    data: { values: rows },
    encoding: { y },
    layer: [
      { mark: { type: "rule", strokeWidth: 3, opacity: 0.45, color: "var(--c0)" }, encoding: { x: x("low"), x2: { field: "high" } } },
      { transform: [{ filter: "datum.beyond === ''" }], mark: { type: "point", filled: false, size: 80, strokeWidth: 2, color: "var(--c0)", opacity: 1 },
        encoding: { x: x("at"), fill: { condition: { test: "datum.kind === 'method'", value: "var(--c0)" }, value: "var(--paper)" },
          tooltip: [{ field: "title", title: "method" }, { field: "cost", format: ".4f" }, { field: "from", title: "low", format: ".4f" }, { field: "to", title: "high", format: ".4f" }] } },
      { transform: [{ filter: "datum.beyond !== ''" }], mark: { type: "text", align: "right", dy: -8, color: "currentColor", fontSize: 12 }, encoding: { x: x("at"), text: { field: "beyond" } } },
    ],
  });
}

function reliabilityChart(name) {
  if (!byId("reliability-shown")) return Promise.resolve();  // no method has probabilities
  const found = summary.reliability[name], share = { type: "quantitative", scale: { domain: [0, 1] } };
  byId("reliability-shown").hidden = !found;
  byId("reliability-none").hidden = Boolean(found);
  const title = methods.find(m => m.name === name).title;
  document.querySelectorAll(".reliability-method").forEach(part => { part.textContent = title; });
  if (!found) return Promise.resolve();
  byId("reliability-error").textContent = found.error.toFixed(3);
  const three = x => x.toFixed(3);
  byId("reliability-table").tBodies[0].replaceChildren(...found.bins.map(bin => {
    const row = document.createElement("tr");
    row.append(...[three(bin.predicted), three(bin.observed), `${three(bin.low)} to ${three(bin.high)}`, count(bin.counts)].map(text => cellOf("td", text)));
    return row;
  }));
  labelCells(byId("reliability-table"));
  const x = { field: "predicted", ...share, title: "probability" };
  return draw("chart-reliability", {
    layer: [
      { data: { values: [{ v: 0 }, { v: 1 }] }, mark: { type: "line", strokeDash: [4, 4], color: "var(--quiet)", strokeWidth: 1 },
        encoding: { x: { field: "v", ...share }, y: { field: "v", ...share } } },
      { data: { values: found.bins }, mark: { type: "rule", strokeWidth: 3, opacity: 0.45, color: "var(--c0)" },
        encoding: { x, y: { field: "low", ...share, title: summary.reliability_axis || "share of positive cases" }, y2: { field: "high" } } },
      { data: { values: found.bins }, mark: { type: "point", filled: true, size: 70, color: "var(--c0)", opacity: 1 },
        encoding: { x, y: { field: "observed", ...share },
          tooltip: [{ field: "predicted", title: "mean probability", format: ".3f" }, { field: "observed", title: "share", format: ".3f" }, { field: "counts", title: "cases" }] } },
    ],
  });
}

// The data are there from the start: a chart without data has no scale.
function lines(id, title, y, values, extra = []) {
  return draw(id, {
    params: [{ name: "chosen", value: start.method.title }, { name: "top", value: topOf(values) }],
    datasets: { curves: values.curves, dot: values.dot, ...(values.here ? { here: values.here } : {}) },
    data: { name: "curves" },
    layer: [
      { mark: { type: "line", interpolate: "linear", clip: true },
        encoding: {
          x: axisX("x", title), y: { field: "y", type: "quantitative", title: y, axis: { tickCount: 5 }, scale: { zero: true, nice: false, domainMax: { expr: "top" } } },
          color: { field: "title", type: "nominal", scale, legend: null },
          strokeDash: { field: "title", type: "nominal", scale: dashes, legend: null },
          strokeWidth: ofChosen(3.5, 1.75), opacity: ofChosen(1, 0.7),
          tooltip: [{ field: "title", title: "method" }, { field: "x", title, format: ".3f" }, { field: "y", title: y, format: ".4f" }],
        } },
      ...extra,
    ],
  });
}

const dot = { data: { name: "dot" }, mark: { type: "point", filled: true, size: 110, opacity: 1, stroke: "var(--paper)", strokeWidth: 1.5 },
  encoding: { x: { field: "x", type: "quantitative" }, y: { field: "y", type: "quantitative" }, color: { field: "title", type: "nominal", scale } } };
const rule = { data: { name: "here" }, mark: { type: "rule", color: "currentColor", opacity: 0.6 }, encoding: { x: { field: "x", type: "quantitative" } } };

const charts = {};

// Curves end where they are three times as high as where the methods stand: the first of the list, and the one chosen above.
function topOf({ curves, dot, level }) {
  return 1.04 * Math.min(Math.max(...curves.map(row => row.y), ...dot.map(row => row.y), 1e-9), Math.max(3 * level, 1e-9));
}
const bestOf = list => list.filter(m => !m.reference).slice(0, 5);
const levelOf = (list, value) => Math.max(...list.map(value).filter(x => x !== null && Number.isFinite(x)), 0);

const rejecting = () => methods.filter(m => !m.reference);
const shownMethods = () => methods.filter(m => isShown(m.name));
// From the review of every case to as many answers as the method gives.
const path = (m, p) => [sendAll.points[0], ...pointsAlong(m.points, p)];
const curve = (m, p) => path(m, p).map(point => point.matrix);

function riskData(p) {
  return shownMethods().filter(m => !m.reference).flatMap(m => curve(m, p).filter(matrix => matrixCoverage(matrix) > 0)
    .map(matrix => ({ title: m.title, x: matrixCoverage(matrix), y: matrixFacts(matrix, p).error })));
}

function costData(p) {
  return shownMethods().filter(m => !m.reference).flatMap(m => curve(m, p).map(matrix => ({ title: m.title, x: matrixCoverage(matrix), y: matrixCost(matrix, p) })));
}

// What each of the three live charts shows at the current prices.
function chartData({ facts, method }) {
  const p = current(), here = { title: method.title, x: facts.coverage }, best = bestOf(methods);
  const costs = levelOf(best, m => costAt(m, p)), review = sendAllCost(p), errors = levelOf(best, m => matrixFacts(pointAt(m, p).matrix, p).error);
  return {
    price: { curves: priceData(p), here: [{ x: p.rneg }], dot: [{ title: method.title, x: p.rneg, y: facts.cost }], level: Math.max(costs, facts.cost) },
    cost: { curves: costData(p), dot: [{ ...here, y: facts.cost }], level: Math.max(costs, facts.cost, review / 2) },
    risk: { curves: riskData(p), dot: facts.error === null ? [] : [{ ...here, y: facts.error }], level: Math.max(errors, facts.error || 0, 0.02) },
  };
}

function showCurves(shown) {
  let cut = false;
  for (const [name, values] of Object.entries(chartData(shown))) {
    const top = topOf(values), { level, ...rows } = values;
    cut = cut || values.curves.some(row => row.y > top);
    for (const [key, part] of Object.entries(rows)) charts[name].view.data(key, part);
    charts[name].view.signal("chosen", shown.method.title).signal("top", top).runAsync();
  }
  byId("curves-cut").hidden = !cut;
  showCurveTables(current());
}

function showLegend() {
  byId("legend").replaceChildren(...shownMethods().map(m => {
    const item = document.createElement("li"), swatch = document.createElement("span");
    swatch.style.borderTop = `3px ${stroke(m)} ${colour(m)}`;
    item.append(swatch, m.title);
    return item;
  }));
}

function fillTable(table, heads, rows) {
  const head = document.createElement("tr");
  head.append(...heads.map((text, k) => cellOf("th", text, "", { scope: "col", className: k ? "" : "left" })));
  table.tHead.replaceChildren(head);
  table.tBodies[0].replaceChildren(...rows.map(([title, ...values]) => {
    const row = document.createElement("tr");
    row.append(cellOf("th", title, "", { scope: "row" }), ...values.map(text => cellOf("td", text)));
    return row;
  }));
  labelCells(table);
}

// Marks at the two values of a flag, or at the levels of a category with their names.
function levelAxis(shape) {
  if (!shape.values) return {};
  if (!(shape.levels || []).length) return { values: shape.values, format: "~g" };
  return { values: shape.values, labelExpr: `${JSON.stringify(shape.levels)}[datum.value]`, labelLimit: 90 };
}

function shapeChart(shape, i) {
  const rows = [], cuts = shape.cuts, span = cuts.length > 1 ? cuts[cuts.length - 1] - cuts[0] : 1;
  const reach = shape.reach || (cuts.length ? [cuts[0] - 0.08 * span, cuts[cuts.length - 1] + 0.08 * span] : [0, 1]);
  const edges = [reach[0], ...cuts, reach[1]];
  const parts = summary.why.own_acceptance ? { "class score": shape.h, "acceptance score": shape.r } : { "class score": shape.h };
  for (const [part, values] of Object.entries(parts)) {
    values.forEach((y, k) => { for (const x of [edges[k], edges[k + 1]]) rows.push({ x, y, part }); });
  }
  return draw(`shape-${i}`, { height: 150, data: { values: rows }, mark: { type: "line", strokeWidth: 2 },
    encoding: { x: axisX("x", null, { scale: { zero: false, nice: false, domain: reach }, axis: levelAxis(shape) }), y: { field: "y", type: "quantitative", title: null, axis: { tickCount: 4 } },
      color: { field: "part", type: "nominal", scale: { domain: Object.keys(parts), range: ["var(--c0)", "var(--c1)"] }, legend: { title: null, orient: "bottom" } } } });
}
