// Shows one task after another without loading a page: shows a payload, keeps drafts, submits, shows the next task.
//
//   <form data-task data-who="…" data-campaign="…" data-submit-url="…" data-skip-url="…" data-next-url="…" data-here="…" data-done="…"
//     data-sign-in="…" data-now="2026-…">
//   <script type="application/json" id="task-payload">{"assignment": …}</script>

import { announce } from "../../web/js/announce.js";
import { ActiveTime } from "./screen/active-time.js";
import { AnswerState } from "./screen/answer-state.js";
import { BreakReminder } from "./screen/comfort.js";
import { Draft, newSubmissionId, WEEK } from "./submission/draft.js";
import { bindGuidelines } from "./screen/guidelines.js";
import { MarkingPane } from "./marking/pane.js";
import { isSignedOut, send } from "./submission/outbox.js";
import { ProgressLine } from "./screen/progress-line.js";
import { bindReport } from "./screen/report.js";
import { resend } from "./submission/resend.js";
import { SavedState } from "./submission/saved-state.js";
import { bindShortcuts } from "./screen/shortcuts.js";
import { gettext } from "./words.js";

const form = document.querySelector("form[data-task]");
const revising = "revising" in form.dataset;
const saved = new SavedState();
const problem = document.getElementById("task-problem");
const expired = document.getElementById("task-expired");
const submitButton = form.querySelector("[data-submit]");
const time = new ActiveTime();
const reminder = new BreakReminder(time, { say: announce, leave: document.getElementById("leave") });
// The page contains the server's time, so that a wrong clock here does not expire a task.
const clockAhead = Date.now() - Date.parse(form.dataset.now);

let payload = JSON.parse(document.getElementById("task-payload").textContent);
const firstAssignment = payload.assignment;
let draft = null;
let submission = null;
let sending = false;
let adopting = false;
let expiryTimer = 0;
const progress = new ProgressLine(payload.progress);
let quick = null; // of ratings
const { state, pane } = await open(payload);

const report = bindReport({
  url: () => addressOf("reportUrl"),
  say: (words) => saved.say(words),
});

// Each kind of task loads its own scripts.
async function open(first) {
  if (first.questions) {
    const [{ QuestionsPane }, { QuestionState }] = await Promise.all([import("./questions/pane.js"), import("./questions/question-state.js")]);
    const answers = new QuestionState();
    return { state: answers, pane: new QuestionsPane(form, answers, first, announce) };
  }
  const answer = new AnswerState();
  if (first.kind !== "rating") return { state: answer, pane: new MarkingPane(form, answer, first, announce) };
  const [{ RatingPane }, { ChooseSubmits }] = await Promise.all([import("./screen/rating-pane.js"), import("./screen/choose-submits.js")]);
  quick = new ChooseSubmits(form, { submit: () => submit() });
  const ways = { settles: () => quick.settles, chosen: () => quick.chose() };
  return { state: answer, pane: new RatingPane(form, answer, ways) };
}

function begin(first) {
  draft = null; // nothing is kept until the new task is shown
  if (!first) {
    state.reset({}); // remove boxes of attributes that are about to disappear
    pane.show(payload);
    report.reset();
  }
  const opened = draftOf(payload);
  const kept = opened.read();
  const given = payload.answer && pane.given(payload.answer);
  state.reset(kept?.answer ?? given ?? (first ? pane.shown() : {}));
  draft = opened;
  submission = kept?.submission ?? newSubmissionId();
  time.start(kept?.seconds ?? 0);
  watchExpiry();
  lookAhead();
  if (!first) {
    tell("");
    pane.question.focus({ preventScroll: true });
    window.scrollTo({ top: 0 });
  } else if (kept?.sent) {
    submit(kept.sent); // it was being sent when the page was left; because of the id it is stored only once
  } else if (kept?.answer) {
    saved.say(gettext("Your unfinished answer is restored."));
  }
}

// A correction has no lease that could end.
function draftOf({ assignment, answer, expires_at: expiresAt }) {
  const { who, campaign } = form.dataset;
  const until = (answer ? Date.now() : Date.parse(expiresAt) + clockAhead) + WEEK;
  return new Draft({ who, campaign, assignment, purpose: answer ? "correction" : "answer", until });
}

// `sent` is a sent answer that the server has not confirmed. Returns whether the device keeps it.
function keep(sent = null) {
  return draft?.keep({ answer: state.now, seconds: time.seconds, submission, sent }) ?? false;
}

// If the same task is in two tabs, both show the last change, and Undo returns to this tab's previous state.
function heard(kept) {
  if (kept.over) return tell(gettext("This task was finished in another tab."), { href: form.dataset.here, words: gettext("Go to the current task") });
  if (sending || !kept.answer) return;
  submission = kept.submission;
  // Before a reload this tab wrote it itself; the event may arrive late.
  if (!kept.sent && JSON.stringify(kept.answer) === JSON.stringify(state.now)) return;
  adopting = true;
  state.adopt(kept.answer);
  adopting = false;
  saved.say(kept.sent ? gettext("Answer being sent from another tab.") : gettext("Answer changed in another tab."));
}

function tell(message, link = null) {
  problem.hidden = !message;
  problem.replaceChildren();
  if (!message) return;
  const words = document.createElement("p");
  words.append(message);
  if (link) {
    const anchor = document.createElement("a");
    [anchor.href, anchor.textContent] = [link.href, link.words];
    words.append(" ", anchor);
  }
  problem.append(words);
}

function busy(on, words = "") {
  sending = on;
  for (const button of form.querySelectorAll("[data-submit], [data-skip]")) button.setAttribute("aria-disabled", on);
  submitButton.setAttribute("aria-busy", on);
  form.querySelector(".task-grid").inert = on;
  if (words) saved.say(words);
}

// `again` is an earlier request that may or may not have arrived.
async function submit(again = null) {
  if (sending) return;
  tell("");
  const refusal = again ? null : pane.check();
  if (refusal) return saved.say(refusal);
  const body = again ?? { submission_id: submission, answer: pane.answer(), active_seconds: time.seconds, instrument_version: payload.instrument.version };
  keep(body);
  busy(true, gettext("Saving…"));
  const outcome = await send(addressOf("submitUrl"), body, { waiting });
  busy(false);
  if (outcome.ok) {
    if (!revising) progress.worked(body.active_seconds);
    return accepted(outcome.data);
  }
  if (!isSignedOut(outcome) && outcome.status !== 404) {
    submission = newSubmissionId(); // a refused submission was not stored
    keep();
  } // otherwise it stays marked as sent: after signing in it is sent automatically
  refused(outcome);
}

function accepted(data) {
  leaveDraft();
  if (revising || data.next === undefined) return void location.assign(form.dataset.here);
  if (data.next === null) return void location.assign(form.dataset.done);
  saved.say(data.status === "surplus" ? gettext("Saved, but after the time limit.") : gettext("Saved."), "good");
  if (data.warning) warn(data.warning);
  goOn(data.next, { answered: true });
}

// A message of a quality rule stays until the annotator confirms having read it.
function warn(words) {
  const box = document.getElementById("warning");
  box.hidden = false;
  box.querySelector("[data-words]").textContent = words;
}

async function skip() {
  if (sending) return;
  tell("");
  busy(true, gettext("Skipping…"));
  let outcome = await send(addressOf("skipUrl"), {}, { waiting });
  if (outcome.ok) outcome = await send(form.dataset.nextUrl, {}, { waiting });
  busy(false);
  if (!outcome.ok) return refused(outcome);
  leaveDraft();
  if (!outcome.data.assignment) return void location.assign(form.dataset.done);
  saved.say(gettext("Skipped."));
  goOn(outcome.data);
}

// The addresses are for the task that the server rendered; those of later tasks differ only in the assignment.
function addressOf(name) {
  return form.dataset[name].replace(firstAssignment, payload.assignment);
}

function leaveDraft() {
  reminder.add(time.seconds);
  time.start();
  draft.drop();
  draft = null;
}

function goOn(next, { answered = false } = {}) {
  const sameWords = next.kind === payload.kind && next.instrument.version === payload.instrument.version;
  if (!sameWords) return void location.assign(form.dataset.here); // the guidelines changed: show them again
  payload = next;
  if (payload.image) pane.showImage(payload.image);
  progress.show(payload.progress);
  form.querySelector("[data-previous]")?.removeAttribute("hidden");
  begin(false);
  if (answered) quick?.saved();
}

function waiting(seconds) {
  saved.say(gettext("Not saved yet: no connection. Your answer is kept on this device; trying again in %(seconds)s s.", { seconds }), "warn");
}

function refused({ status, error }) {
  saved.say(gettext("Not saved."), "bad");
  if (isSignedOut({ status, error })) {
    const words = gettext("You are signed out. Your answer is kept on this device and sent when you are back: open your link again, or use your password.");
    tell(words, { href: form.dataset.signIn, words: gettext("Sign in again") });
  } else if (/^(annotator_|labelled_in_|consent_missing$|campaign_not_open$)/.test(error.code ?? "")) {
    location.assign(form.dataset.here);
    return;
  } else if (!pane.refuse(error.fields ?? {})) {
    tell(error.message || gettext("The form could not be saved."), { href: form.dataset.here, words: gettext("Load the task again") });
  }
  if (!problem.hidden) problem.focus();
}

function watchExpiry() {
  window.clearTimeout(expiryTimer);
  expired.hidden = true;
  if (payload.answer) return; // a correction has no lease
  const left = Date.parse(payload.expires_at) - (Date.now() - clockAhead);
  expiryTimer = window.setTimeout(() => (expired.hidden = false), Math.min(Math.max(left, 0), 2 ** 31 - 1));
}

// Fetches the probable next pictures when the current ones have loaded and the browser is idle.
let ahead = [];
async function aheadOfHere() {
  try {
    // If the person has been signed out, the answer is the sign-in page, which has no images.
    const answer = await fetch(form.dataset.aheadUrl, { credentials: "same-origin", redirect: "error" });
    return answer.ok ? await answer.json() : {};
  } catch {
    return {};
  }
}
function lookAhead() {
  if (!pane.whenSeen || revising) return;
  const here = payload.assignment;
  const idle = window.requestIdleCallback ?? ((does) => window.setTimeout(does, 200));
  const look = async () => {
    const { images = [] } = await aheadOfHere();
    if (payload.assignment !== here) return;
    ahead = images.map((address) => Object.assign(new Image(), { src: address }));
    for (const picture of ahead) picture.decode().catch(() => {}); // a failure is reported when the picture is shown
  };
  pane.whenSeen(() => idle(look));
}

state.addEventListener("change", () => {
  if (draft && !adopting && !sending) saved.begun(keep());
});
window.addEventListener("storage", (event) => {
  const kept = draft?.heard(event);
  if (kept) heard(kept);
});
window.addEventListener("pagehide", () => {
  const kept = draft?.read();
  if (!draft || kept?.sent) return; // a draft that is being sent stays marked as sent
  if (kept?.answer) keep();
  else draft.keep({ seconds: time.seconds, submission });
});
// Leaving with a draft needs no confirmation, because the draft is kept. A running submission should arrive first.
window.addEventListener("beforeunload", (event) => {
  if (sending) event.preventDefault();
});
form.addEventListener("submit", (event) => {
  event.preventDefault();
  if (event.submitter?.matches("[data-skip]")) skip();
  else submit();
});
// On a small screen, and after a few tasks, the guidelines are folded under their heading.
const showGuidelines = bindGuidelines({
  closed: "whenSeen" in pane && payload.progress.done > 2,
  back: () => pane.question,
});
bindShortcuts(
  {
    ...pane.keys,
    s: () => form.querySelector(".sticky-actions [data-skip]") && skip(),
    g: showGuidelines,
  },
  {
    onEnter: () => submit(),
    onUndo: () => (state.canUndo ? state.undo() : quick?.takeBack()),
    onRedo: () => state.redo(),
    onEscape: () => pane.escape(),
    paused: () => sending, // an answer does not change while it is being sent
  },
  form.querySelector("[data-keys-on]"),
);
begin(true);
resend(document.querySelector("[data-unsent]"), { except: payload.assignment });
form.dataset.ready = ""; // keys and buttons work from now on
