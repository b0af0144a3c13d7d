// The present answers of one task of attributes, with undo and redo. Pure: independent of the page.
//
//   const state = new AnswerState({ticked: [], none: false, boxes: [], rating: null, justification: ""});
//   state.addEventListener("change", () => draw(state.now));
//   state.toggle("a1"); state.undo();

import { History } from "./history.js";

export const EMPTY = Object.freeze({ ticked: [], none: false, boxes: [], rating: null, justification: "" });

export class AnswerState extends History {
  #nextBox = 1;

  constructor(answer = EMPTY) {
    super(EMPTY);
    this.reset(answer);
  }

  // Begins another task or restores a draft; this cannot be undone.
  reset(answer) {
    const boxes = (answer.boxes ?? []).map((box) => ({ ...box, id: this.#nextBox++ }));
    this.begin({ ...EMPTY, ...answer, boxes });
  }

  // Takes over an answer from another tab, as one step that can be undone.
  adopt(answer) {
    const boxes = (answer.boxes ?? []).map((box) => ({ ...box, id: this.#nextBox++ }));
    this.step({ ...EMPTY, ...answer, boxes });
  }

  // Unticking removes the boxes; 'none' and ticks exclude each other.
  toggle(ref) {
    const { ticked, boxes } = this.now;
    if (ticked.includes(ref)) {
      this.step({ ticked: ticked.filter((one) => one !== ref), boxes: boxes.filter((box) => box.attribute !== ref) });
    } else {
      this.step({ ticked: [...ticked, ref], none: false });
    }
  }

  setNone(none) {
    this.step(none ? { none: true, ticked: [], boxes: [] } : { none: false });
  }

  rate(rating) {
    if (rating !== this.now.rating) this.step({ rating });
  }

  // The text field has its own undo for typing.
  justify(justification) {
    this.replace({ ...this.now, justification });
  }

  addBox(box) {
    const added = { ...box, id: this.#nextBox++ };
    const ticked = this.now.ticked.includes(box.attribute) ? this.now.ticked : [...this.now.ticked, box.attribute];
    this.step({ boxes: [...this.now.boxes, added], ticked, none: false });
    return added.id;
  }

  placeBox(id, place, mergeKey = "") {
    this.step({ boxes: this.now.boxes.map((box) => (box.id === id ? { ...box, ...place } : box)) }, mergeKey);
  }

  deleteBox(id) {
    this.step({ boxes: this.now.boxes.filter((box) => box.id !== id) });
  }
}
