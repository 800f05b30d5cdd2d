// Intervals of rules for three classes or more, from the counts of their answers.
"use strict";

const casesIn = matrix => sum(matrix.flat());
const amountsOf = (matrix, p, from, to) => matrix.flatMap((row, i) => row.slice(from, to).map((count, j) => [priceOf(p, i, from + j), count]));
const errorAmounts = (matrix, p) => amountsOf(matrix, p, 0, matrix.length).filter(([amount]) => amount > 0);
const reviewAmounts = (matrix, p) => amountsOf(matrix, p, matrix.length, matrix.length + 2);
const dearest = amounts => Math.max(0, ...amounts.filter(([, cases]) => cases > 0).map(([amount]) => amount));
// The dearest error that an answer which the rule gives can be.
const dearestError = (matrix, p) => Math.max(0, ...p.errors.map((_, j) => (sum(matrix.map(row => row[j])) > 0 ? Math.max(...p.errors.map(row => row[j])) : 0)));
const dearestPrice = p => Math.max(...p.errors.flat(), ...p.reject, ...p.novel);

function costInterval(matrix, p, widen = 1) {
  const n = casesIn(matrix), reviews = reviewAmounts(matrix, p), reviewed = reviews.filter(([, cases]) => cases > 0);
  const certain = sum(reviewed.map(([, cases]) => cases)) >= n && reviewed.every(([amount]) => amount === reviewed[0][0]);
  const review = certain ? [reviewed[0][0], reviewed[0][0], reviewed[0][0]] : frequentMean(reviews, dearest(reviews), n);
  return possible(combined([rareMean(errorAmounts(matrix, p), dearestError(matrix, p), n), review], widen), dearestPrice(p));
}

// What a rule saves against the review of every case: the reviews of the cases it answers, less its errors.
function savedAgainstReview(matrix, p, widen = 1) {
  const n = casesIn(matrix), spared = matrix.map((row, i) => [p.reject[i], sum(row.slice(0, matrix.length))]);
  return combined([frequentMean(spared, dearest(spared), n), minus(rareMean(errorAmounts(matrix, p), dearestError(matrix, p), n))], widen);
}

// What a rule saves against itself when it must answer every case, if only the cases it rejects are answered otherwise.
function savedAgainstForced(matrix, forced, p, widen = 1) {
  const n = casesIn(matrix), own = errorAmounts(matrix, p), then = errorAmounts(forced, p);
  const more = own.map(([amount, cases], k) => [amount, Math.max(then[k][1] - cases, 0)]), fewer = own.map(([amount, cases], k) => [amount, Math.max(cases - then[k][1], 0)]);
  const reviews = reviewAmounts(matrix, p), largest = Math.max(...p.errors.flat());
  return combined([rareMean(more, largest, n), minus(rareMean(fewer, 0, n)), minus(frequentMean(reviews, dearest(reviews), n))], widen);
}

// Two rules whose answers to the single cases are not known together: as if they had nothing to do with each other.
function savedAgainstOther(matrix, other, p, widen = 1) {
  return combined([costInterval(other, p), minus(costInterval(matrix, p))], widen);
}
