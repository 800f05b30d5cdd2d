// The page of three classes or more: sliders, figures, charts and sortable tables. The arithmetic is in class_live.js.
"use strict";

const summary = JSON.parse(document.getElementById("summary").textContent);
const byId = id => document.getElementById(id);
const run = summary.prices;
const classes = summary.classes;
const asPoints = list => list.map(sparse => asPoint(dense(sparse, classes.length), run));
const methods = summary.methods.map(method => ({ ...method, points: asPoints(method.points), forced: asPoints(method.forced) }));
const factors = { error: 1, review: 1 };
let ofClass = 0, chosen = summary.verdict.best_model;

const percent = (x, digits = 1) => (x === null ? "–" : (100 * x).toFixed(digits) + "%");
// As in the sentences: prices in cents need no thousandths.
const decimalsOf = x => (Math.abs(x) < 1 ? 4 : Math.abs(x) < 10 ? 3 : Math.abs(x) < 10000 ? 2 : 0);
const price = x => x.toLocaleString("en", { minimumFractionDigits: decimalsOf(x), maximumFractionDigits: decimalsOf(x) });
const count = x => (0 < x && x < 0.5 ? "<1" : Math.round(x).toLocaleString("en"));  // a mean over the repetitions may lie between
const inSix = x => Number(x.toPrecision(6));
const inThree = x => Number(x.toPrecision(3));
const isRun = () => factors.error === 1 && factors.review === 1;
const pricesAt = (error, review) => pricesAtFactors(run, ofClass, error, review, summary.counts);
const current = () => pricesAt(factors.error, factors.review);

const pointAt = (method, p) => cheapestPoint(method.points, p);
const costAt = (method, p) => pointCost(pointAt(method, p), p);

// The answers that are the same for every case, as operating points.
const constants = summary.constants.map((name, k) => {
  const column = k === 0 ? classes.length : k - 1, title = summary.leaderboard.find(row => row.method === name).title;
  const matrix = summary.counts.map(cases => { const row = new Array(classes.length + 2).fill(0); row[column] = cases; return row; });
  return { name, title, points: [asPoint(matrix, run)] };
});
const sendAll = constants[0];
const sendAllCost = p => costAt(sendAll, p);

// The cheapest of all methods and constant answers.
function cheapest(p) {
  const costs = [...methods, ...constants].map(m => ({ title: m.title, cost: costAt(m, p) }));
  return costs.reduce((a, b) => (b.cost < a.cost ? b : a));
}

// What sets a method apart in the charts from another one of the same model.
const DOTTED = new Set(["tuned"]);
