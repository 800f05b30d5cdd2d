// What methods for three classes or more cost at other prices than those of the run: as in recuse.report.class_points.
"use strict";

// A matrix of counts has a row for each class; its columns are the answers, rejected as ambiguous, rejected as a novelty.
function dense([cells, counts], classes) {
  const matrix = Array.from({ length: classes }, () => new Array(classes + 2).fill(0));
  cells.forEach((cell, k) => { matrix[Math.floor(cell / (classes + 2))][cell % (classes + 2)] = counts[k]; });
  return matrix;
}

const sum = values => values.reduce((total, value) => total + value, 0);

// Prices of the run, the errors on cases of one class times a factor, and every review times another; `rneg` is what the
// review of a case costs on average.
function pricesAtFactors(run, ofClass, error, review, counts) {
  const errors = run.errors.map((row, i) => (i === ofClass ? row.map(value => value * error) : row));
  const reject = run.reject.map(value => value * review), novel = run.novel.map(value => value * review);
  return { errors, reject, novel, ofClass, error, review, rneg: sum(reject.map((value, i) => value * counts[i])) / sum(counts) };
}

const priceOf = (p, i, j) => (j < p.errors.length ? p.errors[i][j] : j === p.errors.length ? p.reject[i] : p.novel[i]);

function matrixCost(matrix, p) {
  return sum(matrix.map((row, i) => sum(row.map((count, j) => (count ? count * priceOf(p, i, j) : 0))))) / sum(matrix.flat());
}

// A point with what it pays at the prices of the run: for errors on cases of each class, and for reviews. Its cost at other
// prices follows from these alone: a matrix of fifty classes has thousands of cells, and a slider asks for many points.
function asPoint(matrix, run) {
  const errors = matrix.map((row, i) => sum(row.slice(0, matrix.length).map((count, j) => count * run.errors[i][j])));
  const reviews = sum(matrix.map((row, i) => row[matrix.length] * run.reject[i] + row[matrix.length + 1] * run.novel[i]));
  return { matrix, errors, paid: sum(errors), reviews, cases: sum(matrix.flat()) };
}

const errorCost = (point, p) => (point.paid + (p.error - 1) * point.errors[p.ofClass]) / point.cases;
const reviewCost = (point, p) => (p.review * point.reviews) / point.cases;
const pointCost = (point, p) => errorCost(point, p) + reviewCost(point, p);

// The point at which a method stands: the cheapest; of equally cheap ones (but for rounding) the first, which is its own at
// the run's prices.
function cheapestPoint(points, p) {
  let best = points[0], least = pointCost(best, p);
  for (const point of points) {
    const cost = pointCost(point, p);
    if (cost < least * (1 - 1e-12)) { best = point; least = cost; }
  }
  return best;
}

function matrixFacts(matrix, p) {
  const classes = matrix.length, right = sum(matrix.map((row, i) => row[i]));
  const answered = sum(matrix.map(row => sum(row.slice(0, classes)))), total = sum(matrix.flat());
  return {
    cost: matrixCost(matrix, p),
    coverage: answered / total,
    error: answered > 0 ? (answered - right) / answered : null,
    wrong: answered - right,
    rejected: 1 - answered / total,
    novel: sum(matrix.map(row => row[classes + 1])) / total,
    total,
  };
}

const matrixCoverage = matrix => sum(matrix.map(row => sum(row.slice(0, matrix.length)))) / sum(matrix.flat());

// The points that a method passes as reviews become more expensive, from few answers to many.
function pointsAlong(points, p) {
  const paid = points.map(point => ({ point, errors: errorCost(point, p), reviews: reviewCost(point, p) }));
  const least = (rows, key) => rows.reduce((a, b) => (b[key] < a[key] || (b[key] === a[key] && b.reviews < a.reviews) ? b : a));
  let here = least(paid, "errors");  // where reviews cost nothing
  const path = [here.point];
  for (;;) {
    const fewer = paid.filter(other => other.reviews < here.reviews * (1 - 1e-12));
    if (!fewer.length) return path;
    for (const other of fewer) other.factor = (other.errors - here.errors) / (here.reviews - other.reviews);
    const soonest = least(fewer, "factor").factor * (1 + 1e-9);
    here = least(fewer.filter(other => other.factor <= soonest), "reviews");
    path.push(here.point);
  }
}

// Counts when a method answers this share of the cases: of a point of its path, or of a mixture of two neighbours.
function matrixAt(path, share) {
  const after = path.findIndex(point => matrixCoverage(point.matrix) >= share - 1e-9);
  if (after <= 0) return path[after < 0 ? path.length - 1 : 0].matrix;
  const [a, b] = [path[after - 1].matrix, path[after].matrix], [low, high] = [matrixCoverage(a), matrixCoverage(b)];
  const weight = Math.min(1, (share - low) / (high - low));
  return a.map((row, i) => row.map((value, j) => (1 - weight) * value + weight * b[i][j]));
}
