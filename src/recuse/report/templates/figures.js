// The figures of one method at the current prices.

function showFigures() {
  const p = current(), method = methods.find(m => m.name === chosen);
  const point = pointAt(method, p), facts = matrixFacts(point.matrix, p);
  const small = (id, text) => byId(id).append(Object.assign(document.createElement("small"), { textContent: text }));
  byId("live-cost").textContent = price(facts.cost);
  byId("live-coverage").textContent = percent(facts.coverage);
  byId("live-error").textContent = percent(facts.error);
  const wrong = point.matrix[0][1] + point.matrix[1][0];
  if (facts.error !== null) small("live-error", `${count(wrong)} of ${count(facts.coverage * facts.total)}`);
  byId("live-review").textContent = Math.round(1000 * facts.rejected).toLocaleString("en");
  if (facts.novel > 0) small("live-review", `${Math.round(1000 * facts.novel)} of them unlike any seen`);
  const answering = sendAllCost(p) - facts.cost;
  const rejecting = matrixCost(cheapestPoint(method.forced, p).matrix, p) - facts.cost;
  byId("live-answering").textContent = perThousand(answering);
  small("live-answering", `against “${sendAll.title}”`);
  byId("live-rejecting").textContent = perThousand(rejecting);
  small("live-rejecting", "against answering every case");
  showCorrected(method, small);
  byId("never").hidden = p.pays;
  byId("prices-state").textContent = isRun() ? "These are the prices of the run." : "Not the prices of the run.";
  byId("matrix-method").textContent = method.title;
  showSentence(method, point, facts, { answering, rejecting });
  showMatrix(point.matrix, facts);
  showThresholds(method, point, p);
  showMoney(method);
  document.querySelectorAll(".prices-now").forEach(part => { part.textContent = pricesInWords(p); });
  return { facts, method };
}

function pricesInWords(p) {
  const numbers = `a false alarm ${inSix(p.fp)}, a miss ${inSix(p.fn)}, the review of a case ${inSix(p.rneg)}${run.reject_ratio === 1 ? "" : ` (${inSix(p.rpos)} if ${summary.classes[1]})`}`;
  return isRun() ? `At the prices of the run: ${numbers}.` : `Not at the prices of the run, but at these: ${numbers}.`;
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
    " Of its operating points the cheapest at these prices is shown, chosen on the cases it is counted on, so its cost is too low (in simulations, at prices moved by a factor of 2 or 3, by 1 to 12% with 300 cases and by 1 to 3% with 2,000): a new run at these prices gives figures without that advantage.") +
    (facts.novel > 0 ? " Cases unlike any seen go to manual review at every price." : "");
}

// In words, where a method stands.
const inSix = x => Number(x.toPrecision(6));
const inThree = x => Number(x.toPrecision(3));
// What its thresholds cut; summaries of older runs do not say it.
const cutsOf = method => method.cuts || { pair: "acceptance score", tuned: "class score" }[method.moves] || "probability";
function wordsOf(method, point) {
  const own = point === method.points[0], [no, yes] = [summary.classes[0], summary.classes[1]];
  if (method.moves === "pair") return own ? "These are the answers of the run." : "Its threshold on the acceptance score has moved; the class of each case stays as trained.";
  if (!point.thresholds) return "These are the answers of the run, with thresholds of each fold.";
  const what = cutsOf(method), [lower, upper] = point.thresholds;
  if (upper === "always") return `It answers every case ${yes}.`;
  if (lower === "always") return `It answers every case ${no}.`;
  if (lower !== null && lower === upper) return `It answers ${yes} above a ${what} of ${inThree(upper)}, ${no} otherwise.`;
  const parts = [upper === null ? `never answers ${yes}` : `answers ${yes} above a ${what} of ${inThree(upper)}`,
    lower === null ? `never ${no}` : `${no} below ${inThree(lower)}`];
  return `It ${parts.join(", ")}, and sends the other cases to manual review.`;
}

// What sets a method apart in the charts from another one of the same model.
const DOTTED = new Set(["tuned"]);

function showMatrix(matrix, facts) {
  matrix.forEach((row, i) => {
    const total = row[0] + row[1] + row[2] + row[3];
    row.forEach((value, j) => {
      const cell = byId(`m${i}${j}`);
      if (!cell) return;  // no method of this run knows novelties
      cell.textContent = count(value);
      cell.append(Object.assign(document.createElement("small"), { textContent: total ? percent(value / total) : "" }));
    });
  });
  const share = x => Math.round((1000 * x) / facts.total);
  byId("thousand").textContent =
    `Of 1,000 such cases ${share(matrix[0][0] + matrix[1][1])} are answered correctly, ${share(matrix[0][1])} are false alarms, ` +
    `${share(matrix[1][0])} are missed, and ${Math.round(1000 * facts.rejected)} go to manual review` +
    (facts.novel > 0 ? `, ${Math.round(1000 * facts.novel)} of them because they are unlike any seen.` : ".");
}
