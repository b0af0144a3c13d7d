// Keeps totals, prompt examples and shown groups of the New study form up to date, and selects groups without a reload.
//
//   <form data-new-study="/studies/new/totals/">
//     <div data-totals>…</div> <div data-examples>…</div> <div data-chosen><button data-leave-out="12">…</button></div>
//     <button name="select" value="all" data-select="all">Select all shown</button>
//     <div data-region><button data-select="all">…</button> <li data-group="12"><input type="checkbox" name="groups" value="12">…</li></div>
//   </form>
//
// The server counts; this module sends it the form and shows the answer. Without it, 'Recalculate' does the same with a reload.

import { differs, sayStale } from "../web/js/stale.js";

const WAIT = 250;
// The regions of a longer list are folded, as the server does.
const OPEN_AT_MOST = 30;

for (const form of document.querySelectorAll("[data-new-study]")) bind(form);

function bind(form) {
  let timer = 0;
  let running = null;

  const ask = async () => {
    running?.abort();
    running = new AbortController();
    const totals = form.querySelector("[data-totals]");
    totals.setAttribute("aria-busy", "true");
    try {
      const answer = await fetch(form.dataset.newStudy, { method: "POST", body: new FormData(form), signal: running.signal, credentials: "same-origin" });
      if (!answer.ok) throw new Error(`HTTP ${answer.status}`);
      show(form, await answer.json());
      totals.removeAttribute("aria-busy");
    } catch (error) {
      // A newer request replaced an aborted one; after any other failure the page asks the person to recalculate.
      if (error.name !== "AbortError") {
        totals.removeAttribute("aria-busy");
        sayStale(form, totals);
      }
    }
  };
  const soon = () => {
    window.clearTimeout(timer);
    timer = window.setTimeout(ask, WAIT);
  };

  form.addEventListener("input", () => {
    count(form);
    soon();
  });
  for (const button of form.querySelectorAll("[data-select]")) {
    button.addEventListener("click", (event) => {
      event.preventDefault();
      const scope = button.closest("[data-region]") ?? form;
      for (const box of scope.querySelectorAll('[data-group]:not([hidden]) input[name="groups"]')) box.checked = button.dataset.select === "all";
      form.dispatchEvent(new Event("input", { bubbles: true }));
    });
  }
  form.querySelector("[data-chosen]").addEventListener("click", (event) => {
    const button = event.target.closest("[data-leave-out]");
    if (!button) return;
    event.preventDefault();
    leaveOut(form, button);
    form.dispatchEvent(new Event("input", { bubbles: true }));
  });
  for (const button of form.querySelectorAll("[data-recalculate]")) button.hidden = true;
  if (differs(form)) {
    count(form);
    ask();
  }
}

// The server will send the list again; the focus moves to the next group that can be left out.
function leaveOut(form, button) {
  form.querySelector(`[data-group="${button.dataset.leaveOut}"] input[name="groups"]`).checked = false;
  const item = button.closest("li");
  const neighbour = item.nextElementSibling ?? item.previousElementSibling;
  (neighbour?.querySelector("button") ?? form.querySelector("[data-chosen]")).focus();
  item.remove();
}

function show(form, data) {
  for (const part of ["totals", "examples", "chosen"]) {
    const element = form.querySelector(`[data-${part}]`);
    if (!element) continue; // the prompts of some studies are not edited
    const page = new DOMParser().parseFromString(data[part], "text/html");
    const focused = element.contains(document.activeElement) ? document.activeElement.dataset.leaveOut : undefined;
    const folded = element.querySelector("details:not([open])");
    element.replaceChildren(...page.body.childNodes);
    if (folded) element.querySelector("details")?.removeAttribute("open");
    if (focused) (element.querySelector(`[data-leave-out="${focused}"]`) ?? element).focus();
  }
  const before = form.querySelectorAll("[data-group]:not([hidden])").length;
  for (const row of form.querySelectorAll("[data-group]")) {
    const group = data.groups[row.dataset.group];
    row.hidden = !group.shown;
    row.querySelector("[data-stereotypes]").textContent = group.stereotypes.toLocaleString("en");
  }
  const after = form.querySelectorAll("[data-group]:not([hidden])").length;
  if (after !== before) for (const region of form.querySelectorAll("[data-region] > details")) region.open = after <= OPEN_AT_MOST;
  count(form);
}

function count(form) {
  let shown = 0;
  let hiddenButChosen = 0;
  for (const region of form.querySelectorAll("[data-region]")) {
    const rows = [...region.querySelectorAll("[data-group]")];
    const chosen = rows.filter((row) => row.querySelector("input").checked);
    const visible = rows.filter((row) => !row.hidden);
    region.hidden = visible.length === 0;
    region.querySelector("[data-region-count]").textContent = `${chosen.length} of ${rows.length} chosen`;
    shown += visible.length;
    hiddenButChosen += chosen.filter((row) => row.hidden).length;
  }
  const words = `${shown} group${shown === 1 ? "" : "s"} shown`;
  form.querySelector("[data-shown]").textContent = hiddenButChosen ? `${words}; ${hiddenButChosen} chosen but not shown` : words;
}
