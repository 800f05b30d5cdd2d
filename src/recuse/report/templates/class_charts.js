// What the charts of a page of three classes or more show as prices change.

// Cost against what the review of an average case costs, up to a little beyond where nobody would review.
function priceData(p) {
  const answered = Math.min(...constants.slice(1).map(constant => costAt(constant, p))), steps = 24, rows = [];
  const top = Math.max(1.1 * answered, 1.05 * p.rneg), one = p.rneg / factors.review;
  const grid = Array.from({ length: steps }, (_, k) => (top * (k + 1)) / steps);
  for (const review of [...grid, p.rneg].sort((a, b) => a - b)) {
    const at = pricesAt(factors.error, review / one);
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
  const times = [0.25, 0.5, 1, 1.5, 2, 4];
  fillTable(byId("price-table"), ["Method", ...times.map(factor => `review costs ${inThree(factor * p.rneg)}`)], shown.map(m => [m.title, ...times.map(factor => price(costAt(m, pricesAt(factors.error, factor * factors.review))))]));
}
