// Controls of the page of three classes or more ------------------------------------------------------------------------

const positionOf = value => Math.max(-100, Math.min(100, Math.round(100 * Math.log10(value))));
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
}

function redraw() {
  update();
  showLegend();
  return reliabilityChart(chosen);
}

function setFactor(name, value) {
  factors[name] = value;
  byId(`${name}-slider`).value = positionOf(value);
  byId(`${name}-slider`).setAttribute("aria-valuetext", `${value} times`);
}

function connect(name) {
  const slider = byId(`${name}-slider`), box = byId(name);
  slider.addEventListener("input", () => {
    const x = Number(slider.value);
    setFactor(name, x === 0 ? 1 : inThree(10 ** (x / 100)));
    slider.value = x;
    fillBox(box, factors[name]);
    update();
  });
  box.addEventListener("input", () => {
    const value = typedNumber(box, `${factors[name]} times the price of the run`);
    if (value === undefined) return;
    setFactor(name, value);
    update();
  });
  prepareBox(box);
  fillBox(box, 1);
  setFactor(name, 1);
}

["review", "error"].forEach(connect);
byId("choice").value = chosen;
byId("of-class").value = "0";
byId("controls").addEventListener("submit", event => event.preventDefault());
byId("choice").addEventListener("change", event => { chosen = event.target.value; redraw(); });
byId("of-class").addEventListener("change", event => { ofClass = Number(event.target.value); update(); });
byId("reset").addEventListener("click", () => {
  for (const name of ["review", "error"]) { fillBox(byId(name), 1); setFactor(name, 1); }
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
  reliabilityChart(chosen),
]).then(() => {
  showCurves(start);
  document.documentElement.dataset.ready = "yes";
});
