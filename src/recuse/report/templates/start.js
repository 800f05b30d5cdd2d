// Controls ----------------------------------------------------------------------------------------------------------

const positionOf = (value, base) => Math.max(-100, Math.min(100, Math.round(100 * Math.log10(value / base))));
let waiting = null;

function update() {
  const shown = showFigures();
  clearTimeout(waiting);
  waiting = setTimeout(() => showLater(shown), 60);
  return shown;
}

// What takes longer than a slider may wait for.
function showLater(shown) {
  waiting = null;
  if (charts.cost) showCurves(shown);
  showSegments(shown.method);
}

// After another method was chosen, or the list of methods folded or unfolded.
function redraw() {
  update();
  showLegend();
  return reliabilityChart(chosen);
}

function connect(name) {
  const slider = byId(`${name}-slider`), box = byId(name);
  const show = () => { slider.setAttribute("aria-valuetext", String(prices[name])); };
  slider.addEventListener("input", () => {
    const x = Number(slider.value);
    prices[name] = x === 0 ? run[name] : Number((run[name] * 10 ** (x / 100)).toPrecision(3));
    fillBox(box, prices[name]);
    show(); update();
  });
  box.addEventListener("input", () => {
    const value = typedNumber(box, prices[name]);
    if (value === undefined) return;
    prices[name] = value;
    slider.value = positionOf(value, run[name]);
    show(); update();
  });
  prepareBox(box);
  fillBox(box, prices[name]);
  show();
}

["fp", "fn", "reject"].forEach(connect);
byId("choice").value = chosen;
byId("controls").addEventListener("submit", event => event.preventDefault());
byId("choice").addEventListener("change", event => { chosen = event.target.value; redraw(); });
byId("reset").addEventListener("click", () => {
  for (const name of ["fp", "fn", "reject"]) {
    prices[name] = run[name];
    fillBox(byId(name), run[name]);
    byId(`${name}-slider`).value = 0;
    byId(`${name}-slider`).setAttribute("aria-valuetext", String(run[name]));
  }
  update();
});
document.querySelectorAll("table.cards").forEach(labelCells);
document.querySelectorAll("table.sortable").forEach(makeSortable);
document.querySelectorAll("table[data-download]").forEach(addDownload);
connectMoney();
connectFolds(() => { costChart(); redraw(); });
showLegend();

// Printing: everything, or the summary alone; what is still to be shown comes first.
window.addEventListener("beforeprint", () => {
  if (waiting === null) return;
  clearTimeout(waiting);
  showLater(showFigures());
});
byId("print-all").addEventListener("click", () => window.print());
byId("print-summary").addEventListener("click", () => {
  document.documentElement.dataset.print = "summary";
  window.print();
});
window.addEventListener("afterprint", () => { delete document.documentElement.dataset.print; });

const start = showFigures(), first = chartData(start);
Promise.all([
  costChart(),
  lines("chart-price", "cost of review", "cost per case", first.price, [rule, dot]).then(chart => { charts.price = chart; }),
  lines("chart-cost", "share of cases answered", "cost per case", first.cost, [dot]).then(chart => { charts.cost = chart; }),
  lines("chart-risk", "share of cases answered", "share wrong", first.risk, [dot]).then(chart => { charts.risk = chart; }),
  ...summary.why.shapes.map(shapeChart),
  reliabilityChart(chosen),
]).then(() => {
  showCurves(start);
  document.documentElement.dataset.ready = "yes";
});
