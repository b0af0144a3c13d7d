// A line that shows whether the work is safe: saved, being sent, kept only on this device, or not kept.
//
//   <span id="saved" role="status"></span> <span id="kept"></span>
//
//   const saved = new SavedState(); saved.say(gettext("Saved."), "good"); saved.begun(true);
//
// Unsaved changes are shown but not announced: people know what they ticked.

import { gettext } from "../words.js";

export class SavedState {
  constructor() {
    this.said = document.getElementById("saved");
    this.kept = document.getElementById("kept");
    window.addEventListener("offline", () => this.#connection(false));
    window.addEventListener("online", () => this.#connection(true));
  }

  // `tone`: good, warn, bad or nothing.
  say(words, tone = "") {
    this.said.textContent = words;
    this.said.dataset.tone = tone;
    this.kept.textContent = "";
  }

  begun(kept) {
    const words = kept
      ? gettext("Draft kept on this device.")
      : gettext("This browser keeps no drafts: submit before you leave.");
    if (this.kept.textContent === words) return;
    if (this.said.dataset.tone !== "warn") this.say("");
    this.kept.textContent = words;
  }

  #connection(there) {
    if (there && this.said.dataset.tone !== "warn") return;
    this.say(
      there ? gettext("Connected again.") : gettext("No connection. Your work is kept on this device."),
      there ? "" : "warn",
    );
  }
}
