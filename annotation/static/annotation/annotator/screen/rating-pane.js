// The rating on the screen: one attribute, five answers, and the reason for being unsure.
//
//   new RatingPane(form, state, { settles: () => false, chosen: () => submit() });
//
// `chosen` is called for an answer that needs no reason; not for going through the answers with the arrow keys. What is
// chosen while the screen `settles` is ignored.

import { gettext } from "../words.js";

const UNSURE = 3;

export class RatingPane {
  #byArrow = false;

  constructor(form, state, { settles = () => false, chosen = () => {} } = {}) {
    Object.assign(this, { form, state, settles, chosen });
    this.question = form.querySelector("[data-question]");
    this.choices = [...form.querySelectorAll("[name=rating]")];
    this.why = form.querySelector("[name=justification]");
    this.whyPart = form.querySelector("[data-justification]");
    // By the order on the screen, from 1.
    this.keys = Object.fromEntries(this.choices.map((choice, index) => [index + 1, () => this.#choose(choice)]));
    for (const choice of this.choices) {
      choice.addEventListener("keydown", (event) => (this.#byArrow = event.key.startsWith("Arrow")));
      choice.addEventListener("keyup", () => (this.#byArrow = false));
      choice.addEventListener("click", () => this.#pressed(choice));
    }
    this.why.addEventListener("input", () => state.justify(this.why.value));
    state.addEventListener("change", () => this.update());
  }

  // An earlier answer, in the format of the screen.
  given(answer) {
    return answer;
  }

  // Contents that the server wrote into the form, such as an answer that it just refused.
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

  // Announces what prevents submitting and moves the focus there; null if nothing does.
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
    if (this.settles()) return;
    this.state.rate(Number(choice.value));
    if (Number(choice.value) === UNSURE) return this.why.focus();
    choice.focus();
    this.chosen();
  }

  // The browser validates the form after this, unless that is prevented.
  #pressed(choice) {
    if (this.settles()) return window.setTimeout(() => this.update());
    this.state.rate(Number(choice.value));
    if (!this.#byArrow && Number(choice.value) !== UNSURE) this.chosen();
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
