// The pictures or texts of a task. Those of the next task are copied from a template, and pictures can be enlarged.
//
//   <div data-stimuli> <figure data-stimulus="s1"> [data-frame] or [data-text], [data-name], [data-larger] </figure> … </div>
//   <dialog data-larger-view> [data-larger-name] [data-larger-image] [data-larger-step] [data-larger-close] </dialog>
//
//   const stimuli = new Stimuli(form, { hides: (frame) => false, say }); stimuli.show(payload); stimuli.seen; stimuli.openLarger();

import { filledCopy } from "./copies.js";
import { Picture } from "../screen/picture.js";
import { gettext } from "../words.js";

export const CHOSEN = "✓";

export function nameOf(stimulus, index) {
  const number = index + 1;
  return stimulus.image ? gettext("Picture %(number)s", { number }) : gettext("Text %(number)s", { number });
}

export class Stimuli {
  #pictures = new Map();
  #opened = 0;
  #opener = null;

  constructor(form, { hides, say }) {
    Object.assign(this, { hides, say });
    this.place = form.querySelector("[data-stimuli]");
    this.prompt = form.querySelector("[data-prompt]");
    this.template = form.querySelector("[data-stimulus-template]");
    this.view = document.querySelector("[data-larger-view]");
    this.#bind();
    this.place.addEventListener("click", (event) => this.#clicked(event));
    if (this.view) this.#bindView();
  }

  show({ stimuli, prompt }) {
    if (this.prompt) this.prompt.textContent = prompt ?? "";
    this.place.dataset.count = stimuli.length;
    this.place.replaceChildren(...stimuli.map((stimulus, index) => this.#figure(stimulus, index)));
    this.#bind();
    this.#showReported(stimuli);
  }

  // The present answer about a picture, for display only: the answer itself is with its question.
  mark(standing) {
    for (const figure of this.place.children) {
      const words = standing[figure.dataset.stimulus] ?? "";
      figure.querySelector("[data-standing]").textContent = words;
      figure.classList.toggle("chosen", words === CHOSEN);
    }
  }

  get seen() {
    return [...this.#pictures.values()].every((picture) => picture.seen);
  }

  whenSeen(does) {
    const [missing] = [...this.#pictures.values()].filter((picture) => !picture.seen);
    if (missing) missing.whenSeen(() => this.whenSeen(does));
    else does();
  }

  // The picture with the focus, or the first.
  openLarger() {
    if (!this.view) return;
    const focused = document.activeElement?.closest("[data-stimulus]");
    this.#open(focused ?? this.place.firstElementChild);
  }

  #figure(stimulus, index) {
    const { ref, image, text } = stimulus;
    const figure = filledCopy(this.template.content.firstElementChild, { ref, name: nameOf(stimulus, index) });
    if (!image) {
      figure.querySelector("[data-text]").textContent = text;
      return figure;
    }
    for (const overlay of figure.querySelectorAll("[data-overlay]")) overlay.setAttribute("viewBox", `0 0 ${image.width} ${image.height}`);
    const shown = figure.querySelector("[data-image]");
    Object.assign(shown, { width: image.width, height: image.height, src: image.url });
    return figure;
  }

  // The pictures that can be reported.
  #showReported(stimuli) {
    const choice = document.querySelector("[data-report-stimulus]");
    const options = stimuli.map((stimulus, index) => new Option(nameOf(stimulus, index), stimulus.ref));
    choice?.replaceChildren(choice.options[0], ...options);
  }

  #bind() {
    this.#pictures.clear();
    for (const figure of this.place.children) {
      const frame = figure.querySelector("[data-frame]");
      if (!frame) continue;
      this.#pictures.set(figure.dataset.stimulus, new Picture(frame));
      figure.querySelector("[data-larger]").hidden = false;
      frame.classList.toggle("opens", !figure.querySelector("[data-overlay]"));
    }
  }

  // Pressing on a picture opens it, unless places are drawn on it.
  #clicked(event) {
    const figure = event.target.closest("[data-stimulus]");
    if (!figure || !this.view) return;
    const onPicture = event.target.closest("[data-layer]") && !figure.querySelector("[data-overlay]");
    if (onPicture || event.target.closest("[data-larger]")) this.#open(figure);
  }

  #open(figure) {
    const ref = figure.dataset.stimulus;
    if (!this.#pictures.get(ref)?.seen) return this.say(gettext("Wait until the picture has loaded, or skip it."));
    if (this.hides(figure)) return this.say(gettext("Show the picture first, or skip it."));
    this.#opener = document.activeElement;
    this.#look([...this.place.children].indexOf(figure));
    this.view.showModal();
  }

  #bindView() {
    this.view.addEventListener("click", (event) => {
      const step = event.target.closest("[data-larger-step]");
      if (step) this.#step(Number(step.dataset.largerStep));
      else if (event.target === this.view || event.target.closest("[data-larger-close]")) this.view.close();
    });
    this.view.addEventListener("close", () => (this.#opener?.isConnected ? this.#opener.focus({ preventScroll: true }) : null));
    this.view.addEventListener("keydown", (event) => {
      event.stopPropagation(); // keys do not answer here
      const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
      if (step) this.#step(step);
      if (event.key.toLowerCase() === "l" && !event.ctrlKey && !event.metaKey) this.view.close();
    });
  }

  #step(step) {
    const figures = [...this.place.children];
    const count = figures.length;
    for (let away = 1; away < count; away += 1) {
      const index = (this.#opened + step * away + count * away) % count;
      const figure = figures[index];
      if (this.#pictures.get(figure.dataset.stimulus)?.seen && !this.hides(figure)) return this.#look(index);
    }
  }

  #look(index) {
    const figure = this.place.children[index];
    const image = this.#pictures.get(figure.dataset.stimulus).image;
    this.#opened = index;
    const shown = this.view.querySelector("[data-larger-image]");
    Object.assign(shown, { src: image.src, alt: image.alt, width: image.width, height: image.height });
    this.view.querySelector("[data-larger-name]").textContent = image.alt;
  }
}
