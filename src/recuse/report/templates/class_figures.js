// The figures of one method at the current prices.

function showFigures() {
  const p = current(), method = methods.find(m => m.name === chosen);
  const point = pointAt(method, p), facts = matrixFacts(point.matrix, p);
  const small = (id, text) => byId(id).append(Object.assign(document.createElement("small"), { textContent: text }));
  byId("live-cost").textContent = price(facts.cost);
  byId("live-coverage").textContent = percent(facts.coverage);
  byId("live-error").textContent = percent(facts.error);
  if (facts.error !== null) small("live-error", `${count(facts.wrong)} of ${count(facts.coverage * facts.total)}`);
  byId("live-review").textContent = Math.round(1000 * facts.rejected).toLocaleString("en");
  if (facts.novel > 0) small("live-review", `${Math.round(1000 * facts.novel)} of them unlike any seen`);
  const answering = sendAllCost(p) - facts.cost;
  const rejecting = matrixCost(cheapestPoint(method.forced, p).matrix, p) - facts.cost;
  byId("live-answering").textContent = perThousand(answering);
  small("live-answering", `against “${sendAll.title}”`);
  byId("live-rejecting").textContent = perThousand(rejecting);
  small("live-rejecting", "against answering every case");
  showCorrected(method, small);
  byId("prices-state").textContent = isRun() ? "These are the prices of the run." : "Not the prices of the run.";
  byId("matrix-method").textContent = method.title;
  showSentence(method, point, facts, { answering, rejecting });
  showMatrix(point.matrix, p);
  showClasses(point.matrix, p);
  showMoney(method);
  document.querySelectorAll(".prices-now").forEach(part => { part.textContent = pricesInWords(); });
  return { facts, method };
}

function pricesInWords() {
  if (isRun()) return "At the prices of the run.";
  const parts = [];
  if (factors.review !== 1) parts.push(`reviews cost ${inSix(factors.review)} times as much`);
  if (factors.error !== 1) parts.push(`errors on cases of ${classes[ofClass]} cost ${inSix(factors.error)} times as much`);
  return `Not at the prices of the run: ${parts.join(", and ")}.`;
}

// The figures of the sentences above, which are corrected for the choice, beside those of the run.
function showCorrected(method, small) {
  const { best_model, model_cost, answering, rejecting } = summary.verdict;
  if (!isRun() || method.name !== best_model || methods.length === 1) return;
  small("live-cost", `${price(model_cost[0])} corrected for the choice`);
  small("live-answering", `${perThousand(answering.saved[0])} corrected for the choice`);
  if (rejecting.rule === best_model) small("live-rejecting", `${perThousand(rejecting.saved[0])} corrected for the choice`);
}

const perThousand = x => (1000 * x).toLocaleString("en", { minimumFractionDigits: 1, maximumFractionDigits: 1 });
const saves = (x, other) => (x >= 0 ? `saves ${perThousand(x)} against ${other}` : `costs ${perThousand(-x)} more than ${other}`);

function showSentence(method, point, facts, saved) {
  const all = cheapest(current());
  byId("sentence").textContent =
    `At these prices ${method.title} sends ${Math.round(1000 * facts.rejected)} of 1,000 cases to manual review. Per 1,000 cases it ` +
    `${saves(saved.answering, "the manual review of every case")}, and ${saves(saved.rejecting, "answering every case itself")}. ` +
    (all.title === method.title ? "It is the cheapest here." : `Cheapest here: ${all.title}, ${price(all.cost)} per case.`);
  byId("what-moves").textContent = wordsOf(method, point) + (isRun() ? "" :
    " Of its operating points the cheapest at these prices is shown, chosen on the cases it is counted on, so its cost is too low (in simulations of five outcomes, at prices moved by a factor of 2 or 3, by up to 9% with 300 cases and by up to 3% with 2,000): a new run at these prices gives figures without that advantage.") +
    (facts.novel > 0 ? " Cases unlike any seen go to manual review at every price." : "");
}

function wordsOf(method, point) {
  if (point === method.points[0]) return "These are the answers of the run.";
  if (method.moves === "chow") return "It weighs its probabilities by other prices, near those above.";
  if (method.moves === "no-reject") return "It weighs its probabilities by other prices of errors, near those above, and answers every case.";
  return "Its threshold on the acceptance score has moved; the class of each case stays as in the run.";
}

function showMatrix(matrix, p) {
  matrix.forEach((row, i) => {
    const total = sum(row);
    row.forEach((value, j) => {
      const cell = byId(`m${i}-${j}`);
      if (!cell) return;  // no method of this run knows novelties
      cell.textContent = count(value);
      cell.dataset.value = value;
      cell.classList.toggle("none", value === 0 && i !== j);
      const share = value && total ? percent(value / total, 0) : "", paid = value && priceOf(p, i, j) > 0 ? `costs ${inThree(priceOf(p, i, j))}` : "";
      cell.append(Object.assign(document.createElement("small"), { textContent: [share, paid].filter(Boolean).join(", ") }));
    });
  });
}

// What happens to the cases of each class.
function showClasses(matrix, p) {
  const whole = sum(matrix.flat()) * matrixCost(matrix, p);
  byId("by-class").tBodies[0].replaceChildren(...matrix.map((row, i) => {
    const line = document.createElement("tr"), cases = sum(row), answered = sum(row.slice(0, classes.length));
    const paid = sum(row.map((value, j) => value * priceOf(p, i, j)));
    const wrong = row.map((value, j) => [value * (j < classes.length ? p.errors[i][j] : 0), value, j]).sort((a, b) => b[0] - a[0])[0];
    line.append(cellOf("th", classes[i], "", { scope: "row" }), cellOf("td", count(cases), "", cases), cellOf("td", percent(answered / cases), count(answered), answered / cases),
      answered > 0 ? cellOf("td", percent((answered - row[i]) / answered), count(answered - row[i]), (answered - row[i]) / answered) : cellOf("td", "–", "", -1),
      cellOf("td", wrong[0] > 0 ? `${classes[wrong[2]]}, ${count(wrong[1])}` : "–", "", { className: "left" }),
      cellOf("td", price(paid / cases), whole > 0 ? `${percent(paid / whole, 0)} of all costs` : "", paid / cases));
    return line;
  }));
  labelCells(byId("by-class"));
}
