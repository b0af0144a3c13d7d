// Shows the totals of a form while it is changed: the server counts, and this module shows its answer.
//
//   <form data-live="/studies/isles/images/generate/estimate/" method="get"> … <button data-recalculate>Count</button> </form>
//   <div data-live-answer>…</div>
//
// A form inside the answer starts the counted work: it is disabled until the count matches the current form.
// A form of method post is sent by POST. Without this module, the button does the same with a reload.

import { differs, sayStale } from "../web/js/stale.js";

const WAIT = 300;

for (const form of document.querySelectorAll("[data-live]")) bind(form);

function bind(form) {
  const place = document.querySelector("[data-live-answer]");
  let timer = 0;
  let running = null;

  const ask = async () => {
    running = new AbortController();
    try {
      const answer = await fetch(...request(form, running.signal));
      if (!answer.ok) throw new Error(`HTTP ${answer.status}`);
      const page = new DOMParser().parseFromString(await answer.text(), "text/html");
      place.replaceChildren(...page.body.childNodes);
      place.dispatchEvent(new Event("stereoscope:replaced", { bubbles: true }));
      place.removeAttribute("aria-busy");
    } catch (error) {
      // A newer request replaced an aborted one; any other failure is announced, and the person can recalculate.
      if (error.name !== "AbortError") {
        place.removeAttribute("aria-busy");
        sayStale(form, place);
      }
    }
  };

  const outdate = () => {
    running?.abort();
    place.setAttribute("aria-busy", "true");
    for (const button of place.querySelectorAll("form button")) button.disabled = true;
  };

  form.addEventListener("input", () => {
    outdate();
    window.clearTimeout(timer);
    timer = window.setTimeout(ask, WAIT);
  });
  for (const button of form.querySelectorAll("[data-recalculate]")) button.hidden = true;
  if (differs(form)) {
    outdate();
    ask();
  }
}

function request(form, signal) {
  const given = new FormData(form);
  if (form.method === "post") return [form.dataset.live, { method: "POST", body: given, signal, credentials: "same-origin" }];
  return [`${form.dataset.live}?${new URLSearchParams(given)}`, { signal, credentials: "same-origin" }];
}
