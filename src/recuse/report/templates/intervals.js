// 95% intervals from counts: as in recuse.comparison.intervals, for cases that have nothing to do with each other.
"use strict";

const Z = 1.959963984540054, TAIL = 0.025;

function logGamma(x) {
  const g = [676.5203681218851, -1259.1392167224028, 771.32342877765313, -176.61502916214059, 12.507343278686905, -0.13857109526572012, 9.9843695780195716e-6, 1.5056327351493116e-7];
  let sum = 0.99999999999980993;
  g.forEach((part, i) => { sum += part / (x + i); });
  const t = x + 6.5;
  return 0.5 * Math.log(2 * Math.PI) + (x - 0.5) * Math.log(t) - t + Math.log(sum);
}

// Share of a gamma distribution of this shape below x: a series for small x, a continued fraction for large x.
function gammaShare(shape, x) {
  if (x <= 0) return 0;
  const front = Math.exp(shape * Math.log(x) - x - logGamma(shape));
  if (x < shape + 1) {
    let term = 1 / shape, sum = term;
    for (let k = 1; k < 2000 && term > sum * 1e-15; k += 1) { term *= x / (shape + k); sum += term; }
    return front * sum;
  }
  let b = x + 1 - shape, c = 1e300, d = 1 / b, h = d;
  for (let k = 1; k < 2000; k += 1) {
    const a = k * (shape - k);
    b += 2; d = 1 / (a * d + b); c = b + a / c; h *= c * d;
    if (Math.abs(c * d - 1) < 1e-15) break;
  }
  return 1 - front * h;
}

function gammaQuantile(shape, share) {
  let low = 0, high = shape + 10 * Math.sqrt(shape) + 20;
  for (let k = 0; k < 200; k += 1) {
    const middle = (low + high) / 2;
    if (gammaShare(shape, middle) < share) low = middle; else high = middle;
  }
  return (low + high) / 2;
}

// Mean over n cases of amounts that are mostly 0; amounts: pairs of an amount and how many cases pay it.
function rareMean(amounts, largest, n) {
  const total = amounts.reduce((sum, [amount, cases]) => sum + amount * cases, 0);
  const squares = amounts.reduce((sum, [amount, cases]) => sum + amount * amount * cases, 0);
  const more = total + largest, moreSquares = squares + largest ** 2;
  const low = total > 0 ? (squares / total) * gammaQuantile(total ** 2 / squares, TAIL) : 0;
  const high = more > 0 ? (moreSquares / more) * gammaQuantile(more ** 2 / moreSquares, 1 - TAIL) : 0;
  return [total / n, low / n, Math.min(high, n * largest) / n];
}

// Mean over n cases of amounts up to `largest`: Wilson's interval.
function frequentMean(amounts, largest, n) {
  if (largest === 0) return [0, 0, 0];
  const share = amounts.reduce((sum, [amount, cases]) => sum + amount * cases, 0) / largest / n;
  const middle = (share + Z ** 2 / (2 * n)) / (1 + Z ** 2 / n);
  const reach = (Z * Math.sqrt(Math.max(share * (1 - share), 0) / n + Z ** 2 / (4 * n ** 2))) / (1 + Z ** 2 / n);
  return [share, Math.max(Math.min(middle - reach, share), 0), Math.min(Math.max(middle + reach, share), 1)].map(x => x * largest);
}

const minus = ([value, low, high]) => [-value, -high, -low];

// Sum of estimates: the distances of their limits add up like standard errors, wider where cases belong together.
function combined(parts, widen = 1) {
  const value = parts.reduce((sum, part) => sum + part[0], 0);
  const below = Math.hypot(...parts.map(part => part[0] - part[1])), above = Math.hypot(...parts.map(part => part[2] - part[0]));
  return [value, value - widen * below, value + widen * above];
}

// Of costs: no lower than if every answer were right, no higher than if every case paid the most.
const possible = (interval, most) => interval.map(x => Math.min(Math.max(x, 0), most));

const casesOf = matrix => matrix.flat().reduce((sum, cases) => sum + cases, 0);
