// Ratings that are submitted as soon as they are chosen, if the person switches this on; the last one can be undone.
//
//   <label data-choose-submits hidden> <input type="checkbox"> … </label> · <a data-previous href="…/previous/"> … </a>
//
//   const quick = new ChooseSubmits(form, { submit }); quick.chose(); quick.saved(); quick.takeBack();
//
// Each answer is sent at once and can be corrected later: undoing opens it, and saving makes a new revision.

import { gettext } from "../words.js";

const KEY = "annotate:choose-submits";
const UNDO_FOR = 10_000;
const SETTLES_AFTER = 400; // milliseconds: the second half of a double tap must not answer the next word

export class ChooseSubmits {
  #timer = 0;
  #shownAt = -Infinity;

  constructor(form, { submit, clock = () => performance.now() }) {
    Object.assign(this, { submit, clock });
    this.place = form.querySelector("[data-choose-submits]");
    this.previous = form.querySelector("[data-previous]");
    if (!this.place) return;
    this.setting = this.place.querySelector("input");
    this.setting.checked = remembered();
    this.setting.addEventListener("change", () => remember(this.setting.checked));
    this.place.hidden = false;
    this.words = [...this.previous.childNodes];
  }

  get on() {
    return this.setting?.checked ?? false;
  }

  get settles() {
    return this.on && this.clock() - this.#shownAt < SETTLES_AFTER;
  }

  chose() {
    if (this.on) this.submit();
  }

  // The next word is shown, and the previous answer can be undone for a while.
  saved() {
    if (!this.on) return;
    this.#shownAt = this.clock();
    window.clearTimeout(this.#timer);
    this.previous.textContent = gettext("Undo");
    this.previous.classList.add("button", "undo");
    this.#timer = window.setTimeout(() => this.#over(), UNDO_FOR);
  }

  // Returns whether there was an answer to undo.
  takeBack() {
    if (!this.previous?.classList.contains("undo")) return false;
    window.location.assign(this.previous.href);
    return true;
  }

  #over() {
    this.previous.replaceChildren(...this.words);
    this.previous.classList.remove("button", "undo");
  }
}

function remembered() {
  try {
    return localStorage.getItem(KEY) !== null;
  } catch {
    return false; // storage switched off
  }
}

function remember(on) {
  try {
    if (on) localStorage.setItem(KEY, "1");
    else localStorage.removeItem(KEY);
  } catch {
    // Storage is switched off: the setting lasts until the page is left.
  }
}
