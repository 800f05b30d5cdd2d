// What the charts of a page of two classes show as prices change.

// Cost against the cost of review, up to a little beyond the point where rejecting stops paying.
function priceData(p) {
  const limit = 1 / (run.reject_ratio / p.fn + 1 / p.fp), top = Math.max(1.1 * limit, 1.05 * p.rneg), steps = 24, rows = [];
  const grid = Array.from({ length: steps }, (_, k) => (top * (k + 1)) / steps);
  for (const reject of [...grid, p.rneg].sort((a, b) => a - b)) {
    const at = pricesAt(p.fp, p.fn, reject);
    for (const m of shownMethods()) rows.push({ title: m.title, x: at.rneg, y: costAt(m, at) });
  }
  return rows;
}

// The tables behind the curves.
function showCurveTables(p) {
  const shares = [1, 0.95, 0.9, 0.8, 0.7, 0.5], shown = shownMethods();
  fillTable(byId("curve-table"), ["Method", ...shares.map(share => `answers ${percent(share, 0)}`)], shown.filter(m => !m.reference).map(m => [m.title, ...shares.map(share => {
    const facts = matrixFacts(matrixAt(path(m, p), share), p);
    return `${percent(facts.error)} wrong, ${price(facts.cost)}`;
  })]));
  const factors = [0.25, 0.5, 1, 1.5, 2, 4].map(factor => factor * p.rneg);
  fillTable(byId("price-table"), ["Method", ...factors.map(x => `review costs ${inThree(x)}`)], shown.map(m => [m.title, ...factors.map(x => price(costAt(m, pricesAt(p.fp, p.fn, x))))]));
}
