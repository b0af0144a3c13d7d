// Places in the pictures: boxes and points for answers that need a place.
//
//   part: <div data-region hidden> <span data-count></span> <button data-add> <ul data-boxes></ul> </div>
//
//   const regions = new Regions(form, state, { isPlaceAsked: (question, ref) => true, say }); regions.show(payload); regions.missing();
//
// A question asked once is about the only picture; a question about each picture is about the picture of its part.

import { BoxEditor } from "../marking/box-editor.js";
import { BOXES, listPlaces, POINTS } from "../marking/place-list.js";
import { PointEditor } from "./point-editor.js";
import { gettext, ngettext } from "../words.js";

const SHAPES = {
  box: { editor: BoxEditor, words: BOXES, count: (count) => ngettext("%(count)s box", "%(count)s boxes", count), none: () => gettext("No box yet") },
  point: { editor: PointEditor, words: POINTS, count: (count) => ngettext("%(count)s point", "%(count)s points", count), none: () => gettext("No point yet") },
};

// The places of one shape in one picture, with the interface that the editors use for boxes of attributes.
class Places extends EventTarget {
  constructor(state, shape, stimulus, isShown) {
    super();
    Object.assign(this, { state, shape, stimulus, isShown });
  }

  get now() {
    const own = this.state.now.places.filter(
      (place) => place.stimulus === this.stimulus && "width" in place === (this.shape === "box") && this.isShown(place),
    );
    return { boxes: own.map(({ question, ...place }) => ({ ...place, attribute: question })) };
  }

  addBox({ attribute, ...place }) {
    return this.state.addPlace({ question: attribute, stimulus: this.stimulus, ...place });
  }

  placeBox(id, { x, y, width, height }, mergeKey) {
    this.state.movePlace(id, width === undefined ? { x, y } : { x, y, width, height }, mergeKey);
  }

  deleteBox(id) {
    this.state.deletePlace(id);
  }
}

export class Regions {
  #editors = []; // {editor, places, svg, shape, stimulus}
  #active = null; // the name of the question that was last answered or drawn for
  #questions = [];

  constructor(form, state, { isPlaceAsked, say }) {
    Object.assign(this, { form, state, isPlaceAsked, say });
    this.hint = form.querySelector("[data-hint]");
    form.addEventListener("focusin", (event) => this.#entered(event.target));
    form.addEventListener("click", (event) => this.#clicked(event.target));
  }

  show({ questions, stimuli }) {
    this.#questions = questions.filter(({ region }) => region);
    this.#active = null;
    this.#editors = stimuli.flatMap(({ ref }) =>
      [...this.form.querySelectorAll(`[data-stimulus="${ref}"] [data-overlay]`)].map((svg) => this.#editor(svg, svg.dataset.overlay, ref)),
    );
  }

  update() {
    for (const { places } of this.#editors) places.dispatchEvent(new Event("change"));
    for (const { svg, shape, stimulus } of this.#editors) {
      svg.classList.toggle("idle", this.#question(stimulus, shape) === null && this.#question(stimulus) !== null);
    }
    for (const question of this.#questions) {
      for (const part of this.#partsOf(question)) this.#updatePart(question, part);
    }
    this.#hint();
  }

  // The parts that still need a place: {name, ref}.
  missing() {
    return this.#questions
      .filter(({ region }) => region.required)
      .flatMap((question) => this.#partsOf(question).map((part) => ({ question, part })))
      .filter(({ question, part }) => this.#isAsked(question, part) && this.#own(question, part).length === 0)
      .map(({ question, part }) => ({ name: question.name, ref: part.dataset.part }));
  }

  focus(name, ref) {
    this.#active = name;
    this.form.querySelector(`[data-asked="${name}"] [data-part="${ref}"] [data-add]`).focus();
  }

  // A box or a point for the current question, to be placed with the arrow keys.
  add() {
    const here = document.activeElement?.closest("[data-part]")?.querySelector("[data-region]:not([hidden]) [data-add]");
    const name = this.#active;
    const last = name && this.form.querySelector(`[data-asked="${name}"] [data-region]:not([hidden]) [data-add]`);
    const button = here ?? last ?? this.form.querySelector("[data-region]:not([hidden]) [data-add]");
    if (button) button.click();
    else this.say(gettext("Answer first; then mark the place in the picture."));
  }

  escape() {
    for (const { editor } of this.#editors) editor.escape();
  }

  #editor(svg, shape, stimulus) {
    const isShown = ({ question }) => this.isPlaceAsked(question, this.#refOf(question, stimulus));
    const places = new Places(this.state, shape, stimulus, isShown);
    const editor = new SHAPES[shape].editor(svg, places, {
      active: () => this.#question(stimulus, shape)?.name ?? null,
      label: (name) => this.#label(name),
      say: this.say,
      idle: gettext("Answer first; then mark the place in the picture."),
    });
    editor.addEventListener("select", () => {
      const place = editor.selected !== null && places.now.boxes.find(({ id }) => id === editor.selected);
      if (place) this.#active = place.attribute;
      this.update();
    });
    return { editor, places, svg, shape, stimulus };
  }

  // The question of a new place in this picture: the current one, or the last that needs a place.
  #question(stimulus, shape = null) {
    const open = this.#questions.filter((question) => this.isPlaceAsked(question.name, this.#refOf(question.name, stimulus)));
    const question = open.find(({ name }) => name === this.#active) ?? open.at(-1);
    return question && (shape === null || question.region.shape === shape) ? question : null;
  }

  #refOf(name, stimulus) {
    return this.#questions.find((question) => question.name === name)?.each ? stimulus : "";
  }

  #label(name) {
    const index = this.#questions.findIndex((question) => question.name === name);
    return { number: (index % 5) + 1, text: this.#questions[index].label };
  }

  #partsOf({ name }) {
    return [...this.form.querySelectorAll(`[data-asked="${name}"] [data-part]`)];
  }

  #isAsked({ name }, part) {
    return this.isPlaceAsked(name, part.dataset.part);
  }

  #own({ name }, part) {
    const { part: ref } = part.dataset;
    return this.state.now.places.filter((place) => place.question === name && (!ref || place.stimulus === ref));
  }

  #editorOf(question, part) {
    const stimulus = part.dataset.part || this.#editors[0].stimulus;
    return this.#editors.find((one) => one.stimulus === stimulus && one.shape === question.region.shape);
  }

  #updatePart(question, part) {
    const region = part.querySelector("[data-region]");
    region.hidden = !this.#isAsked(question, part);
    if (region.hidden) return;
    const own = this.#own(question, part);
    const { editor, places } = this.#editorOf(question, part);
    const { words, count, none } = SHAPES[question.region.shape];
    region.querySelector("[data-count]").textContent = own.length ? count(own.length) : none();
    listPlaces(region.querySelector("[data-boxes]"), own.map(({ id }) => id), {
      numberOf: (id) => places.now.boxes.findIndex((place) => place.id === id) + 1,
      selected: editor.selected,
      words,
      choose: (id) => editor.select(id, { focus: true }),
      remove: (id) => {
        const next = editor.delete(id);
        (region.querySelector(`[data-id="${next}"] [data-delete]`) ?? region.querySelector("[data-add]")).focus();
      },
    });
  }

  #hint() {
    const stimulus = this.#editors.find((one) => this.#question(one.stimulus))?.stimulus;
    const question = stimulus && this.#question(stimulus);
    this.hint.textContent = !question
      ? ""
      : question.region.shape === "box"
        ? gettext("Draw around “%(text)s”: drag over the picture, or mark two corners.", { text: question.label })
        : gettext("Mark the place in the picture: “%(text)s”.", { text: question.label });
  }

  #entered(target) {
    const name = target.closest("[data-asked]")?.dataset.asked;
    const question = this.#questions.find((one) => one.name === name);
    if (!question || name === this.#active) return;
    this.#active = name;
    this.update();
  }

  #clicked(target) {
    const button = target.closest("[data-region] [data-add]");
    if (!button) return;
    const part = button.closest("[data-part]");
    const question = this.#questions.find(({ name }) => name === button.closest("[data-asked]").dataset.asked);
    this.#active = question.name;
    this.#editorOf(question, part).editor.addInTheMiddle(question.name);
  }
}
