// Counts the seconds of active work: not while the tab is hidden, and only the first minute of a pause.
//
//   const time = new ActiveTime(); time.start(12.5); … time.seconds

const IDLE_AFTER = 60_000;
const SIGNS = ["pointerdown", "pointermove", "keydown", "wheel", "touchstart", "scroll"];

export class ActiveTime {
  #counted = 0;
  #since = null; // the last activity, null while hidden

  constructor(clock = () => performance.now()) {
    this.clock = clock;
    for (const sign of SIGNS) document.addEventListener(sign, () => this.#alive(), { passive: true, capture: true });
    document.addEventListener("visibilitychange", () => (document.hidden ? this.#pause() : this.#resume()));
  }

  start(seconds = 0) {
    this.#counted = seconds * 1000;
    this.#since = document.hidden ? null : this.clock();
  }

  get seconds() {
    return Math.round((this.#counted + this.#open()) / 100) / 10;
  }

  #open() {
    return this.#since === null ? 0 : Math.min(this.clock() - this.#since, IDLE_AFTER);
  }

  #alive() {
    if (this.#since === null) return;
    this.#counted += this.#open();
    this.#since = this.clock();
  }

  #pause() {
    this.#counted += this.#open();
    this.#since = null;
  }

  #resume() {
    this.#since = this.clock();
  }
}
