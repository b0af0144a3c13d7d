// Sends answers that an earlier tab submitted without a confirmation, on the next page that the annotator opens.
//
//   <div data-unsent data-who="…" data-submit-url="/…/00000000-…/submit" data-nobody="00000000-…" class="notice" role="status" hidden></div>
//
// Starts automatically, except on the task page, whose script calls `resend` when the open task is shown.

import { forgetBegun, sweep, unsent } from "./draft.js";
import { isSignedOut, send } from "./outbox.js";
import { gettext, ngettext } from "../words.js";

// Permanently refused: a later attempt would fail in the same way. Not 404: somebody else may be signed in at the moment.
const FINAL = new Set([400, 409, 410, 422]);
const FINAL_CODES = new Set(["edit_window_over", "campaign_closed"]);

export async function resend(place, { except = null } = {}) {
  sweep();
  const { who, submitUrl, nobody } = place.dataset;
  const waitingThere = unsent(who).filter(({ assignment }) => assignment !== except);
  if (!waitingThere.length) return;
  const say = (words) => {
    place.textContent = words;
    place.hidden = false;
  };
  say(ngettext("An answer you gave earlier is being sent.", "%(count)s answers you gave earlier are being sent.", waitingThere.length));
  let arrived = 0;
  const refusals = [];
  for (const { assignment, body, drop } of waitingThere) {
    const waiting = () => say(gettext("No connection. An answer you gave earlier is not saved yet; it is kept on this device."));
    const outcome = await send(submitUrl.replace(nobody, assignment), body, { waiting });
    if (outcome.ok) {
      drop();
      arrived += 1;
    } else if (FINAL.has(outcome.status) || FINAL_CODES.has(outcome.error.code)) {
      drop();
      refusals.push(gettext("An answer you gave earlier could not be saved: %(reason)s", { reason: outcome.error.message }));
    } else if (!isSignedOut(outcome) && outcome.status !== 404) {
      refusals.push(gettext("An answer you gave earlier is not saved yet: %(reason)s The answer is kept on this device.", { reason: outcome.error.message }));
    }
  }
  if (refusals.length) say(refusals.join(" "));
  else if (arrived) say(ngettext("The answer you gave earlier is saved now.", "%(count)s answers you gave earlier are saved now.", arrived));
  else place.hidden = true;
}

const place = document.querySelector("[data-unsent]");
if (place && !document.querySelector("form[data-task]")) resend(place);
for (const form of document.querySelectorAll("form[data-sign-out]")) form.addEventListener("submit", () => forgetBegun());
