// A value that is replaced step by step, with undo and redo. Pure: independent of the page.
//
//   class Answer extends History { tick() { this.step({ ticked: true }); } }
//   answer.addEventListener("change", () => draw(answer.now)); answer.undo();
//
// A value of `now` is never changed, only replaced, so that undo only has to keep the old value.

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

  // Steps before this cannot be undone.
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

  // Without an undo step: the text field has its own undo for typing.
  replace(now) {
    this.now = Object.freeze(now);
    this.dispatchEvent(new Event("change"));
  }
}
