// The preview of a screen of questions: answers can be tried, so that dependent questions appear; nothing is sent.
//
//   <fieldset disabled class="lead-preview"> <form data-task> … </form> </fieldset> with the payload of the sample

import { announce } from "../../web/js/announce.js";
import { QuestionsPane } from "../annotator/questions/pane.js";
import { QuestionState } from "../annotator/questions/question-state.js";

const fieldset = document.querySelector(".lead-preview");
const form = fieldset.querySelector("form[data-task]");
const payload = JSON.parse(document.getElementById("task-payload").textContent);

// Controls that would leave the page or store something stay disabled.
for (const button of fieldset.querySelectorAll("[data-submit], [data-skip], [formaction], [form]")) button.disabled = true;
for (const own of fieldset.querySelectorAll("form")) own.addEventListener("submit", (event) => event.preventDefault());
const state = new QuestionState();
const pane = new QuestionsPane(form, state, payload, announce);
state.reset(pane.shown());
fieldset.disabled = false;
form.dataset.ready = "";
