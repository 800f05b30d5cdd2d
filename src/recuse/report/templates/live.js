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

// The point at which a method stands: the cheapest; of equally cheap ones the first, which is its own at the run's prices.
function cheapestPoint(points, p) {
  let best = points[0], least = matrixCost(best.matrix, p);
  for (const point of points) {
    const cost = matrixCost(point.matrix, p);
    if (cost < least) { best = point; least = cost; }
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
