// The operating points that the method chosen passes as reviews become more expensive, with their thresholds.

const edge = x => (x === null ? "never" : x === "always" ? x : String(inThree(x)));

function thresholdCells(method, point) {
  if (!point.thresholds) return ["of each fold", "of each fold"];
  const [lower, upper] = point.thresholds;
  return method.moves === "pair" ? [lower === null ? "every case" : lower === "always" ? "no case" : edge(lower), "–"] : [edge(lower), edge(upper)];
}

function showThresholds(method, point, p) {
  const what = cutsOf(method), [no, yes] = summary.classes, table = byId("threshold-table");
  const heads = method.moves === "pair" ? ["Answers above this acceptance score", ""] : [`${no} below a ${what} of`, `${yes} above`];
  const names = [...heads, "Answers itself", "Wrong when it answers", "Misses", "False alarms", "Reviews per 1,000 cases", "Cost per case"];
  const keep = method.moves === "pair" ? (_, k) => k !== 1 : () => true;
  const head = document.createElement("tr");
  head.append(...names.filter(keep).map((name, k) => cellOf("th", name, "", { scope: "col", className: k ? "" : "left" })));
  table.tHead.replaceChildren(head);
  const path = pointsAlong(method.points, p);
  const points = path.includes(point) ? path : [...path, point].sort((a, b) => matrixCoverage(a.matrix) - matrixCoverage(b.matrix));
  table.tBodies[0].replaceChildren(...points.map(here => {
    const facts = matrixFacts(here.matrix, p), row = document.createElement("tr"), stands = here === point;
    const values = [...thresholdCells(method, here), percent(facts.coverage), percent(facts.error), count(here.matrix[1][0]), count(here.matrix[0][1]), whole(1000 * facts.rejected), price(facts.cost)];
    if (stands) { row.className = "winner"; row.setAttribute("aria-current", "true"); }
    row.append(...values.filter(keep).map((value, k) => cellOf(k ? "td" : "th", value, k === 0 && stands ? "here now" : "", k ? {} : { scope: "row" })));
    return row;
  }));
  labelCells(table);
  byId("threshold-method").textContent = method.title;
  requestAnimationFrame(() => showInItsBox(table.querySelector("tr.winner")));
}

// Scroll the box of a long table, and not the page, until a row stands in its middle.
function showInItsBox(row) {
  if (!row) return;  // filled anew since
  const box = row.closest(".scroll"), [inside, outside] = [row, box].map(part => part.getBoundingClientRect());
  box.scrollTop += inside.top + inside.height / 2 - outside.top - outside.height / 2;
}
