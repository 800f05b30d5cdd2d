// Operating points at any prices, from out-of-fold scores: the same definitions as recuse.report.operating_points.
"use strict";

const SAME = 1e-12;

// Reviewing a positive costs `ratio` times as much as reviewing a negative. Rejecting a case as a novelty costs `novelty`
// times as much as reviewing a negative; null: the same as reviewing a case of its class.
function priceList(fp, fn, reject, ratio, novelty = null) {
  const rneg = reject, rpos = reject * ratio;
  const nneg = novelty === null ? rneg : reject * novelty, npos = novelty === null ? rpos : reject * novelty;
  const pays = rpos / fn + rneg / fp < 1;
  const breakEven = fp / (fp + fn);
  const lower = pays ? rneg / (fn - rpos + rneg) : breakEven;
  const upper = pays ? (fp - rneg) / (fp - rneg + rpos) : breakEven;
  return { fp, fn, rneg, rpos, nneg, npos, pays, breakEven, lower, upper };
}

// Rows: negative, positive. Columns: answered no, answered yes, rejected as ambiguous, rejected as a novelty.
function emptyMatrix() { return [[0, 0, 0, 0], [0, 0, 0, 0]]; }

function matrixCost([negative, positive], p) {
  const add = row => row[0] + row[1] + row[2] + row[3];
  const sum = p.fp * negative[1] + p.rneg * negative[2] + p.nneg * negative[3]
    + p.fn * positive[0] + p.rpos * positive[2] + p.npos * positive[3];
  return sum / (add(negative) + add(positive));
}

function matrixFacts(matrix, p) {
  const novel = matrix[0][3] + matrix[1][3], rejected = matrix[0][2] + matrix[1][2] + novel;
  const right = matrix[0][0] + matrix[1][1], wrong = matrix[0][1] + matrix[1][0];
  const total = rejected + right + wrong;
  return {
    cost: matrixCost(matrix, p),
    coverage: (right + wrong) / total,
    error: right + wrong > 0 ? wrong / (right + wrong) : null,
    rejected: rejected / total,
    novel: novel / total,
    total,
  };
}

function cut(value, lower, upper) { return value > upper ? 1 : value < lower ? 0 : 2; }

// Whether the thresholds of a fold may be chosen on an entry: it is of another fold of the same repetition, and no novelty.
function isUsable(entries, i, fold) {
  const other = entries.codes[i] >> 3;
  return other !== fold && !(entries.codes[i] & 4) && Math.floor(other / entries.folds) === Math.floor(fold / entries.folds);
}

// Distinct scores of the cases outside one fold, with the weight of each class.
function groupOthers(entries, fold) {
  const values = [], negatives = [], positives = [];
  for (let i = 0; i < entries.values.length; i++) {
    if (!isUsable(entries, i, fold)) continue;
    const weight = entries.weights ? entries.weights[i] : 1;
    if (!values.length || values[values.length - 1] !== entries.values[i]) {
      values.push(entries.values[i]); negatives.push(0); positives.push(0);
    }
    (entries.codes[i] & 2 ? positives : negatives)[values.length - 1] += weight;
  }
  return { values, negatives, positives };
}

// The cheapest two cuts; of equally cheap ones, the narrowest band. Cut k lies below the k-th distinct score.
function tunedBand(group, p) {
  const m = group.values.length;
  const P = new Float64Array(m + 1), N = new Float64Array(m + 1);
  for (let k = 0; k < m; k++) { P[k + 1] = P[k] + group.positives[k]; N[k + 1] = N[k] + group.negatives[k]; }
  const same = SAME * (p.fp + p.fn) * (P[m] + N[m]);
  const lowerTerm = k => p.fn * P[k] - (p.rpos * P[k] + p.rneg * N[k]);
  const upperTerm = k => p.rpos * P[k] + p.rneg * N[k] + p.fp * (N[m] - N[k]);
  const bestLower = new Float64Array(m + 1);
  let running = Infinity, least = Infinity;
  for (let k = 0; k <= m; k++) {
    running = Math.min(running, lowerTerm(k));
    bestLower[k] = running;
    least = Math.min(least, running + upperTerm(k));
  }
  let upper = 0;
  while (bestLower[upper] + upperTerm(upper) > least + same) upper++;
  let lower = upper;
  while (lowerTerm(lower) > bestLower[upper] + same) lower--;
  return { lower: threshold(group.values, lower, false), upper: threshold(group.values, upper, true) };
}

// A score between the neighbours of a cut, beyond the scores at both ends.
function threshold(values, k, above) {
  const m = values.length, reach = 2 * Math.max(1, values[m - 1] - values[0]);
  const left = k > 0 ? values[k - 1] : values[0] - reach;
  const right = k < m ? values[k] : values[m - 1] + reach;
  const middle = left + (right - left) / 2;
  if (above) return middle >= right ? left : middle;
  return middle <= left ? right : middle;
}

// Lowest of the acceptance scores at which accepting everything above costs least on the cases outside one fold. Where it
// costs least to accept nothing: as far above the highest score as the scores are spread.
function acceptanceThreshold(entries, fold, p) {
  const points = [];
  let total = 0, rejectAll = 0, error = 0, spared = 0;
  for (let i = 0; i < entries.values.length; i++) {
    if (!isUsable(entries, i, fold)) continue;
    const weight = entries.weights ? entries.weights[i] : 1;
    total += weight;
    rejectAll += weight * (entries.codes[i] & 2 ? p.rpos : p.rneg);
  }
  for (let i = entries.values.length - 1; i >= 0; i--) {
    const code = entries.codes[i];
    if (!isUsable(entries, i, fold)) continue;
    const weight = entries.weights ? entries.weights[i] : 1, positive = code & 2, forced = code & 1;
    if (!points.length || points[points.length - 1].value !== entries.values[i]) points.push({ value: entries.values[i] });
    error += weight * (positive ? (forced ? 0 : p.fn) : (forced ? p.fp : 0));
    spared += weight * (positive ? p.rpos : p.rneg);
    points[points.length - 1].cost = (error + rejectAll - spared) / total;
  }
  points.unshift({ value: Infinity, cost: rejectAll / total });
  let least = Infinity;
  for (const point of points) least = Math.min(least, point.cost);
  let chosen = Infinity;
  for (const point of points) if (point.cost <= least + SAME * (p.fp + p.fn)) chosen = point.value;
  const top = points[1].value, bottom = points[points.length - 1].value;
  return Math.min(chosen, top + (top - bottom));
}

// How each fold is answered, by thresholds that `choose` finds on the other folds of its repetition.
function foldByFold(entries, p, choose) {
  if (!p.pays) return (value, code) => code & 1;
  const rules = [];
  for (let fold = 0; fold < entries.folds * entries.repeats; fold++) {
    const group = groupOthers(entries, fold);
    rules.push(group.values.length ? choose(group, fold) : (value, forced) => forced);
  }
  return (value, code) => rules[code >> 3](value, code & 1);
}

const breakEvenRule = p => value => (value > p.breakEven ? 1 : 0);

// The ways to follow the prices, by the names of WAYS in recuse.report.operating_points: each returns the answer to an
// entry, from its score and its code.
const WAYS = {
  plain: (entries, p) => breakEvenRule(p),
  chow: (entries, p) => (p.pays ? value => cut(value, p.lower, p.upper) : breakEvenRule(p)),
  tuned: (entries, p) => foldByFold(entries, p, group => {
    const band = tunedBand(group, p);
    return value => cut(value, band.lower, band.upper);
  }),
  pair: (entries, p, trained) => foldByFold(entries, p, (group, fold) => {
    // 0 at the prices of the run, shifted by as much as the threshold of least cost shifts from there.
    const shift = acceptanceThreshold(entries, fold, p) - acceptanceThreshold(entries, fold, trained);
    return (value, forced) => (value > shift ? forced : 2);
  }),
};

// At prices p, for a method trained at the prices `trained`.
function operatingMatrix(entries, moves, p, trained) {
  const matrix = emptyMatrix(), rule = WAYS[moves](entries, p, trained);
  for (let i = 0; i < entries.values.length; i++) {
    const code = entries.codes[i], answer = code & 4 ? 3 : rule(entries.values[i], code);
    matrix[code & 2 ? 1 : 0][answer] += entries.weights ? entries.weights[i] : 1;
  }
  return matrix.map(row => row.map(value => value / entries.repeats));
}
