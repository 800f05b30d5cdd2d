// Who is served worse, tested by exchanging the cases of one outcome between the segments: as in
// recuse.comparison.served_worse, from counts.
"use strict";

const EXCHANGES = 999, FIGURES = ["cost", "review", "error"], ROUNDING = 1e-9;

// The same numbers whenever the page is opened (mulberry32).
function randomNumbers(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), state | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}

function logFactorials(n) {
  const logs = new Float64Array(n + 1);
  for (let k = 2; k <= n; k += 1) logs[k] = logs[k - 1] + Math.log(k);
  return logs;
}

// How many of `taken` out of `all` cases are among `good` of them; from the most likely number outwards.
function hypergeometric(all, good, taken, logs, random) {
  const bad = all - good, least = Math.max(0, taken - bad), most = Math.min(good, taken);
  const mode = Math.min(most, Math.max(least, Math.floor(((taken + 1) * (good + 1)) / (all + 2))));
  const likely = Math.exp(logs[good] - logs[mode] - logs[good - mode] + logs[bad] - logs[taken - mode] - logs[bad - taken + mode] - logs[all] + logs[taken] + logs[all - taken]);
  let rest = random() - likely, above = likely, below = likely, up = mode, down = mode;
  while (rest >= 0 && (up < most || down > least)) {
    if (up < most) {
      above *= ((good - up) * (taken - up)) / ((up + 1) * (bad - taken + up + 1));
      up += 1; rest -= above;
      if (rest < 0) return up;
    }
    if (down > least) {
      below *= (down * (bad - taken + down)) / ((good - down + 1) * (taken - down + 1));
      down -= 1; rest -= below;
      if (rest < 0) return down;
    }
  }
  return mode;
}

// Cases of one outcome dealt to segments of these sizes: answers of each segment, four numbers each, added to `sums`.
function deal(sizes, kinds, logs, random, sums) {
  const places = sizes.slice();
  let all = places.reduce((a, b) => a + b, 0);
  const put = (segment, answers, cases) => { for (let k = 0; k < 4; k += 1) sums[4 * segment + k] += cases * answers[k]; places[segment] -= cases; };
  kinds.forEach(({ answers, cases }, position) => {
    if (position === kinds.length - 1) { places.forEach((left, segment) => put(segment, answers, left)); return; }
    all -= cases;
    if (cases < places.length) {  // few: one after the other
      for (let k = cases; k > 0; k -= 1) {
        let place = random() * (all + k), segment = 0;
        while (place >= places[segment] && segment < places.length - 1) { place -= places[segment]; segment += 1; }
        put(segment, answers, 1);
      }
      return;
    }
    let open = all + cases, left = cases;
    for (let segment = 0; segment < places.length && left > 0; segment += 1) {
      const here = places[segment], found = hypergeometric(open, here, left, logs, random);
      open -= here; left -= found;
      put(segment, answers, found);
    }
  });
}

// Answers of each segment after each exchange; kinds: cases by outcome that were answered alike, the rarest first.
function exchanged(sizes, kinds, random) {
  const width = 4 * sizes[0].length, found = [0, 1].map(() => new Float64Array(EXCHANGES * width));
  for (const outcome of [0, 1]) {
    const logs = logFactorials(sizes[outcome].reduce((a, b) => a + b, 0));
    for (let k = 0; k < EXCHANGES; k += 1) deal(sizes[outcome], kinds[outcome], logs, random, found[outcome].subarray(k * width, (k + 1) * width));
  }
  return found;
}

// What an answer adds to each figure beyond the mean of its outcome: [weights of the four answers, mean] by figure.
function deviating(matrix, p) {
  const prices = [[0, p.fp, p.rneg, p.nneg], [p.fn, 0, p.rpos, p.npos]];
  return matrix.map((row, outcome) => {
    const all = row.reduce((a, b) => a + b, 0) || 1, answered = row[0] + row[1];
    const error = answered ? row[1 - outcome] / answered : 0;
    const mean = weights => weights.reduce((sum, weight, k) => sum + weight * row[k], 0) / all;
    const wrong = [0, 1].map(answer => (answer === outcome ? -error : 1 - error));
    return [prices[outcome], [0, 0, 1, 1], [...wrong, 0, 0]].map((weights, figure) => [weights, figure === 2 ? 0 : mean(weights)]);
  });
}

// Standard deviation of the sum of a figure in each segment when cases are exchanged.
function spreadsOf(figure, sizes, kinds, parts) {
  const variances = [0, 1].map(outcome => {
    const [weights, mean] = parts[outcome][figure], all = sizes[outcome].reduce((a, b) => a + b, 0);
    const squares = kinds[outcome].reduce((sum, { answers, cases }) => sum + cases * answers.reduce((inner, often, k) => inner + often * (weights[k] - mean), 0) ** 2, 0);
    return sizes[outcome].map(size => (all < 2 ? 0 : (size * (1 - size / all) * squares) / (all - 1)));
  });
  return variances[0].map((_, segment) => Math.sqrt(variances[0][segment] + variances[1][segment]));
}

// Adjusted p-values of each segment, by figure; the exchanged answers are those of `exchanged`.
function servedWorse(segments, sizes, kinds, matrix, p, drawn, columns) {
  const n = segments.length, parts = deviating(matrix, p);
  const sumOf = (figure, at) => [0, 1].reduce((sum, outcome) => {
    const [weights, mean] = parts[outcome][figure];
    return sum + weights.reduce((inner, weight, k) => inner + (weight - mean) * at(outcome, k), 0);
  }, 0);
  const reach = Math.max(...parts.flat().flatMap(([weights, mean]) => weights.map(weight => Math.abs(weight - mean))), Number.MIN_VALUE);
  const largest = new Float64Array(EXCHANGES).fill(-Infinity);
  const spreads = FIGURES.map((_, figure) => spreadsOf(figure, sizes, kinds, parts));
  const isKnown = (figure, segment) => spreads[figure][segment] > ROUNDING * reach;  // else it is the same for all cases
  segments.forEach((_, segment) => FIGURES.forEach((_, figure) => {
    if (!isKnown(figure, segment)) return;
    for (let k = 0; k < EXCHANGES; k += 1) largest[k] = Math.max(largest[k], sumOf(figure, (outcome, answer) => drawn[outcome][4 * (k * n + segment) + answer]) / spreads[figure][segment]);
  }));
  return segments.map((counts, segment) => FIGURES.map((_, figure) => {
    if (!isKnown(figure, segment)) return 1;
    const stands = sumOf(figure, (outcome, answer) => counts[outcome][answer]) / spreads[figure][segment];
    return Math.min((columns * (1 + largest.filter(x => x >= stands - ROUNDING).length)) / (1 + EXCHANGES), 1);
  }));
}
