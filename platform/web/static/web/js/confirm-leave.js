// Asks before a form with unsaved changes is left. Submitting it never asks.
//
//   <form method="post" data-confirm-leave>…</form>

export const selector = "form[data-confirm-leave]";

export function bind(form) {
  let changed = false;
  const ask = (event) => {
    if (changed) event.preventDefault();
  };
  form.addEventListener("input", () => {
    if (changed) return;
    changed = true;
    // The listener is added only when needed: browsers do not keep a page with it for the back button.
    window.addEventListener("beforeunload", ask);
  });
  const forget = () => {
    changed = false;
    window.removeEventListener("beforeunload", ask);
  };
  form.addEventListener("submit", forget);
  form.addEventListener("reset", forget);
  form.addEventListener("stereoscope:saved", forget);
}
