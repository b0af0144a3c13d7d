// Tracks whether the numbers on a form are up to date; if not, says so and shows the button that counts with a reload.
//
//   <form> <div data-totals>…</div> <button data-recalculate hidden>Recalculate</button> </form>

import { announce } from "./announce.js";

const SENTENCE = "These numbers are out of date because the server did not answer. Press Recalculate.";

// Whether somebody typed before this module was loaded, or the browser restored input after a reload.
export function differs(form) {
  return [...form.elements].some((field) => {
    if (field.type === "checkbox" || field.type === "radio") return field.checked !== field.defaultChecked;
    if (field.options) return [...field.options].some((option, index) => option.selected !== (option.defaultSelected || (index === 0 && !field.querySelector("[selected]"))));
    return ["INPUT", "TEXTAREA"].includes(field.tagName) && field.value !== field.defaultValue;
  });
}

export function sayStale(form, numbers) {
  for (const button of form.querySelectorAll("[data-recalculate]")) button.hidden = false;
  const said = document.createElement("p");
  said.className = "error-text";
  said.dataset.stale = "";
  said.textContent = SENTENCE;
  numbers.querySelector("[data-stale]")?.remove();
  numbers.append(said);
  announce(SENTENCE);
}
