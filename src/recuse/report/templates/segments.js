// Segments: those of the run at its prices, elsewhere counted again from the operating point of the method chosen above.

const groups = summary.segments;
const shownSegments = groups ? { ...groups.columns } : {};
const OFTEN = { cost: "costs", review: "is sent to manual review in", error: "is answered wrongly in" };
const OF = { cost: "per case", review: "of the cases", error: "of the cases answered" };
const exchanges = new Map();  // of the operating points looked at last

// Negative and positive cases of each segment by answer, as means over the repetitions.
function segmentMatrices(method, point, column) {
  const flat = point.segments[column], found = [];
  for (let k = 0; k < flat.length; k += 8) found.push([flat.slice(k, k + 4), flat.slice(k + 4, k + 8)].map(row => row.map(cases => cases / method.repeats)));
  return found;
}

const sizeOf = row => Math.round(row.reduce((a, b) => a + b, 0));

// Cases of each outcome that were answered alike, the rarest first.
function kindsOf(method, point) {
  const kinds = point.kinds || point.matrix.flatMap((row, outcome) => row.map((cases, answer) => [outcome, ...[0, 1, 2, 3].map(k => (k === answer ? 1 : 0)), cases]));
  return [0, 1].map(outcome => kinds.filter(kind => kind[0] === outcome && kind[5] > 0).sort((a, b) => a[5] - b[5])
    .map(kind => ({ answers: kind.slice(1, 5).map(often => often / method.repeats), cases: kind[5] })));
}

// Served worse: p-values at a point, whose exchanged answers do not depend on the prices.
function testedAt(method, point, column, segments, p) {
  const key = `${method.name} ${method.points.indexOf(point)} ${column}`;
  const sizes = [0, 1].map(outcome => segments.map(matrix => sizeOf(matrix[outcome]))), kinds = kindsOf(method, point);
  if (exchanges.size > 20) exchanges.clear();
  if (!exchanges.has(key)) exchanges.set(key, exchanged(sizes, kinds, randomNumbers(1)));
  return servedWorse(segments, sizes, kinds, point.matrix, p, exchanges.get(key), Object.keys(groups.columns).length);
}

// What the outcomes of a segment explain: each case treated as all cases of its outcome are on average.
function explained(matrix, pooled, p) {
  const n = casesOf(matrix), answered = row => row[0] + row[1];
  const over = share => matrix.reduce((sum, row, outcome) => sum + (sizeOf(pooled[outcome]) ? share(row, pooled[outcome], outcome) : 0), 0);
  const paid = (row, all, outcome) => casesOf([row]) * matrixCost(outcome ? [[0, 0, 0, 0], all] : [all, [0, 0, 0, 0]], p);
  const wrong = (row, all, outcome) => (answered(all) ? (answered(row) * all[1 - outcome]) / answered(all) : 0);
  const all = matrix.reduce((sum, row) => sum + answered(row), 0);
  return { cost: over(paid) / n, review: over((row, whole) => casesOf([row]) * (1 - answered(whole) / casesOf([whole]))) / n, error: all ? over(wrong) / all : null };
}

// The figures of a segment, by the names of segments.csv.
function segmentRecord(column, label, matrix, pooled, p, widen, worse) {
  const n = casesOf(matrix), facts = matrixFacts(matrix, p), answered = facts.coverage * n, reviews = reviewAmounts(matrix, p);
  const wilson = (cases, of) => (of ? frequentMean([[1, cases / widen ** 2]], 1, of / widen ** 2) : [null, null, null]);
  const intervals = {
    cost: combined([rareMean(errorAmounts(matrix, p), dearestError(matrix, p), n), frequentMean(reviews, dearest(reviews), n)], widen),
    coverage: wilson(answered, n), review: wilson(n - answered, n), error: wilson(facts.error === null ? 0 : facts.error * answered, answered),
  };
  const record = { column, segment: label, cases: Math.round(n), positives: sizeOf(matrix[1]) }, outcomes = explained(matrix, pooled, p);
  for (const [name, [value, low, high]] of Object.entries(intervals)) Object.assign(record, { [name]: value, [`${name}_low`]: low, [`${name}_high`]: high });
  FIGURES.forEach((name, k) => Object.assign(record, { [`expected_${name}`]: outcomes[name], [`p_${name}`]: worse ? worse[k] : null }));
  return Object.assign(record, { served_worse: worse ? FIGURES.filter((_, k) => worse[k] <= groups.rate).join(", ") : "" });
}

function segmentsAt(method, point, p) {
  const columns = Object.keys(groups.columns);
  return Object.fromEntries(columns.map(column => {
    const segments = segmentMatrices(method, point, column), labels = groups.columns[column].map(record => record.segment);
    const worse = groups.together ? null : testedAt(method, point, column, segments, p);
    return [column, segments.map((matrix, k) => segmentRecord(column, labels[k], matrix, point.matrix, p, method.widen || 1, worse && worse[k]))];
  }));
}

function warningsOf(columns) {
  const figure = (record, name, key) => (name === "cost" ? record[key].toFixed(4) : percent(record[key]));
  return Object.values(columns).flat().filter(record => record.served_worse).map(record => `${record.column} = ${record.segment} ` +
    record.served_worse.split(", ").map(name => `${OFTEN[name]} ${figure(record, name, name)} ${OF[name]} where its outcomes explain ${figure(record, name, `expected_${name}`)}`).join(" and ") + ".");
}

const inPercent = x => percent(x);

function segmentRow(record) {
  const row = document.createElement("tr"), name = cellOf("th", record.segment, "", { scope: "row" });
  const limits = (figure, write) => `[${write(record[`${figure}_low`])}, ${write(record[`${figure}_high`])}]`;
  const figureCell = (figure, write) => {
    const known = record[figure] !== null, cell = cellOf("td", write(record[figure]), known ? limits(figure, write) : "", known ? record[figure] : -1);
    if (record[`p_${figure}`] !== null && record[`p_${figure}`] <= groups.rate) cell.className = "wrong";
    return cell;
  };
  if (record.served_worse) {
    row.className = "worse";
    name.append(" ", Object.assign(document.createElement("span"), { className: "badge bad", textContent: "served worse" }));
  }
  const positives = record.positives / record.cases;
  row.append(name, cellOf("td", count(record.cases), "", record.cases), cellOf("td", percent(positives), count(record.positives), positives),
    figureCell("cost", price), cellOf("td", price(record.expected_cost), "", record.expected_cost), figureCell("coverage", inPercent), figureCell("error", inPercent), figureCell("review", inPercent));
  return row;
}

function showWarnings(texts, before) {
  const box = byId("served-worse"), head = document.createElement("strong"), list = document.createElement("ul");
  const none = before ? `${before} no segment is shown to be served worse than the others.` : "No segment is shown to be served worse than the others.";
  head.textContent = texts.length ? (before ? `${before} served worse than the others:` : "Served worse than the others:") : none;
  list.append(...texts.map(text => Object.assign(document.createElement("li"), { textContent: text })));
  box.className = `verdict ${texts.length ? "no" : "yes"}`;
  box.replaceChildren(head, ...(texts.length ? [list] : []));
}

function showSegments(method) {
  if (!groups) return;
  const p = current(), point = pointAt(method, p), own = isRun() && method.name === summary.verdict.best_model;
  const counted = !own && point.segments !== undefined, runMethod = summary.leaderboard.find(row => row.method === groups.method).title;
  Object.assign(shownSegments, counted ? segmentsAt(method, point, p) : groups.columns);
  document.querySelectorAll("table[data-segments]").forEach(table => {
    table.tBodies[0].replaceChildren(...shownSegments[table.dataset.segments].map(segmentRow));
    labelCells(table);
    sortRows(table);
  });
  const kept = !own && (groups.together || !counted), atRun = `At the prices of the run, by ${runMethod}`;
  showWarnings(kept ? groups.warnings.map(item => item.text) : counted ? warningsOf(shownSegments) : groups.warnings.map(item => item.text), kept ? `${atRun}:` : "");
  byId("segments-basis").textContent = !counted ? `${atRun}.` : `${pricesInWords(p)} By ${method.title}.`;
  byId("segments-kept").hidden = !(counted && groups.together);
}
