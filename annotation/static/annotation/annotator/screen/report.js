// Sends a report of the picture without leaving the task.
//
//   <form id="report" data-url="…/report"> · <details data-report-part> radios and text with form="report", [data-report-error] </details>
//
//   const report = bindReport({url: () => address, say}); report.reset();

import { send } from "../submission/outbox.js";
import { gettext } from "../words.js";

export function bindReport({ url, say }) {
  const form = document.getElementById("report");
  if (!form) return { reset() {} };
  const part = document.querySelector("[data-report-part]");
  const problem = part.querySelector("[data-report-error]");
  const tell = (message) => {
    problem.textContent = message;
    problem.hidden = !message;
  };
  let sending = false;

  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    if (sending) return;
    sending = true;
    tell("");
    const { reason, details, stimulus } = Object.fromEntries(new FormData(form));
    const waiting = (seconds) => tell(gettext("No connection. Trying again in %(seconds)s s.", { seconds }));
    const outcome = await send(url(), { reason, details, ...(stimulus ? { stimulus } : {}) }, { waiting });
    sending = false;
    if (!outcome.ok) return tell(outcome.error.message || gettext("The report could not be sent."));
    tell("");
    form.reset();
    part.open = false;
    part.querySelector("summary").focus();
    say(gettext("Reported. Thank you. You can go on, or skip this picture."));
  });

  return {
    reset() {
      form.reset();
      part.open = false;
      tell("");
    },
  };
}
