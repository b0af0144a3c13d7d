// The rating on the screen: one attribute, five answers, and why somebody is unsure.

import { gettext } from "../words.js";

const UNSURE = 3;

export class RatingPane {
  constructor(form, state) {
    this.form = form;
    this.state = state;
    this.question = form.querySelector("[data-question]");
    this.choices = [...form.querySelectorAll("[name=rating]")];
    this.why = form.querySelector("[name=justification]");
    this.whyPart = form.querySelector("[data-justification]");
    this.keys = Object.fromEntries(this.choices.map((choice) => [choice.value, () => this.#choose(choice)]));
    for (const choice of this.choices) choice.addEventListener("change", () => state.rate(Number(choice.value)));
    this.why.addEventListener("input", () => state.justify(this.why.value));
    state.addEventListener("change", () => this.update());
  }

  // An answer given before, as the screen keeps it.
  given(answer) {
    return answer;
  }

  // What the server wrote into the form, such as an answer it just refused.
  shown() {
    const chosen = this.choices.find((choice) => choice.checked);
    return { rating: chosen ? Number(chosen.value) : null, justification: this.why.value };
  }

  show({ attributes, instrument }) {
    this.question.textContent = attributes[0].text;
    this.form.querySelector("[data-statement]").textContent = instrument.statement;
  }

  update() {
    const { rating, justification } = this.state.now;
    for (const choice of this.choices) choice.checked = Number(choice.value) === rating;
    this.whyPart.hidden = rating !== UNSURE;
    this.why.disabled = this.whyPart.hidden;
    if (this.why.value !== justification) this.why.value = justification;
    if (rating !== null) this.#error("rating", "");
    if (rating !== UNSURE || justification.trim()) this.#error("justification", "");
  }

  answer() {
    const { rating, justification } = this.state.now;
    return { rating, justification: rating === UNSURE ? justification : "" };
  }

  // Says what keeps this from being submitted and goes there; null when nothing does.
  check() {
    const { rating, justification } = this.state.now;
    if (rating === null) return this.#refuse("rating", gettext("Choose one of the five answers."), this.choices[0]);
    if (rating === UNSURE && !justification.trim()) {
      return this.#refuse("justification", gettext("Write why you are unsure; a few words are enough."), this.why);
    }
    return null;
  }

  refuse(fields) {
    const found = ["rating", "justification"].filter((name) => fields[`answer.${name}`]);
    for (const name of found) this.#error(name, fields[`answer.${name}`]);
    if (found.length) (found[0] === "rating" ? this.choices[0] : this.why).focus();
    return found.length > 0;
  }

  escape() {}

  #choose(choice) {
    this.state.rate(Number(choice.value));
    if (Number(choice.value) === UNSURE) this.why.focus();
    else choice.focus();
  }

  #refuse(name, message, control) {
    this.#error(name, message);
    control.focus();
    return gettext("Not submitted yet.");
  }

  #error(name, message) {
    const place = this.form.querySelector(`[data-error=${name}]`);
    place.textContent = message;
    place.hidden = !message;
    if (name === "justification") this.why.setAttribute("aria-invalid", Boolean(message));
  }
}
