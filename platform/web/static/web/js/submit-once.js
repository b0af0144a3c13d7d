// Ignores a second submit while the first is running. The server is idempotent anyway; this avoids confusion.
//
//   <form method="post" data-submit-once><button class="button primary" data-busy="Saving…">Save</button></form>

export const selector = "form[data-submit-once]";

export function bind(form) {
  let busy = null;

  form.addEventListener("submit", (event) => {
    if (busy) {
      event.preventDefault();
      return;
    }
    busy = () => {};
    // Another listener may still refuse this submit, which is known only when all listeners have run.
    window.setTimeout(() => {
      busy = event.defaultPrevented ? null : start(event.submitter);
    });
  });

  // The back button restores the page in its previous state: busy.
  window.addEventListener("pageshow", () => {
    busy?.();
    busy = null;
  });
}

function start(button) {
  if (!button) return () => {};
  const words = button.textContent;
  button.setAttribute("aria-busy", "true");
  button.setAttribute("aria-disabled", "true");
  if (button.dataset.busy) button.textContent = button.dataset.busy;
  return () => {
    button.removeAttribute("aria-busy");
    button.removeAttribute("aria-disabled");
    button.textContent = words;
  };
}
