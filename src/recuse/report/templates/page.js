// The page: sliders, figures, charts and sortable tables. The arithmetic is in live.js.
"use strict";

const summary = JSON.parse(document.getElementById("summary").textContent);
const byId = id => document.getElementById(id);
const run = summary.prices;
const methods = summary.methods;
const prices = { fp: run.fp, fn: run.fn, reject: run.reject };
let chosen = summary.verdict.best_model;

const percent = (x, digits = 1) => (x === null ? "–" : (100 * x).toFixed(digits) + "%");
const price = x => (Math.abs(x) < 1 ? x.toFixed(4) : x.toFixed(3));
const count = x => (0 < x && x < 0.5 ? "<1" : Math.round(x).toLocaleString("en"));  // a mean over the repetitions may lie between
const isRun = () => prices.fp === run.fp && prices.fn === run.fn && prices.reject === run.reject;
const pricesAt = (fp, fn, reject) => priceList(fp, fn, reject, run.reject_ratio, run.novelty_ratio);
const current = () => pricesAt(prices.fp, prices.fn, prices.reject);

const pointAt = (method, p) => cheapestPoint(method.points, p);
const costAt = (method, p) => matrixCost(pointAt(method, p).matrix, p);

// The answers that are the same for every case, as operating points.
const negatives = summary.n_cases - summary.n_positive;
const CONSTANTS = { "send-all": 2, "always-no": 0, "always-yes": 1 };
const constants = summary.leaderboard.filter(row => row.method in CONSTANTS).map(row => {
  const matrix = [[0, 0, 0, 0], [0, 0, 0, 0]];
  matrix[0][CONSTANTS[row.method]] = negatives;
  matrix[1][CONSTANTS[row.method]] = summary.n_positive;
  return { name: row.method, title: row.title, points: [{ matrix, thresholds: null }] };
});
const sendAll = constants.find(constant => constant.name === "send-all");
const sendAllCost = p => costAt(sendAll, p);

// The cheapest of all methods and constant answers.
function cheapest(p) {
  const costs = [...methods, ...constants].map(m => ({ title: m.title, cost: costAt(m, p) }));
  return costs.reduce((a, b) => (b.cost < a.cost ? b : a));
}

function showFigures() {
  const p = current(), method = methods.find(m => m.name === chosen);
  const point = pointAt(method, p), facts = matrixFacts(point.matrix, p);
  const small = (id, text) => byId(id).append(Object.assign(document.createElement("small"), { textContent: text }));
  byId("live-cost").textContent = price(facts.cost);
  byId("live-coverage").textContent = percent(facts.coverage);
  byId("live-error").textContent = percent(facts.error);
  const wrong = point.matrix[0][1] + point.matrix[1][0];
  if (facts.error !== null) small("live-error", `${count(wrong)} of ${count(facts.coverage * facts.total)}`);
  byId("live-review").textContent = Math.round(1000 * facts.rejected).toLocaleString("en");
  if (facts.novel > 0) small("live-review", `${Math.round(1000 * facts.novel)} of them unlike any seen`);
  const answering = sendAllCost(p) - facts.cost;
  const rejecting = matrixCost(cheapestPoint(method.forced, p).matrix, p) - facts.cost;
  byId("live-answering").textContent = (1000 * answering).toFixed(1);
  small("live-answering", `against “${sendAll.title}”`);
  byId("live-rejecting").textContent = (1000 * rejecting).toFixed(1);
  small("live-rejecting", "against answering every case");
  showCorrected(method, small);
  byId("never").hidden = p.pays;
  byId("prices-state").textContent = isRun() ? "These are the prices of the run." : "Not the prices of the run.";
  byId("matrix-method").textContent = method.title;
  showSentence(method, point, facts, { answering, rejecting });
  showMatrix(point.matrix, facts);
  return { facts, method };
}

// The figures of the sentences above, which are corrected for the choice, beside those of the run.
function showCorrected(method, small) {
  const { best_model, model_cost, answering, rejecting } = summary.verdict;
  if (!isRun() || method.name !== best_model || methods.length === 1) return;
  small("live-cost", `${price(model_cost[0])} corrected for the choice`);
  small("live-answering", `${(1000 * answering.saved[0]).toFixed(1)} corrected for the choice`);
  if (rejecting.rule === best_model) small("live-rejecting", `${(1000 * rejecting.saved[0]).toFixed(1)} corrected for the choice`);
}

const saves = x => (x >= 0 ? `saves ${(1000 * x).toFixed(1)}` : `costs ${(-1000 * x).toFixed(1)} more`);

function showSentence(method, point, facts, saved) {
  const all = cheapest(current());
  byId("sentence").textContent =
    `At these prices ${method.title} sends ${Math.round(1000 * facts.rejected)} of 1,000 cases to manual review. Per 1,000 cases it ` +
    `${saves(saved.answering)} against the manual review of every case, and ${saves(saved.rejecting)} against answering every case itself. ` +
    (all.title === method.title ? "It is the cheapest here." : `Cheapest here: ${all.title}, ${price(all.cost)} per case.`);
  byId("what-moves").textContent = wordsOf(method, point) + (isRun() ? "" :
    " Of its operating points the cheapest at these prices is shown, chosen on the cases it is counted on, so its cost is too low (in simulations, at prices moved by a factor of 2 or 3, by 1 to 12% with 300 cases and by 1 to 3% with 2,000): a new run at these prices gives figures without that advantage.") +
    (facts.novel > 0 ? " Cases unlike any seen go to manual review at every price." : "");
}

// In words, where a method stands.
const inThree = x => Number(x.toPrecision(3));
function wordsOf(method, point) {
  const own = point === method.points[0], [no, yes] = [summary.classes[0], summary.classes[1]];
  if (method.moves === "pair") return own ? "These are the answers of the run." : "Its threshold on the acceptance score has moved; the class of each case stays as trained.";
  if (!point.thresholds) return "These are the answers of the run, with thresholds of each fold.";
  const what = method.moves === "tuned" ? "class score" : "probability", [lower, upper] = point.thresholds;
  if (lower !== null && lower === upper) return `It answers ${yes} above a ${what} of ${inThree(upper)}, ${no} otherwise.`;
  const parts = [upper === null ? `never answers ${yes}` : `answers ${yes} above a ${what} of ${inThree(upper)}`,
    lower === null ? `never ${no}` : `${no} below ${inThree(lower)}`];
  return `It ${parts.join(", ")}, and sends the other cases to manual review.`;
}

// What sets a method apart in the charts from another one of the same model.
const DOTTED = new Set(["tuned"]);

function showMatrix(matrix, facts) {
  matrix.forEach((row, i) => {
    const total = row[0] + row[1] + row[2] + row[3];
    row.forEach((value, j) => {
      const cell = byId(`m${i}${j}`);
      if (!cell) return;  // no method of this run knows novelties
      cell.textContent = count(value);
      cell.append(Object.assign(document.createElement("small"), { textContent: total ? percent(value / total) : "" }));
    });
  });
  const share = x => Math.round((1000 * x) / facts.total);
  byId("thousand").textContent =
    `Of 1,000 such cases ${share(matrix[0][0] + matrix[1][1])} are answered correctly, ${share(matrix[0][1])} are false alarms, ` +
    `${share(matrix[1][0])} are missed, and ${Math.round(1000 * facts.rejected)} go to manual review` +
    (facts.novel > 0 ? `, ${Math.round(1000 * facts.novel)} of them because they are unlike any seen.` : ".");
}

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
  const base = { width: "container", height: 260, autosize: { type: "fit-x", contains: "padding" }, config };
  // Its menu of actions would offer an online editor. Expressions are interpreted (ast): the page's policy lets nothing be
  // compiled from text.
  return vegaEmbed(byId(id), { ...base, ...spec }, { mode: "vega-lite", actions: false, renderer: "svg", ast: true });
}

function costChart() {
  const rows = summary.leaderboard.filter(r => r.cost !== null)
    .map(r => ({ title: r.title, cost: r.cost, low: r.cost_low, high: r.cost_high, kind: r.reference ? "reference" : "method" }));
  const y = { field: "title", type: "nominal", sort: null, title: null, axis: narrow() ? { labelExpr: "split(datum.label, ', ')", labelLimit: 140, labelFontSize: 11 } : {} };
  return draw("chart-costs", {
    height: (narrow() ? 36 : 26) * rows.length,
    data: { values: rows },
    encoding: { y },
    layer: [
      { mark: { type: "rule", strokeWidth: 3, opacity: 0.45, color: "var(--c0)" }, encoding: { x: { field: "low", type: "quantitative", title: narrow() ? "cost per case" : "expected cost per case", axis: { tickCount: narrow() ? 4 : 7 }, scale: { zero: true } }, x2: { field: "high" } } },
      { mark: { type: "point", filled: false, size: 80, strokeWidth: 2, color: "var(--c0)", opacity: 1 },
        encoding: { x: { field: "cost", type: "quantitative" }, fill: { condition: { test: "datum.kind === 'method'", value: "var(--c0)" }, value: "var(--paper)" },
          tooltip: [{ field: "title", title: "method" }, { field: "cost", format: ".4f" }, { field: "low", format: ".4f" }, { field: "high", format: ".4f" }] } },
    ],
  });
}

function reliabilityChart() {
  const share = { type: "quantitative", scale: { domain: [0, 1] } };
  const x = { field: "predicted", ...share, title: "probability" };
  return draw("chart-reliability", {
    layer: [
      { data: { values: [{ v: 0 }, { v: 1 }] }, mark: { type: "line", strokeDash: [4, 4], color: "var(--quiet)", strokeWidth: 1 },
        encoding: { x: { field: "v", ...share }, y: { field: "v", ...share } } },
      { data: { values: summary.reliability.bins }, mark: { type: "rule", strokeWidth: 3, opacity: 0.45, color: "var(--c0)" },
        encoding: { x, y: { field: "low", ...share, title: "share of positive cases" }, y2: { field: "high" } } },
      { data: { values: summary.reliability.bins }, mark: { type: "point", filled: true, size: 70, color: "var(--c0)", opacity: 1 },
        encoding: { x, y: { field: "observed", ...share },
          tooltip: [{ field: "predicted", title: "mean probability", format: ".3f" }, { field: "observed", title: "share", format: ".3f" }, { field: "counts", title: "cases" }] } },
    ],
  });
}

// The data are there from the start: a chart without data has no scale.
function lines(id, title, y, values, extra = []) {
  return draw(id, {
    params: [{ name: "chosen", value: start.method.title }],
    datasets: values,
    data: { name: "curves" },
    layer: [
      { mark: { type: "line", interpolate: "linear", clip: true },
        encoding: {
          x: axisX("x", title), y: { field: "y", type: "quantitative", title: y, axis: { tickCount: 5 }, scale: { zero: true, nice: true } },
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

const rejecting = () => methods.filter(m => !m.reference);
// From the review of every case to as many answers as the method gives.
const path = (m, p) => [sendAll.points[0], ...pointsAlong(m.points, p)];
const curve = (m, p) => path(m, p).map(point => point.matrix);

function riskData(p) {
  return rejecting().flatMap(m => curve(m, p).filter(matrix => matrixCoverage(matrix) > 0)
    .map(matrix => ({ title: m.title, x: matrixCoverage(matrix), y: matrixFacts(matrix, p).error })));
}

function costData(p) {
  return rejecting().flatMap(m => curve(m, p).map(matrix => ({ title: m.title, x: matrixCoverage(matrix), y: matrixCost(matrix, p) })));
}

// Cost against the cost of review, up to a little beyond the point where rejecting stops paying.
function priceData(p) {
  const limit = 1 / (run.reject_ratio / p.fn + 1 / p.fp), top = Math.max(1.1 * limit, 1.05 * p.rneg), steps = 24, rows = [];
  const grid = Array.from({ length: steps }, (_, k) => (top * (k + 1)) / steps);
  for (const reject of [...grid, p.rneg].sort((a, b) => a - b)) {
    const at = pricesAt(p.fp, p.fn, reject);
    for (const m of methods) rows.push({ title: m.title, x: at.rneg, y: costAt(m, at) });
  }
  return rows;
}

// What each of the three live charts shows at the current prices.
function chartData({ facts, method }) {
  const p = current(), here = { title: method.title, x: facts.coverage };
  return {
    price: { curves: priceData(p), here: [{ x: p.rneg }], dot: [{ title: method.title, x: p.rneg, y: facts.cost }] },
    cost: { curves: costData(p), dot: [{ ...here, y: facts.cost }] },
    risk: { curves: riskData(p), dot: facts.error === null ? [] : [{ ...here, y: facts.error }] },
  };
}

function showCurves(shown) {
  for (const [name, values] of Object.entries(chartData(shown))) {
    for (const [key, rows] of Object.entries(values)) charts[name].view.data(key, rows);
    charts[name].view.signal("chosen", shown.method.title).runAsync();
  }
  showCurveTable(current());
}

function showLegend() {
  byId("legend").replaceChildren(...methods.map(m => {
    const item = document.createElement("li"), swatch = document.createElement("span");
    swatch.style.borderTop = `3px ${stroke(m)} ${colour(m)}`;
    item.append(swatch, m.title);
    return item;
  }));
}

function showCurveTable(p) {
  const shares = [1, 0.95, 0.9, 0.8, 0.7, 0.5], table = byId("curve-table");
  const cell = (tag, text, attributes = {}) => Object.assign(document.createElement(tag), { textContent: text, ...attributes });
  const head = document.createElement("tr");
  head.append(cell("th", "Method", { scope: "col", className: "left" }), ...shares.map(s => cell("th", `answers ${percent(s, 0)}`, { scope: "col" })));
  table.tHead.replaceChildren(head);
  table.tBodies[0].replaceChildren(...rejecting().map(m => {
    const row = document.createElement("tr");
    row.append(cell("th", m.title, { scope: "row" }));
    for (const share of shares) {
      const facts = matrixFacts(matrixAt(path(m, p), share), p);
      row.append(cell("td", `${percent(facts.error)} wrong, ${price(facts.cost)}`));
    }
    return row;
  }));
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
    encoding: { x: axisX("x", null, { scale: { zero: false, nice: false, domain: reach }, axis: shape.values ? { values: shape.values, format: "~g" } : {} }), y: { field: "y", type: "quantitative", title: null, axis: { tickCount: 4 } },
      color: { field: "part", type: "nominal", scale: { domain: Object.keys(parts), range: ["var(--c0)", "var(--c1)"] }, legend: { title: null, orient: "bottom" } } } });
}

// Tables ------------------------------------------------------------------------------------------------------------

function sortValue(cell) {
  const text = cell.dataset.value !== undefined ? cell.dataset.value : cell.textContent.trim();
  const number = Number(text.replace(/,/g, ""));
  return text !== "" && !Number.isNaN(number) ? number : text;
}

function compareValues(a, b) {
  if (typeof a === "number" && typeof b === "number") return a - b;
  if (typeof a === "number") return -1;
  if (typeof b === "number") return 1;
  return a.localeCompare(b);
}

function makeSortable(table) {
  table.querySelectorAll("thead th").forEach((heading, column) => {
    const button = Object.assign(document.createElement("button"), { type: "button", textContent: heading.textContent });
    heading.replaceChildren(button);
    heading.setAttribute("aria-sort", "none");
    button.addEventListener("click", () => {
      const falling = heading.getAttribute("aria-sort") === "ascending";
      table.querySelectorAll("thead th").forEach(other => other.setAttribute("aria-sort", "none"));
      heading.setAttribute("aria-sort", falling ? "descending" : "ascending");
      const rows = [...table.tBodies[0].rows];
      const keyed = rows.map(row => [sortValue(row.cells[Math.min(column, row.cells.length - 1)]), row]);
      keyed.sort((a, b) => (falling ? -1 : 1) * compareValues(a[0], b[0]));
      table.tBodies[0].append(...keyed.map(pair => pair[1]));
    });
  });
}

// Controls ----------------------------------------------------------------------------------------------------------

const positionOf = (value, base) => Math.max(-100, Math.min(100, Math.round(100 * Math.log10(value / base))));
let waiting = null;

function update() {
  const shown = showFigures();
  clearTimeout(waiting);
  waiting = setTimeout(() => { if (charts.cost) showCurves(shown); }, 60);
}

function connect(name) {
  const slider = byId(`${name}-slider`), box = byId(name);
  const show = () => { slider.setAttribute("aria-valuetext", String(prices[name])); };
  slider.addEventListener("input", () => {
    const x = Number(slider.value);
    prices[name] = x === 0 ? run[name] : Number((run[name] * 10 ** (x / 100)).toPrecision(3));
    box.value = prices[name];
    show(); update();
  });
  box.addEventListener("input", () => {
    const value = Number(box.value);
    if (!(value > 0) || !Number.isFinite(value)) return;
    prices[name] = value;
    slider.value = positionOf(value, run[name]);
    show(); update();
  });
  box.value = prices[name];
  show();
}

["fp", "fn", "reject"].forEach(connect);
byId("choice").value = chosen;
byId("controls").addEventListener("submit", event => event.preventDefault());
byId("choice").addEventListener("change", event => { chosen = event.target.value; update(); });
byId("reset").addEventListener("click", () => {
  for (const name of ["fp", "fn", "reject"]) {
    prices[name] = run[name];
    byId(name).value = run[name];
    byId(`${name}-slider`).value = 0;
    byId(`${name}-slider`).setAttribute("aria-valuetext", String(run[name]));
  }
  update();
});
document.querySelectorAll("table.sortable").forEach(makeSortable);
showLegend();

const start = showFigures(), first = chartData(start);
showCurveTable(current());
Promise.all([
  costChart(),
  lines("chart-price", "cost of review", "cost per case", first.price, [rule, dot]).then(chart => { charts.price = chart; }),
  lines("chart-cost", "share of cases answered", "cost per case", first.cost, [dot]).then(chart => { charts.cost = chart; }),
  lines("chart-risk", "share of cases answered", "share wrong", first.risk, [dot]).then(chart => { charts.risk = chart; }),
  ...summary.why.shapes.map(shapeChart),
  ...(summary.reliability ? [reliabilityChart()] : []),
]).then(() => { document.documentElement.dataset.ready = "yes"; });
