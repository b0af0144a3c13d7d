// A folded part of a form, with a line that summarises its contents.
//
//   <details data-form-section><summary>Pay <span data-form-section-values>Rate: 0.30</span></summary>
//     <div id="section-pay">…</div></details>
//
// The server writes the line; after a change, the line says so instead. An address that ends with #section-pay unfolds its part.

export const selector = "[data-form-section]";

export function bind(section) {
  const values = section.querySelector("[data-form-section-values]");
  section.addEventListener("input", () => {
    values.textContent = "Changed, not saved yet";
  });
  const unfold = () => {
    if (!window.location.hash || !section.querySelector(`[id="${CSS.escape(window.location.hash.slice(1))}"]`)) return;
    section.open = true;
    section.scrollIntoView();
  };
  window.addEventListener("hashchange", unfold);
  unfold();
}
