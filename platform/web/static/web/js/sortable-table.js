// Sorts a table by its headings. Each column is sorted as numbers or as text, with nulls last; the sort order is kept in the address.
//
//   <table data-sortable id="groups">
//     <thead><tr><th scope="col" data-key="group">Group</th>
//                <th scope="col" data-key="theta" class="num">θ</th>
//                <th scope="col" data-nosort>Images</th></tr></thead>
//     <tbody><tr><th scope="row">Velmari</th><td data-value="1.83">1.83</td><td>…</td></tr></tbody>
//   </table>
//
// `?sort=-theta` is descending by θ. If a page has several sortable tables, the parameter is `sort-<id>`.

import { readParameter, writeParameter } from "./address.js";
import { announce } from "./announce.js";

export const selector = "table[data-sortable]";

const collator = new Intl.Collator(document.documentElement.lang || "en", { numeric: true, sensitivity: "base" });

export function bind(table) {
  const row = table.tHead?.rows[table.tHead.rows.length - 1];
  const body = table.tBodies[0];
  if (!row || !body) return;
  const parameter = document.querySelectorAll(selector).length > 1 && table.id ? `sort-${table.id}` : "sort";
  const columns = [...row.cells]
    .filter((heading) => !("nosort" in heading.dataset) && heading.textContent.trim())
    .map((heading) => ({ heading, key: heading.dataset.key || slug(heading.textContent), index: heading.cellIndex }));

  const sort = (column, descending) => {
    sortRows(body, column.index, descending);
    for (const { heading } of columns) heading.setAttribute("aria-sort", "none");
    column.heading.setAttribute("aria-sort", descending ? "descending" : "ascending");
  };

  for (const column of columns) {
    makeButton(column.heading, () => {
      const state = column.heading.getAttribute("aria-sort");
      // The first press sorts the largest number, or the first word, to the top.
      const descending = state === "none" ? isNumeric(values(body, column.index)) : state === "ascending";
      sort(column, descending);
      writeParameter(parameter, (descending ? "-" : "") + column.key);
      announce(`Sorted by ${column.heading.textContent.trim()}, ${descending ? "descending" : "ascending"}`);
    });
  }

  const asked = readParameter(parameter);
  const column = columns.find(({ key }) => key === asked.replace(/^-/, ""));
  if (column) sort(column, asked.startsWith("-"));
}

function makeButton(heading, press) {
  const button = document.createElement("button");
  button.type = "button";
  button.className = "sort";
  button.append(...heading.childNodes);
  button.addEventListener("click", press);
  heading.append(button);
  heading.setAttribute("aria-sort", "none");
}

function sortRows(body, index, descending) {
  const rows = [...body.rows];
  const keys = values(body, index);
  const numeric = isNumeric(keys);
  const keyed = rows.map((row, position) => ({ row, position, key: numeric ? toNumber(keys[position]) : keys[position] }));
  const direction = descending ? -1 : 1;
  keyed.sort((a, b) => {
    const missing = Number(isMissing(a.key)) - Number(isMissing(b.key));
    if (missing) return missing;
    if (isMissing(a.key)) return a.position - b.position;
    const order = numeric ? a.key - b.key : collator.compare(a.key, b.key);
    return order * direction || a.position - b.position;
  });
  body.append(...keyed.map(({ row }) => row));
}

function values(body, index) {
  return [...body.rows].map((row) => {
    const cell = row.cells[index];
    return (cell?.dataset.value ?? cell?.textContent ?? "").trim();
  });
}

function isNumeric(keys) {
  const present = keys.filter((key) => !isMissing(key));
  return present.length > 0 && present.every((key) => Number.isFinite(toNumber(key)));
}

function isMissing(key) {
  return key === "" || key === null || (typeof key === "string" && key.startsWith("—"));
}

function toNumber(text) {
  if (isMissing(text)) return null;
  const plain = text.replace(/[,\s\u202f\u00a0%]/g, "").replace("\u2212", "-");
  return plain === "" ? Number.NaN : Number(plain);
}

function slug(text) {
  return text.trim().toLowerCase().replace(/[^\p{Letter}\p{Number}]+/gu, "_").replace(/^_|_$/g, "");
}
