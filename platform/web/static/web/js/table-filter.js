// Shows only the table rows that contain every typed word. The field is hidden until this module runs.
//
//   <div class="table-tools" data-table-filter="groups" hidden>
//     <div class="field"><label for="f">Filter groups</label><input type="search" id="f"></div>
//     <div class="field"><label for="r">Region</label>
//       <select id="r" data-column="region"><option value="">All</option><option>North Isles</option></select></div>
//     <output for="f"></output>
//   </div>
//
// `data-column` searches only the column with that `data-key`, for the whole text if it is a select.

import { readParameter, writeParameter } from "./address.js";

export const selector = "[data-table-filter]";

export function bind(tools) {
  const table = document.getElementById(tools.dataset.tableFilter);
  if (!table) return;
  const output = tools.querySelector("output");
  const controls = [...tools.querySelectorAll("input, select")].map((control) => ({
    control,
    parameter: control.dataset.column ? `${table.id}-${control.dataset.column}` : `filter-${table.id}`,
    column: columnIndex(table, control.dataset.column),
    exact: control.tagName === "SELECT",
  }));

  const apply = () => {
    const rows = [...table.tBodies[0].rows];
    let shown = 0;
    for (const row of rows) {
      row.hidden = !controls.every((filter) => matches(row, filter));
      if (!row.hidden) shown += 1;
    }
    const filtering = controls.some(({ control }) => control.value);
    if (output) output.textContent = filtering ? `${shown} of ${rows.length} rows` : `${rows.length} rows`;
  };

  for (const { control, parameter } of controls) {
    control.value = readParameter(parameter);
    control.addEventListener("input", () => {
      writeParameter(parameter, control.value);
      apply();
    });
  }
  tools.hidden = false;
  apply();
}

function matches(row, { control, column, exact }) {
  const wanted = fold(control.value);
  if (!wanted) return true;
  const text = fold(column === null ? row.textContent : row.cells[column]?.textContent ?? "");
  return exact ? text === wanted : wanted.split(" ").every((word) => text.includes(word));
}

function columnIndex(table, key) {
  if (!key) return null;
  const headings = [...(table.tHead?.querySelectorAll("th") ?? [])];
  return headings.find((heading) => heading.dataset.key === key)?.cellIndex ?? null;
}

function fold(text) {
  return text.normalize("NFD").replace(/\p{Mark}/gu, "").replace(/\s+/g, " ").trim().toLowerCase();
}
