// The questions on the screen: pictures or texts, the questions about them, and the places drawn on them.

import { Blur } from "../screen/comfort.js";
import { AskedQuestion } from "./asked-question.js";
import { answerOf, askedParts, givenAnswer, isAsked, isBegun, isPlaceAsked, partsOf, valueOf } from "./conditions.js";
import { QuestionKeys } from "./question-keys.js";
import { Regions } from "./regions.js";
import { CHOSEN, nameOf, Stimuli } from "./stimuli.js";
import { wordsOf } from "./words-of.js";
import { gettext, ngettext } from "../words.js";

const MISSING = {
  scale: () => gettext("Choose an answer."),
  choice: () => gettext("Choose an answer."),
  compare: () => gettext("Choose an answer."),
  rank: () => gettext("Give each picture or text a place."),
  text: () => gettext("Write an answer; a few words are enough."),
  span: () => gettext("Choose the words."),
};

export class QuestionsPane {
  #visible = null; // the names of the questions asked; null until a task is shown

  constructor(form, state, payload, announce) {
    Object.assign(this, { form, state, payload, announce });
    this.question = form.querySelector("[data-question]");
    const pictured = payload.stimuli.some(({ image }) => image);
    this.blur = pictured ? new Blur(form) : null;
    this.stimuli = new Stimuli(form, { hides: (figure) => this.blur?.hidesIn(figure) ?? false, say: announce });
    this.asked = new Map(payload.questions.map((question) => [question.name, this.#asked(question)]));
    this.regions = null;
    if (payload.questions.some(({ region }) => region)) {
      this.regions = new Regions(form, state, { isPlaceAsked: (name, ref) => this.#isPlaceAsked(name, ref), say: announce });
      this.regions.show(payload);
    }
    this.undoButton = form.querySelector("[data-undo]");
    this.redoButton = form.querySelector("[data-redo]");
    this.undoButton.addEventListener("click", () => state.undo());
    this.redoButton.addEventListener("click", () => state.redo());
    form.querySelector("[data-drawing]").hidden = false;
    this.digits = new QuestionKeys(() => this.#parts, { asked: (name) => this.asked.get(name) });
    state.addEventListener("change", () => this.update());
  }

  get keys() {
    return {
      ...this.digits.keys,
      l: () => this.stimuli.openLarger(),
      v: () => this.blur?.toggle(),
      ...(this.regions ? { b: () => this.regions.add() } : {}),
    };
  }

  given(answer) {
    return givenAnswer(answer);
  }

  // Contents that the server wrote into the form, such as an answer that it just refused.
  shown() {
    const answers = {};
    for (const question of this.payload.questions) {
      for (const ref of partsOf(question, this.payload.stimuli)) {
        const value = this.asked.get(question.name).shown(ref);
        if (value === undefined) continue;
        answers[question.name] = question.each ? { ...answers[question.name], [ref]: value } : value;
      }
    }
    return { answers, places: [] };
  }

  show(payload) {
    this.payload = payload;
    this.#visible = null;
    const words = wordsOf(payload.prompt ?? payload.stimuli[0].text ?? "");
    this.stimuli.show(payload);
    this.blur?.next();
    for (const question of payload.questions) this.asked.get(question.name).show(question, payload.stimuli, words);
    this.regions?.show(payload);
  }

  update() {
    const { questions } = this.payload;
    const { answers } = this.state.now;
    const focused = document.activeElement?.closest("[data-asked]")?.dataset.asked;
    for (const question of questions) {
      this.asked.get(question.name).update(answers, (ref) => isAsked(questions, answers, question, ref));
    }
    for (const { question, ref, answered } of this.#parts) {
      if (answered) this.asked.get(question.name).error(ref, "");
    }
    this.undoButton.disabled = !this.state.canUndo;
    this.redoButton.disabled = !this.state.canRedo;
    this.regions?.update();
    this.#mark();
    if (focused) this.#keepFocus(focused);
    this.#announceNew();
  }

  answer() {
    return answerOf(this.payload, this.state.now);
  }

  // Announces what prevents submitting and moves the focus there; null if nothing does.
  check() {
    const several = this.payload.stimuli.length > 1;
    if (!this.stimuli.seen) {
      return several ? gettext("Wait until all pictures have loaded, or skip them.") : gettext("Wait until the picture has loaded, or skip it.");
    }
    if (this.blur?.hides) {
      return several ? gettext("Show all pictures first, or skip them.") : gettext("Show the picture first, or skip it.");
    }
    const missing = this.#parts.filter(({ question, value, answered }) => !answered && (question.required || isBegun(question, value)));
    for (const { question, ref } of missing) this.asked.get(question.name).error(ref, MISSING[question.type]());
    if (missing.length) {
      this.asked.get(missing[0].question.name).focus(missing[0].ref);
      return ngettext("Not submitted yet: an answer is missing.", "Not submitted yet: %(count)s answers are missing.", missing.length);
    }
    const places = this.regions?.missing() ?? [];
    for (const { name, ref } of places) this.asked.get(name).error(ref, gettext("Mark the place in the picture."));
    if (!places.length) return null;
    this.regions.focus(places[0].name, places[0].ref);
    return ngettext("Not submitted yet: a place is missing.", "Not submitted yet: %(count)s places are missing.", places.length);
  }

  refuse(fields) {
    const refused = [];
    for (const [field, message] of Object.entries(fields)) {
      const [, name, ref = ""] = field.match(/^answer\.(?:answers|regions)\.([^.]+)(?:\.([^.]+))?/) ?? [];
      const asked = this.asked.get(name);
      if (!asked || asked.fieldset.hidden) continue;
      asked.error(ref, message);
      refused.push({ asked, ref });
    }
    if (refused.length) refused[0].asked.focus(refused[0].ref);
    return refused.length > 0;
  }

  whenSeen(does) {
    this.stimuli.whenSeen(does);
  }

  escape() {
    this.regions?.escape();
  }

  get #parts() {
    return askedParts(this.payload, this.state.now.answers);
  }

  #asked(question) {
    const fieldset = this.form.querySelector(`[data-asked="${question.name}"]`);
    return new AskedQuestion(fieldset, question, this.state, { displaced: (ref, place) => this.#displaced(ref, place) });
  }

  #isPlaceAsked(name, ref) {
    const { questions, stimuli } = this.payload;
    const { answers } = this.state.now;
    const question = questions.find((one) => one.name === name);
    return isAsked(questions, answers, question, ref) && isPlaceAsked(question, valueOf(answers, question, ref), stimuli);
  }

  // If a single question compares or ranks, each picture shows its current place.
  #mark() {
    const [only, another] = this.payload.questions.filter(({ type }) => type === "compare" || type === "rank");
    const value = only && !another && this.state.now.answers[only.name];
    this.stimuli.mark(!value || value === "tie" ? {} : only.type === "rank" ? value : { [value]: CHOSEN });
  }

  // Places are unique, so losing a place is announced.
  #displaced(ref, place) {
    const index = this.payload.stimuli.findIndex((stimulus) => stimulus.ref === ref);
    const name = nameOf(this.payload.stimuli[index], index);
    this.announce(place ? gettext("%(name)s now has place %(place)s.", { name, place }) : gettext("%(name)s has no place now.", { name }));
  }

  // The question with the focus may no longer be asked: then the focus moves to the question on which it depends.
  #keepFocus(name) {
    let question = this.asked.get(name).question;
    if (!this.asked.get(name).fieldset.hidden) return;
    while (question.when && this.asked.get(question.name).fieldset.hidden) question = this.asked.get(question.when.question).question;
    this.asked.get(question.name).focus("", { options: { preventScroll: true } });
  }

  #announceNew() {
    const visible = [...this.asked].filter(([, { fieldset }]) => !fieldset.hidden).map(([name]) => name);
    const added = this.#visible === null ? [] : visible.filter((name) => !this.#visible.includes(name));
    this.#visible = visible;
    if (added.length) this.announce(gettext("One more question: %(label)s", { label: this.asked.get(added[0]).question.label }));
  }
}
