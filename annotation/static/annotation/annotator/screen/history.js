// A value that is replaced step by step, with undo and redo. Pure: knows nothing of the page.
//
//   class Answer extends History { tick() { this.step({ ticked: true }); } }
//   answer.addEventListener("change", () => draw(answer.now)); answer.undo();
//
// A value of `now` is never changed, only replaced, so that going back is keeping the old one.

// Steps with the same merge key within this time are one step back (an arrow key held down).
const MERGE_WITHIN = 1500;

export class History extends EventTarget {
  #past = [];
  #future = [];
  #merged = { key: "", at: 0 };

  constructor(now) {
    super();
    this.now = now;
  }

  // There is no way back before this.
  begin(now) {
    this.#past = [];
    this.#future = [];
    this.#merged = { key: "", at: 0 };
    this.replace(now);
  }

  get canUndo() { return this.#past.length > 0; }
  get canRedo() { return this.#future.length > 0; }

  undo() {
    if (!this.canUndo) return;
    this.#future.push(this.now);
    this.#merged.key = "";
    this.replace(this.#past.pop());
  }

  redo() {
    if (!this.canRedo) return;
    this.#past.push(this.now);
    this.#merged.key = "";
    this.replace(this.#future.pop());
  }

  step(change, mergeKey = "") {
    const at = Date.now();
    const merges = mergeKey !== "" && mergeKey === this.#merged.key && at - this.#merged.at < MERGE_WITHIN;
    if (!merges) this.#past.push(this.now);
    this.#merged = { key: mergeKey, at };
    this.#future = [];
    this.replace({ ...this.now, ...change });
  }

  // Without a step back: typing has an undo of its own in the text field.
  replace(now) {
    this.now = Object.freeze(now);
    this.dispatchEvent(new Event("change"));
  }
}
