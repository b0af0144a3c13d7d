// One question on the screen: its parts, the chosen answers, and errors.
//
//   <fieldset data-asked="quality"> <legend>…</legend> <div data-parts> <div data-part="s1"> controls, [data-error] </div> … </div>
//     <template data-part-template> … </template> </fieldset>
//
//   const asked = new AskedQuestion(fieldset, state, { displaced: (ref, place) => … }); asked.show(question, stimuli, words); asked.update(answers);
//
// A part is the question itself (ref ""), or the question about one stimulus. The server's parts are used unchanged.

import { filledCopy } from "./copies.js";
import { valueOf } from "./conditions.js";
import { nameOf } from "./stimuli.js";

export class AskedQuestion {
  constructor(fieldset, question, state, { displaced }) {
    Object.assign(this, { fieldset, question, state, displaced });
    this.parts = fieldset.querySelector("[data-parts]");
    this.template = fieldset.querySelector("[data-part-template]");
    fieldset.addEventListener("change", (event) => this.#changed(event.target));
    fieldset.addEventListener("input", (event) => this.#typed(event.target));
  }

  get name() {
    return this.question.name;
  }

  // The parts for the stimuli of the next task.
  show(question, stimuli, words) {
    this.question = question;
    for (const { dataset } of this.parts.children) this.error(dataset.part, "");
    if (!this.template) return;
    if (question.each) {
      const blank = this.template.content.firstElementChild;
      const copies = stimuli.map((stimulus, index) => filledCopy(blank, { ref: stimulus.ref, name: nameOf(stimulus, index) }));
      this.parts.replaceChildren(...copies);
    } else if (question.type === "rank") {
      this.#showRows(stimuli);
    } else {
      this.#showWords(words);
    }
  }

  part(ref) {
    return this.parts.querySelector(`[data-part="${ref}"]`);
  }

  // The answers in the form that the server rendered.
  shown(ref) {
    const part = this.part(ref);
    if (this.question.type === "text") return part.querySelector("textarea").value || undefined;
    if (this.question.type === "rank") {
      const rows = [...part.querySelectorAll("[data-row]")].filter((row) => row.querySelector(":checked"));
      return rows.length ? Object.fromEntries(rows.map((row) => [row.dataset.row, Number(row.querySelector(":checked").value)])) : undefined;
    }
    return this.#chosen(part);
  }

  update(answers, isAsked) {
    for (const part of this.parts.children) {
      const value = valueOf(answers, this.question, part.dataset.part);
      part.hidden = part.inert = !isAsked(part.dataset.part);
      for (const control of part.querySelectorAll("input")) control.checked = this.#isChosen(control, value);
      const text = part.querySelector("textarea");
      if (text && text.value !== (value ?? "")) text.value = value ?? "";
    }
    // A question that is not asked but keeps its space (questions.css) cannot be answered.
    this.fieldset.hidden = this.fieldset.inert = [...this.parts.children].every((part) => part.hidden);
  }

  error(ref, message) {
    const part = this.part(ref) ?? this.parts.firstElementChild;
    const place = part.querySelector("[data-error]");
    place.textContent = message;
    place.hidden = !message;
    part.querySelector("textarea")?.setAttribute("aria-invalid", Boolean(message));
  }

  // Moves the focus to the chosen answer, or to the first; in a ranking to the first item without a place.
  focus(ref, { options } = {}) {
    const part = this.part(ref) ?? this.parts.firstElementChild;
    const rows = [...part.querySelectorAll("[data-row]")];
    const row = rows.find((one) => !one.querySelector(":checked")) ?? rows[0] ?? part;
    (row.querySelector("input:checked") ?? row.querySelector("input, textarea")).focus(options);
  }

  #changed(control) {
    const part = control.closest("[data-part]");
    if (!part || control.matches("textarea")) return;
    const { part: ref } = part.dataset;
    if (this.question.type !== "rank") return this.state.set(this.question, ref, this.#chosenAfter(part, control));
    const row = control.closest("[data-row]").dataset.row;
    const other = this.state.rank(this.question, row, Number(control.value));
    if (other) this.displaced(other, this.state.now.answers[this.name][other]);
  }

  #typed(control) {
    if (control.matches("textarea")) this.state.type(this.question, control.closest("[data-part]").dataset.part, control.value);
  }

  // “None” and other answers exclude each other: the last tick counts.
  #chosenAfter(part, control) {
    if (control.type === "checkbox" && control.checked) {
      for (const other of part.querySelectorAll(":checked")) {
        if (other !== control && (this.#standsAlone(control) || this.#standsAlone(other))) other.checked = false;
      }
    }
    return this.#chosen(part);
  }

  #standsAlone({ value }) {
    if (this.question.type === "span") return value === "none";
    return this.question.answers.some(({ code, alone }) => code === value && alone);
  }

  #chosen(part) {
    const values = [...part.querySelectorAll("input:checked")].map(({ value }) => value);
    const { type, several } = this.question;
    if (!values.length) return undefined;
    if (type === "span") return values[0] === "none" ? [] : values.map(Number);
    if (type === "choice" && several) return values;
    return type === "scale" ? Number(values[0]) : values[0];
  }

  #isChosen(control, value) {
    if (value === undefined || value === null) return false;
    const { type } = this.question;
    if (type === "rank") return value[control.closest("[data-row]").dataset.row] === Number(control.value);
    if (type === "span") return control.value === "none" ? value.length === 0 : value.includes(Number(control.value));
    return Array.isArray(value) ? value.includes(control.value) : String(value) === control.value;
  }

  #showRows(stimuli) {
    const blank = this.template.content.firstElementChild.querySelector("[data-row]");
    const rows = stimuli.map((stimulus, index) => {
      const row = filledCopy(blank, { ref: stimulus.ref, name: nameOf(stimulus, index) });
      const places = row.querySelector("[data-places]");
      const place = places.firstElementChild;
      places.replaceChildren(...stimuli.map((_, rank) => placeCopy(place, rank + 1)));
      return row;
    });
    const part = this.parts.firstElementChild;
    for (const row of part.querySelectorAll("[data-row]")) row.remove();
    part.querySelector("[data-error]").before(...rows);
  }

  #showWords(words) {
    const place = this.parts.querySelector("[data-words]");
    const blank = this.template.content.querySelector("[data-words] > label");
    place.replaceChildren(
      ...words.flatMap((word, index) => {
        const label = blank.cloneNode(true);
        Object.assign(label.querySelector("input"), { value: index, checked: false });
        label.querySelector("span").textContent = word;
        return [label, " "];
      }),
    );
  }
}

function placeCopy(place, rank) {
  const copy = place.cloneNode(true);
  const control = copy.querySelector("input");
  control.value = rank;
  control.dataset.key = rank;
  control.checked = false;
  copy.querySelector("span").textContent = rank;
  return copy;
}
