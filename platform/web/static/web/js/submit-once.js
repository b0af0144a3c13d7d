// Ignores a second submit while the first is under way. The server is idempotent all the same; this keeps people from wondering.
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
    // Another listener may still refuse this submit; whether it did is known once all have run.
    window.setTimeout(() => {
      busy = event.defaultPrevented ? null : start(event.submitter);
    });
  });

  // The back button brings the page back as it was left: under way.
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
