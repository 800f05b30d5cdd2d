// Operating points at any prices, from out-of-fold scores: the same definitions as recuse.report.operating.
"use strict";

const SAME = 1e-12;

function priceList(fp, fn, reject, ratio) {
  const rneg = reject, rpos = reject * ratio;
  const pays = rpos / fn + rneg / fp < 1;
  const breakEven = fp / (fp + fn);
  const lower = pays ? rneg / (fn - rpos + rneg) : breakEven;
  const upper = pays ? (fp - rneg) / (fp - rneg + rpos) : breakEven;
  return { fp, fn, rneg, rpos, pays, breakEven, lower, upper };
}

// Rows: negative, positive. Columns: answered no, answered yes, rejected.
function emptyMatrix() { return [[0, 0, 0], [0, 0, 0]]; }

function matrixCost(matrix, p) {
  const total = matrix[0][0] + matrix[0][1] + matrix[0][2] + matrix[1][0] + matrix[1][1] + matrix[1][2];
  const sum = p.fp * matrix[0][1] + p.rneg * matrix[0][2] + p.fn * matrix[1][0] + p.rpos * matrix[1][2];
  return sum / total;
}

function matrixFacts(matrix, p) {
  const rejected = matrix[0][2] + matrix[1][2];
  const right = matrix[0][0] + matrix[1][1], wrong = matrix[0][1] + matrix[1][0];
  const total = rejected + right + wrong;
  return {
    cost: matrixCost(matrix, p),
    coverage: (right + wrong) / total,
    error: right + wrong > 0 ? wrong / (right + wrong) : null,
    rejected: rejected / total,
    total,
  };
}

function cut(value, lower, upper) { return value > upper ? 1 : value < lower ? 0 : 2; }

function foldsOf(codes) {
  let most = 0;
  for (const code of codes) most = Math.max(most, code >> 2);
  return most + 1;
}

// Distinct scores of the cases outside one fold, with the weight of each class.
function groupOthers(entries, fold) {
  const values = [], negatives = [], positives = [];
  for (let i = 0; i < entries.values.length; i++) {
    if (entries.codes[i] >> 2 === fold) continue;
    const weight = entries.weights ? entries.weights[i] : 1;
    if (!values.length || values[values.length - 1] !== entries.values[i]) {
      values.push(entries.values[i]); negatives.push(0); positives.push(0);
    }
    (entries.codes[i] & 2 ? positives : negatives)[values.length - 1] += weight;
  }
  return { values, negatives, positives };
}

// The cheapest two cuts; of equally cheap ones the narrowest. Cut k lies below the k-th distinct score.
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

// Acceptance score from which on accepting the cases outside one fold costs least; the lowest of equals.
function acceptanceThreshold(entries, fold, p) {
  const points = [];
  let total = 0, rejectAll = 0, error = 0, spared = 0;
  for (let i = 0; i < entries.values.length; i++) {
    if (entries.codes[i] >> 2 === fold) continue;
    const weight = entries.weights ? entries.weights[i] : 1;
    total += weight;
    rejectAll += weight * (entries.codes[i] & 2 ? p.rpos : p.rneg);
  }
  for (let i = entries.values.length - 1; i >= 0; i--) {
    const code = entries.codes[i];
    if (code >> 2 === fold) continue;
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
  return chosen;
}

function operatingMatrix(entries, moves, p) {
  const matrix = emptyMatrix(), n = entries.values.length;
  let rule;
  if (moves === "plain" || !p.pays) {
    rule = moves === "plain" || moves === "chow"
      ? (value) => (value > p.breakEven ? 1 : 0)
      : (value, code) => code & 1;
  } else if (moves === "chow") {
    rule = value => cut(value, p.lower, p.upper);
  } else {
    const folds = foldsOf(entries.codes), choices = [];
    for (let fold = 0; fold < folds; fold++) {
      choices.push(moves === "tuned" ? tunedBand(groupOthers(entries, fold), p) : acceptanceThreshold(entries, fold, p));
    }
    rule = moves === "tuned"
      ? (value, code) => cut(value, choices[code >> 2].lower, choices[code >> 2].upper)
      : (value, code) => (value >= choices[code >> 2] ? code & 1 : 2);
  }
  for (let i = 0; i < n; i++) {
    const code = entries.codes[i];
    matrix[code & 2 ? 1 : 0][rule(entries.values[i], code)] += entries.weights ? entries.weights[i] : 1;
  }
  return matrix;
}
