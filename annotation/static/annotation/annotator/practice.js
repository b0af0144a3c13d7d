// Practice: keys, and boxes on the picture, for forms and pages that also work without scripts.
//
//   <form data-practice> … <input type="hidden" name="answer"> </form> with the payload of the task
//   <div data-feedback> … <a data-next> </div>

import { announce } from "../../web/js/announce.js";
import { AnswerState } from "./screen/answer-state.js";
import { bindGuidelines } from "./screen/guidelines.js";
import { MarkingPane } from "./marking/pane.js";
import { RatingPane } from "./screen/rating-pane.js";
import { bindShortcuts } from "./screen/shortcuts.js";

const form = document.querySelector("form[data-practice]");
const told = document.querySelector("[data-feedback]");
const showGuidelines = bindGuidelines({ back: () => document.querySelector("[data-question]") ?? told.querySelector("h1") });

// Only kinds with declared questions need the scripts for them.
async function opened(payload) {
  if (payload.questions) {
    const [{ QuestionsPane }, { QuestionState }] = await Promise.all([import("./questions/pane.js"), import("./questions/question-state.js")]);
    const state = new QuestionState();
    return { state, pane: new QuestionsPane(form, state, payload, announce) };
  }
  const state = new AnswerState();
  const rating = payload.kind === "rating";
  return { state, pane: rating ? new RatingPane(form, state) : new MarkingPane(form, state, payload, announce) };
}

async function bindForm() {
  const payload = JSON.parse(document.getElementById("task-payload").textContent);
  const saved = document.getElementById("saved");
  const { state, pane } = await opened(payload);
  state.reset(pane.shown());
  form.addEventListener("submit", (event) => {
    const refusal = pane.check();
    saved.textContent = refusal ?? "";
    if (refusal) event.preventDefault();
    else form.elements.answer.value = JSON.stringify(pane.answer());
  });
  bindShortcuts(
    { ...pane.keys, g: showGuidelines },
    {
      onEnter: () => form.requestSubmit(),
      onUndo: () => state.undo(),
      onRedo: () => state.redo(),
      onEscape: () => pane.escape(),
    },
    form.querySelector("[data-keys-on]"),
  );
  form.dataset.ready = "";
}

function bindFeedback() {
  const nothing = () => {};
  bindShortcuts(
    { g: showGuidelines },
    { onEnter: () => told.querySelector("[data-next]").click(), onUndo: nothing, onRedo: nothing, onEscape: nothing },
    told.querySelector("[data-keys-on]"),
  );
  told.dataset.ready = "";
}

if (form) bindForm();
if (told) bindFeedback();
