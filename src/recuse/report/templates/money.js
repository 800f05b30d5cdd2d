// Money and volume: what the figures per case come to in a period, and how many people review.

const PERIODS = { day: 1, week: 7, month: 365.25 / 12, quarter: 365.25 / 4, year: 365.25 };
const money = { cases: null, period: "month", currency: "", minutes_per_case: null, hours_per_reviewer: 120, ...(summary.volume || {}) };
const whole = x => Math.round(x).toLocaleString("en");
const amount = x => `${whole(x)}${money.currency ? " " + money.currency : ""}`;
const amounts = ([value, low, high]) => (low === high ? [amount(value), ""] : [amount(value), `[${whole(low)}, ${whole(high)}]`]);
const times = (interval, factor) => interval.map(x => x * factor);

// Of the method chosen above at the prices above: at the run's prices, and for the run's choice, the figures of the verdict.
function moneyRows(method, p) {
  const matrix = pointAt(method, p).matrix, forced = cheapestPoint(method.forced, p).matrix, widen = method.widen || 1;
  const verdict = summary.verdict, own = isRun() && method.name === verdict.best_model;
  // Costs and savings of one table are corrected alike, so that they add up; pages written earlier have no such cost.
  const against = own && verdict.rejecting.rule === method.name && verdict.forced_cost;
  const rows = [
    { title: method.title, matrix, cost: own ? verdict.model_cost : costInterval(matrix, p, widen), saved: null },
    { title: sendAll.title, matrix: sendAll.points[0].matrix, cost: costInterval(sendAll.points[0].matrix, p), saved: own ? verdict.answering.saved : savedAgainstReview(matrix, p, widen) },
    { title: `${method.title}, answering every case`, matrix: forced, cost: against || costInterval(forced, p, widen), saved: against ? verdict.rejecting.saved : savedAgainstForced(matrix, forced, p, widen) },
  ];
  const kept = constants.find(constant => constant.name === summary.winner), isKept = kept && kept !== sendAll;
  if (isKept) rows.push({ title: kept.title, matrix: kept.points[0].matrix, cost: costInterval(kept.points[0].matrix, p), saved: own && verdict.constant ? verdict.constant.saved : savedAgainstOther(matrix, kept.points[0].matrix, p, widen) });
  if (kept) rows[isKept ? rows.length - 1 : 1].title += " (chosen)";
  if (summary.policy) {
    const today = summary.policy.matrix, paired = own && (summary.policy.model_saved || (summary.winner === method.name && summary.policy.saved));
    rows.push({ title: `Today’s policy (${summary.policy.column})`, matrix: today, cost: costInterval(today, p), saved: paired || savedAgainstOther(matrix, today, p, widen) });
  }
  return rows;
}

const reviewShare = matrix => 1 - matrixCoverage(matrix);
const hoursOf = matrix => (money.minutes_per_case ? (money.cases * reviewShare(matrix) * money.minutes_per_case) / 60 : null);
const peopleOf = matrix => (hoursOf(matrix) === null || !money.hours_per_reviewer ? null : hoursOf(matrix) / money.hours_per_reviewer);

function showMoney(method) {
  const known = money.cases > 0;
  byId("money-results").hidden = !known;
  byId("money-ask").hidden = known;
  document.querySelectorAll(".period").forEach(part => { part.textContent = money.period; });
  if (!known) return;
  const rows = moneyRows(method, current()), [own, all] = rows;
  const figure = (interval, extra) => cellOf("td", amounts(times(interval, money.cases))[0], amounts(times(interval, money.cases))[1], extra);
  byId("money").tBodies[0].replaceChildren(...rows.map(row => {
    const line = document.createElement("tr"), people = peopleOf(row.matrix), hours = hoursOf(row.matrix);
    line.append(cellOf("th", row.title, "", { scope: "row" }), figure(row.cost, money.cases * row.cost[0]),
      row.saved === null ? cellOf("td", "–") : figure(row.saved, money.cases * row.saved[0]),
      cellOf("td", whole(money.cases * reviewShare(row.matrix))), cellOf("td", hours === null ? "–" : whole(hours)), cellOf("td", people === null ? "–" : people.toFixed(1)));
    return line;
  }));
  labelCells(byId("money"));
  const people = peopleOf(own.matrix), dearer = all.saved[0] < 0, [verb, than] = dearer ? ["costs", "more than"] : ["saves", "against"];
  const saved = amounts(times(dearer ? minus(all.saved) : all.saved, money.cases)).join(" ");
  byId("money-sentence").textContent = `With ${whole(money.cases)} cases a ${money.period}, ${method.title} costs ${amounts(times(own.cost, money.cases)).join(" ")} a ${money.period} and ${verb} ` +
    `${saved} ${than} the manual review of every case.` +
    (people === null ? "" : ` At ${money.minutes_per_case} minutes per case, ${people.toFixed(1)} people review instead of ${peopleOf(all.matrix).toFixed(1)}.`) +
    (isRun() ? "" : " These are not the prices of the run.");
}

function connectMoney() {
  const boxes = { "volume-cases": "cases", "volume-minutes": "minutes_per_case", "volume-hours": "hours_per_reviewer" };
  for (const [id, name] of Object.entries(boxes)) {
    prepareBox(byId(id));
    fillBox(byId(id), money[name]);
    byId(id).addEventListener("input", () => {
      const value = typedNumber(byId(id), money[name], true);
      if (value === undefined) return;
      money[name] = value;
      update();
    });
  }
  byId("volume-period").value = money.period;
  byId("volume-period").addEventListener("change", event => {
    // As many hours a day as before.
    if (money.hours_per_reviewer) money.hours_per_reviewer = Number((money.hours_per_reviewer * PERIODS[event.target.value] / PERIODS[money.period]).toFixed(2));
    fillBox(byId("volume-hours"), money.hours_per_reviewer);
    money.period = event.target.value;
    update();
  });
  byId("volume-currency").value = money.currency;
  byId("volume-currency").addEventListener("input", event => { money.currency = event.target.value.trim(); update(); });
  byId("money-controls").addEventListener("submit", event => event.preventDefault());
}
