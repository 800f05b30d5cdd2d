// Segments: those of the run at its prices, elsewhere counted again from the operating point of the method chosen above.

const groups = summary.segments;
const shownSegments = groups ? { ...groups.columns } : {};
const OFTEN = { cost: "costs", review: "is sent to manual review in", error: "is answered wrongly in" };
const OF = { cost: "per case", review: "of the cases", error: "of the cases answered" };
const exchanges = new Map();  // of the operating points looked at last

// Negative and positive cases of each segment by answer, as means over the repetitions.
function segmentMatrices(flat, repeats) {
  const found = [];
  for (let k = 0; k < flat.length; k += 8) found.push([flat.slice(k, k + 4), flat.slice(k + 4, k + 8)].map(row => row.map(cases => cases / repeats)));
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
function segmentRecord(column, label, matrix, pooled, p, widen, worse, today) {
  const n = casesOf(matrix), facts = matrixFacts(matrix, p), answered = facts.coverage * n, reviews = reviewAmounts(matrix, p);
  const wilson = (cases, of) => (of ? frequentMean([[1, cases / widen ** 2]], 1, of / widen ** 2) : [null, null, null]);
  const intervals = {
    cost: possible(combined([rareMean(errorAmounts(matrix, p), dearestError(matrix, p), n), frequentMean(reviews, dearest(reviews), n)], widen), dearestPrice(p)),
    coverage: wilson(answered, n), review: wilson(n - answered, n), error: wilson(facts.error === null ? 0 : facts.error * answered, answered),
  };
  const record = { column, segment: label, cases: Math.round(n), positives: sizeOf(matrix[1]) }, outcomes = explained(matrix, pooled, p);
  for (const [name, [value, low, high]] of Object.entries(intervals)) Object.assign(record, { [name]: value, [`${name}_low`]: low, [`${name}_high`]: high });
  FIGURES.forEach((name, k) => Object.assign(record, { [`expected_${name}`]: outcomes[name], [`p_${name}`]: worse ? worse[k] : null }));
  Object.assign(record, { served_worse: worse ? FIGURES.filter((_, k) => worse[k] <= groups.rate).join(", ") : "" });
  return today ? Object.assign(record, todayRecord(matrix, today, p, widen)) : record;
}

const shareOf = (cases, of) => (of ? frequentMean([[1, cases]], 1, of) : [null, null, null]);

// Today's policy on the cases of a segment. Which cases the two answer alike is not known here, so that limits of what is saved
// are too wide, as those of the money above.
function todayRecord(matrix, today, p, widen) {
  const n = casesOf(today), facts = matrixFacts(today, p), answered = facts.coverage * n, record = {};
  const intervals = {
    cost: costInterval(today, p), coverage: shareOf(answered, n), review: shareOf(n - answered, n),
    error: shareOf(facts.error === null ? 0 : facts.error * answered, answered), saved: savedAgainstOther(matrix, today, p, widen),
  };
  for (const [name, [value, low, high]] of Object.entries(intervals)) Object.assign(record, { [`today_${name}`]: value, [`today_${name}_low`]: low, [`today_${name}_high`]: high });
  return record;
}

function segmentsAt(method, point, p) {
  const columns = Object.keys(groups.columns);
  return Object.fromEntries(columns.map(column => {
    const segments = segmentMatrices(point.segments[column], method.repeats), today = groups.today ? segmentMatrices(groups.today[column], 1) : [], labels = groups.columns[column].map(record => record.segment);
    const worse = groups.together ? null : testedAt(method, point, column, segments, p);
    return [column, segments.map((matrix, k) => segmentRecord(column, labels[k], matrix, point.matrix, p, method.widen || 1, worse && worse[k], today[k]))];
  }));
}

function warningsOf(columns) {
  // With the decimals of a sentence: see decimals_of in recuse.comparison.intervals.
  const digits = record => { const largest = Math.max(Math.abs(record.cost), Math.abs(record.expected_cost)); return largest < 10 ? 4 : largest < 10000 ? 2 : 0; };
  const inWords = (record, key) => record[key].toLocaleString("en", { minimumFractionDigits: digits(record), maximumFractionDigits: digits(record) });
  const figure = (record, name, key) => (name === "cost" ? inWords(record, key) : percent(record[key]));
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

// The method beside today's policy, in one segment.
function todayRow(record) {
  const row = document.createElement("tr"), figure = (name, write) => cellOf("td", record[name] === null ? "–" : write(record[name]), record[name] === null ? "" : `[${write(record[`${name}_low`])}, ${write(record[`${name}_high`])}]`, record[name] === null ? -1 : record[name]);
  row.append(cellOf("th", record.segment, "", { scope: "row" }), cellOf("td", count(record.cases), "", record.cases), figure("cost", price), figure("today_cost", price), figure("today_saved", price),
    figure("error", inPercent), figure("today_error", inPercent), figure("review", inPercent), figure("today_review", inPercent));
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
  const p = current(), point = pointAt(method, p), own = isRun() && method.name === groups.method;
  const counted = !own && point.segments !== undefined, runMethod = summary.leaderboard.find(row => row.method === groups.method).title;
  Object.assign(shownSegments, counted ? segmentsAt(method, point, p) : groups.columns);
  document.querySelectorAll("table[data-segments]").forEach(table => {
    table.tBodies[0].replaceChildren(...shownSegments[table.dataset.segments].map("today" in table.dataset ? todayRow : segmentRow));
    labelCells(table);
    sortRows(table);
  });
  const kept = !own && (groups.together || !counted), atRun = `At the prices of the run, by ${runMethod}`;
  const ifUsed = method.name !== summary.winner ? `If ${method.title} were used,` : "";
  showWarnings(kept ? groups.warnings.map(item => item.text) : counted ? warningsOf(shownSegments) : groups.warnings.map(item => item.text), kept ? `${atRun}:` : ifUsed);
  byId("segments-basis").textContent = !counted ? `${atRun}.` : `${pricesInWords(p)} By ${method.title}.`;
  byId("segments-kept").hidden = !(counted && groups.together);
}
