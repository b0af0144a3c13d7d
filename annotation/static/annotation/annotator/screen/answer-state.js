// What is answered so far on one task, with undo and redo. Pure: knows nothing of the page.
//
//   const state = new AnswerState({ticked: [], none: false, boxes: [], rating: null, justification: ""});
//   state.addEventListener("change", () => draw(state.now));
//   state.toggle("a1"); state.undo();
//
// A value of `now` is never changed, only replaced, so that going back is keeping the old one.

export const EMPTY = Object.freeze({ ticked: [], none: false, boxes: [], rating: null, justification: "" });

// Steps with the same merge key within this time are one step back (an arrow key held down).
const MERGE_WITHIN = 1500;

export class AnswerState extends EventTarget {
  #past = [];
  #future = [];
  #merged = { key: "", at: 0 };
  #nextBox = 1;

  constructor(answer = EMPTY) {
    super();
    this.now = EMPTY;
    this.reset(answer);
  }

  // Begins another task or takes up a draft: there is no way back before it.
  reset(answer) {
    this.#past = [];
    this.#future = [];
    this.#merged = { key: "", at: 0 };
    const boxes = (answer.boxes ?? []).map((box) => ({ ...box, id: this.#nextBox++ }));
    this.#replace({ ...EMPTY, ...answer, boxes });
  }

  // Takes over what was answered elsewhere, as one step that can be undone.
  adopt(answer) {
    const boxes = (answer.boxes ?? []).map((box) => ({ ...box, id: this.#nextBox++ }));
    this.#step({ ...EMPTY, ...answer, boxes });
  }

  get canUndo() { return this.#past.length > 0; }
  get canRedo() { return this.#future.length > 0; }

  undo() {
    if (!this.canUndo) return;
    this.#future.push(this.now);
    this.#merged.key = "";
    this.#replace(this.#past.pop());
  }

  redo() {
    if (!this.canRedo) return;
    this.#past.push(this.now);
    this.#merged.key = "";
    this.#replace(this.#future.pop());
  }

  // Unticking takes the boxes with it; 'none' and ticks exclude each other.
  toggle(ref) {
    const { ticked, boxes } = this.now;
    if (ticked.includes(ref)) {
      this.#step({ ticked: ticked.filter((one) => one !== ref), boxes: boxes.filter((box) => box.attribute !== ref) });
    } else {
      this.#step({ ticked: [...ticked, ref], none: false });
    }
  }

  setNone(none) {
    this.#step(none ? { none: true, ticked: [], boxes: [] } : { none: false });
  }

  rate(rating) {
    if (rating !== this.now.rating) this.#step({ rating });
  }

  // Typing has an undo of its own in the text field.
  justify(justification) {
    this.#replace({ ...this.now, justification });
  }

  addBox(box) {
    const added = { ...box, id: this.#nextBox++ };
    const ticked = this.now.ticked.includes(box.attribute) ? this.now.ticked : [...this.now.ticked, box.attribute];
    this.#step({ boxes: [...this.now.boxes, added], ticked, none: false });
    return added.id;
  }

  placeBox(id, place, mergeKey = "") {
    this.#step({ boxes: this.now.boxes.map((box) => (box.id === id ? { ...box, ...place } : box)) }, mergeKey);
  }

  deleteBox(id) {
    this.#step({ boxes: this.now.boxes.filter((box) => box.id !== id) });
  }

  #step(change, mergeKey = "") {
    const at = Date.now();
    const merges = mergeKey !== "" && mergeKey === this.#merged.key && at - this.#merged.at < MERGE_WITHIN;
    if (!merges) this.#past.push(this.now);
    this.#merged = { key: mergeKey, at };
    this.#future = [];
    this.#replace({ ...this.now, ...change });
  }

  #replace(now) {
    this.now = Object.freeze(now);
    this.dispatchEvent(new Event("change"));
  }
}
