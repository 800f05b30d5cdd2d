// What methods cost at any prices, from the counts of their operating points: as in recuse.report.operating_points.
"use strict";

// Reviewing a positive costs `ratio` times as much as reviewing a negative. Rejecting a case as a novelty costs `novelty`
// times as much as reviewing a negative; null: the same as reviewing a case of its class.
function priceList(fp, fn, reject, ratio, novelty = null) {
  const rneg = reject, rpos = reject * ratio;
  const nneg = novelty === null ? rneg : reject * novelty, npos = novelty === null ? rpos : reject * novelty;
  return { fp, fn, rneg, rpos, nneg, npos, pays: rpos / fn + rneg / fp < 1 };
}

// Rows: negative, positive. Columns: answered no, answered yes, rejected as ambiguous, rejected as a novelty.
function matrixCost([negative, positive], p) {
  const add = row => row[0] + row[1] + row[2] + row[3];
  const sum = p.fp * negative[1] + p.rneg * negative[2] + p.nneg * negative[3]
    + p.fn * positive[0] + p.rpos * positive[2] + p.npos * positive[3];
  return sum / (add(negative) + add(positive));
}

// The point at which a method stands: the cheapest; of equally cheap ones (but for rounding) the first, which is its own at
// the run's prices.
function cheapestPoint(points, p) {
  let best = points[0], least = matrixCost(best.matrix, p);
  for (const point of points) {
    const cost = matrixCost(point.matrix, p);
    if (cost < least * (1 - 1e-12)) { best = point; least = cost; }
  }
  return best;
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

// The points that a method passes as reviews become more expensive, from few answers to many.
function pointsAlong(points, p) {
  const onlyErrors = { ...p, rneg: 0, rpos: 0, nneg: 0, npos: 0 }, onlyReviews = { ...p, fp: 0, fn: 0 };
  const paid = points.map(point => ({ point, errors: matrixCost(point.matrix, onlyErrors), reviews: matrixCost(point.matrix, onlyReviews) }));
  const least = (rows, key) => rows.reduce((a, b) => (b[key] < a[key] || (b[key] === a[key] && b.reviews < a.reviews) ? b : a));
  let here = least(paid, "errors");  // where reviews cost nothing
  const path = [here.point];
  for (;;) {
    const fewer = paid.filter(other => other.reviews < here.reviews * (1 - 1e-12));
    if (!fewer.length) return path;
    // How many times more expensive reviews must be for each to be as cheap as the point before; the last in a line is a corner.
    for (const other of fewer) other.factor = (other.errors - here.errors) / (here.reviews - other.reviews);
    const soonest = least(fewer, "factor").factor * (1 + 1e-9);
    here = least(fewer.filter(other => other.factor <= soonest), "reviews");
    path.push(here.point);
  }
}

const matrixCoverage = ([negative, positive]) => {
  const answered = negative[0] + negative[1] + positive[0] + positive[1];
  return answered / (answered + negative[2] + negative[3] + positive[2] + positive[3]);
};

// Counts when a method answers this share of the cases: of a point of its path, or of a mixture of two neighbours.
function matrixAt(path, share) {
  const after = path.findIndex(point => matrixCoverage(point.matrix) >= share - 1e-9);
  if (after <= 0) return path[after < 0 ? path.length - 1 : 0].matrix;
  const [a, b] = [path[after - 1].matrix, path[after].matrix], [low, high] = [matrixCoverage(a), matrixCoverage(b)];
  const weight = Math.min(1, (share - low) / (high - low));
  return a.map((row, i) => row.map((value, j) => (1 - weight) * value + weight * b[i][j]));
}
