// Tables: sorted, folded, labelled for narrow screens, and downloaded.

function cellOf(tag, text, small = "", extra = {}) {
  const cell = document.createElement(tag), attributes = typeof extra === "number" ? {} : extra;
  cell.textContent = text;
  if (typeof extra === "number") cell.dataset.value = extra;
  Object.assign(cell, attributes);
  if (small) cell.append(" ", Object.assign(document.createElement("span"), { className: "quiet", textContent: small }));
  return cell;
}

function sortValue(cell) {
  const text = cell.dataset.value !== undefined ? cell.dataset.value : cell.textContent.trim();
  const number = Number(text.replace(/,/g, ""));
  return text !== "" && !Number.isNaN(number) ? number : text;
}

function compareValues(a, b) {
  if (typeof a === "number" && typeof b === "number") return a - b;
  if (typeof a === "number") return -1;
  if (typeof b === "number") return 1;
  return a.localeCompare(b);
}

function sortRows(table) {
  const headings = [...table.querySelectorAll("thead th")];
  const column = headings.findIndex(heading => heading.getAttribute("aria-sort") !== "none");
  if (column < 0) return;
  const sign = headings[column].getAttribute("aria-sort") === "ascending" ? 1 : -1;
  const keyed = [...table.tBodies[0].rows].map(row => [sortValue(row.cells[Math.min(column, row.cells.length - 1)]), row]);
  keyed.sort((a, b) => sign * compareValues(a[0], b[0]));
  table.tBodies[0].append(...keyed.map(pair => pair[1]));
}

function makeSortable(table) {
  table.querySelectorAll("thead th").forEach(heading => {
    const button = Object.assign(document.createElement("button"), { type: "button", textContent: heading.textContent });
    heading.replaceChildren(button);
    heading.setAttribute("aria-sort", "none");
    button.addEventListener("click", () => {
      const falling = heading.getAttribute("aria-sort") === "ascending";
      table.querySelectorAll("thead th").forEach(other => other.setAttribute("aria-sort", "none"));
      heading.setAttribute("aria-sort", falling ? "descending" : "ascending");
      sortRows(table);
    });
  });
}

// On a narrow screen a row becomes a list of its cells, each with the heading of its column: no number is cut off.
function labelCells(table) {
  const names = [...table.querySelectorAll("thead th")].map(heading => heading.textContent);
  for (const body of table.tBodies) for (const row of body.rows) [...row.cells].forEach((cell, k) => { if (cell.colSpan === 1) cell.dataset.label = names[k] || ""; });
}

// Methods beyond the best five are folded: in the leaderboard, in the charts and in the tables behind them.
const folded = new Set([...document.querySelectorAll("#leaderboard tr.more")].map(row => row.dataset.method));
let unfolded = false;
const isShown = name => unfolded || !folded.has(name) || name === chosen;

function connectFolds(redraw) {
  const buttons = [...document.querySelectorAll("button.unfold")];
  for (const button of buttons) button.addEventListener("click", () => {
    unfolded = !unfolded;
    byId("leaderboard").classList.toggle("folded", !unfolded);
    for (const other of buttons) {
      other.setAttribute("aria-expanded", String(unfolded));
      other.textContent = unfolded ? "Show the best only" : other.dataset.text;
    }
    redraw();
  });
}

// Text that a spreadsheet would run is marked as text, as in the files of the run.
function csvField(value) {
  if (value === null || value === undefined) return "";
  const text = String(value), number = text.trim() !== "" && Number.isFinite(Number(text));
  const safe = !number && text.length > 1 && /^(\s*[=+\-@]|[\t\r\n])/.test(text) ? "'" + text : text;
  return /[",\n\r]/.test(safe) ? `"${safe.replace(/"/g, '""')}"` : safe;
}

const toCsv = rows => rows.map(row => row.map(csvField).join(",")).join("\r\n") + "\r\n";
const fromRecords = records => [Object.keys(records[0]), ...records.map(record => Object.values(record))];

// Where the summary has more than the table shows, such as the limits of an interval in columns of their own.
function recordsOf(table) {
  if (table.id === "leaderboard") return fromRecords(summary.leaderboard);
  if (table.id === "rejected") return [summary.cases.columns, ...summary.cases.rows];
  if (table.dataset.segments !== undefined) return fromRecords(shownSegments[table.dataset.segments]);
  const plain = cell => (cell.dataset.value !== undefined ? cell.dataset.value : [...cell.childNodes].map(node => node.textContent.trim()).filter(Boolean).join(" "));
  return [...table.rows].map(row => [...row.cells].map(plain));
}

function addDownload(table) {
  const button = Object.assign(document.createElement("button"), { type: "button", className: "download screen", textContent: "Download as CSV" });
  button.setAttribute("aria-label", `Download “${table.dataset.download}” as CSV`);
  button.addEventListener("click", () => {
    const address = URL.createObjectURL(new Blob(["\ufeff", toCsv(recordsOf(table))], { type: "text/csv" }));
    Object.assign(document.createElement("a"), { href: address, download: `${table.dataset.download.replace(/[^\p{L}\p{N} _-]/gu, "_")}.csv` }).click();
    setTimeout(() => URL.revokeObjectURL(address), 10000);
  });
  (table.closest(".scroll") || table).after(button);
}
