// The page: sliders, figures, charts and sortable tables. The arithmetic is in live.js.
"use strict";

const summary = JSON.parse(document.getElementById("summary").textContent);
const byId = id => document.getElementById(id);
const run = summary.prices;
const methods = summary.methods;
const prices = { fp: run.fp, fn: run.fn, reject: run.reject };
let chosen = summary.verdict.best_model;

const percent = (x, digits = 1) => (x === null ? "–" : (100 * x).toFixed(digits) + "%");
// As in the sentences: prices in cents need no thousandths.
const decimalsOf = x => (Math.abs(x) < 1 ? 4 : Math.abs(x) < 10 ? 3 : Math.abs(x) < 10000 ? 2 : 0);
const price = x => x.toLocaleString("en", { minimumFractionDigits: decimalsOf(x), maximumFractionDigits: decimalsOf(x) });
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
