// The present answers to the questions of one task, with undo and redo. Pure: independent of the page.
//
//   const state = new QuestionState(); state.set(question, "s1", 4); state.rank(question, "s2", 1); state.undo();
//
// `now.places` are the boxes and points: {id, question, stimulus, x, y} and, for a box, width and height.

import { History } from "../screen/history.js";

export const EMPTY = Object.freeze({ answers: {}, places: [] });

export class QuestionState extends History {
  #nextPlace = 1;

  constructor() {
    super(EMPTY);
  }

  // Begins another task or restores a draft; this cannot be undone.
  reset(answer) {
    this.begin(this.#numbered(answer));
  }

  // Takes over an answer from another tab, as one step that can be undone.
  adopt(answer) {
    this.step(this.#numbered(answer));
  }

  set(question, ref, value) {
    this.step({ answers: this.#with(question, ref, value) });
  }

  type(question, ref, text) {
    this.replace({ ...this.now, answers: this.#with(question, ref, text) });
  }

  // If places are unique, the item that had the place gets the place that this one leaves. Returns that item, or null.
  rank(question, ref, place) {
    const ranks = { ...this.now.answers[question.name] };
    const other = question.ties ? undefined : Object.keys(ranks).find((one) => one !== ref && ranks[one] === place);
    if (other && ref in ranks) ranks[other] = ranks[ref];
    else if (other) delete ranks[other];
    ranks[ref] = place;
    this.step({ answers: this.#with(question, "", ranks) });
    return other ?? null;
  }

  addPlace(place) {
    const id = this.#nextPlace++;
    this.step({ places: [...this.now.places, { ...place, id }] });
    return id;
  }

  movePlace(id, to, mergeKey = "") {
    this.step({ places: this.now.places.map((place) => (place.id === id ? { ...place, ...to } : place)) }, mergeKey);
  }

  deletePlace(id) {
    this.step({ places: this.now.places.filter((place) => place.id !== id) });
  }

  #with(question, ref, value) {
    const { answers } = this.now;
    return { ...answers, [question.name]: question.each ? { ...answers[question.name], [ref]: value } : value };
  }

  #numbered({ answers = {}, places = [] }) {
    return { answers, places: places.map((place) => ({ ...place, id: this.#nextPlace++ })) };
  }
}
