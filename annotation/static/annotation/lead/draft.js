// Keeps 'What will be asked' up to date while a campaign's draft is changed.
//
//   <form data-draft="/studies/isles/campaigns/asking/"> … <div data-asking>…</div> <button data-recalculate>Recalculate</button></form>
//
// The server plans the campaign and returns the fragment. Without this module, 'Recalculate' does the same with a reload.

import { differs, sayStale } from "../../web/js/stale.js";

const WAIT = 400;

for (const form of document.querySelectorAll("[data-draft]")) {
  const shown = form.querySelector("[data-asking]");
  let timer = 0;
  let running = null;

  const ask = async () => {
    running?.abort();
    running = new AbortController();
    shown.setAttribute("aria-busy", "true");
    try {
      const answer = await fetch(form.dataset.draft, { method: "POST", body: new FormData(form), signal: running.signal, credentials: "same-origin" });
      if (!answer.ok) throw new Error(`HTTP ${answer.status}`);
      const page = new DOMParser().parseFromString(await answer.text(), "text/html");
      shown.replaceChildren(...page.body.childNodes);
    } catch (error) {
      // A newer request replaced an aborted one; after any other failure the page asks the person to recalculate.
      if (error.name === "AbortError") return;
      sayStale(form, shown);
    }
    shown.removeAttribute("aria-busy");
  };

  form.addEventListener("input", (event) => {
    // Texts for annotators do not change the numbers.
    if (["guidelines", "pay", "name"].includes(event.target.name)) return;
    window.clearTimeout(timer);
    timer = window.setTimeout(ask, WAIT);
  });
  for (const button of form.querySelectorAll("[data-recalculate]")) button.hidden = true;
  if (differs(form)) ask();
}
