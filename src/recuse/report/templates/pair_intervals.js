// Intervals of rules for two classes, from the counts of their answers.
"use strict";

const errorAmounts = ([negative, positive], p) => [[p.fp, negative[1]], [p.fn, positive[0]]];
const reviewAmounts = ([negative, positive], p) => [[p.rneg, negative[2]], [p.nneg, negative[3]], [p.rpos, positive[2]], [p.npos, positive[3]]];
const dearest = amounts => Math.max(0, ...amounts.filter(([, cases]) => cases > 0).map(([amount]) => amount));
// The dearest error that the answers of a rule can be: a no may be a miss, a yes a false alarm.
const dearestError = ([negative, positive], p) => Math.max(negative[0] + positive[0] > 0 ? p.fn : 0, negative[1] + positive[1] > 0 ? p.fp : 0);
const dearestPrice = p => Math.max(p.fp, p.fn, p.rneg, p.rpos, p.nneg, p.npos);

function costInterval(matrix, p, widen = 1) {
  const n = casesOf(matrix), reviews = reviewAmounts(matrix, p);
  const reviewed = reviews.filter(([, cases]) => cases > 0);
  const certain = reviewed.length && reviewed.reduce((sum, [, cases]) => sum + cases, 0) >= n && reviewed.every(([price]) => price === reviewed[0][0]);
  const review = certain ? [reviewed[0][0], reviewed[0][0], reviewed[0][0]] : frequentMean(reviews, dearest(reviews), n);
  return possible(combined([rareMean(errorAmounts(matrix, p), dearestError(matrix, p), n), review], widen), dearestPrice(p));
}

// What a rule saves against the review of every case: the reviews of the cases it answers, less its errors.
function savedAgainstReview(matrix, p, widen = 1) {
  const n = casesOf(matrix), [negative, positive] = matrix;
  const spared = [[p.rneg, negative[0] + negative[1]], [p.rpos, positive[0] + positive[1]]];
  return combined([frequentMean(spared, dearest(spared), n), minus(rareMean(errorAmounts(matrix, p), dearestError(matrix, p), n))], widen);
}

// What a rule saves against itself when it must answer every case, if only the cases it rejects are answered otherwise.
function savedAgainstForced(matrix, forced, p, widen = 1) {
  const n = casesOf(matrix), own = errorAmounts(matrix, p), then = errorAmounts(forced, p);
  const more = own.map(([amount, cases], k) => [amount, Math.max(then[k][1] - cases, 0)]), fewer = own.map(([amount, cases], k) => [amount, Math.max(cases - then[k][1], 0)]);
  const reviews = reviewAmounts(matrix, p);
  return combined([rareMean(more, Math.max(p.fp, p.fn), n), minus(rareMean(fewer, 0, n)), minus(frequentMean(reviews, dearest(reviews), n))], widen);
}

// Two rules whose answers to the single cases are not known together: as if they had nothing to do with each other.
function savedAgainstOther(matrix, other, p, widen = 1) {
  return combined([costInterval(other, p), minus(costInterval(matrix, p))], widen);
}
