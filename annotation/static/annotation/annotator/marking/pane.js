// The marking on the screen: the picture with its boxes, the attributes, none of the above.

import { AttributeList } from "./attribute-list.js";
import { BoxEditor } from "./box-editor.js";
import { Blur } from "../screen/comfort.js";
import { Picture } from "../screen/picture.js";
import { Zoom } from "./zoom.js";
import { gettext, ngettext } from "../words.js";

const NO_BOX = gettext("Draw a box around the place where you see it.");
const NOTHING = gettext("Tick what the picture shows, or choose ‘None of the above’.");

export class MarkingPane {
  constructor(form, state, payload, announce) {
    Object.assign(this, { form, state, announce });
    this.boxesRequired = payload.boxes_required;
    const find = (name) => form.querySelector(`[data-${name}]`);
    this.question = find("question");
    this.picture = new Picture(find("frame"));
    this.none = find("none");
    this.hint = find("hint");
    this.hideButton = find("hide");
    this.overlay = find("overlay");
    this.list = new AttributeList({ list: find("attributes"), boxes: find("boxes"), template: find("attribute-template") }, state);
    this.editor = new BoxEditor(this.overlay, state, {
      active: () => this.list.active,
      label: (ref) => this.list.label(ref),
      say: (words) => this.say(words),
    });
    this.zoom = new Zoom(find("frame"), find("layer"), {
      free: () => this.list.active === null,
      taken: () => this.editor.cancel(),
    });
    this.blur = new Blur(form);
    this.list.connect(this.editor);
    this.list.adopt();
    this.undoButton = find("undo");
    this.redoButton = find("redo");
    find("drawing").hidden = false;
    this.none.addEventListener("change", () => this.#setNone(this.none.checked));
    this.undoButton.addEventListener("click", () => state.undo());
    this.redoButton.addEventListener("click", () => state.redo());
    this.hideButton.addEventListener("click", () => this.#hide());
    this.insideButton = find("inside");
    this.insideButton.addEventListener("click", () => this.#drawInside(!this.editor.drawing));
    this.wholeButton = find("zoom-whole");
    find("zoom-in").addEventListener("click", () => this.zoom.in());
    find("zoom-out").addEventListener("click", () => this.zoom.out());
    this.wholeButton.addEventListener("click", () => this.zoom.reset());
    this.zoom.addEventListener("change", () => this.#zoomed());
    this.overlay.addEventListener("keydown", (event) => this.#panByKey(event));
    this.editor.addEventListener("select", () => this.#revealSelected());
    bindArrows(form.querySelector(".question"), () => this.form.querySelector("[data-submit]"));
    state.addEventListener("change", () => this.update());
  }

  get keys() {
    const nth = (index) => [...this.list.list.children][index]?.dataset.attribute;
    const ticks = [0, 1, 2, 3, 4].map((index) => [
      String(index + 1),
      () => {
        const ref = nth(index);
        if (!ref) return;
        this.list.toggle(ref);
        this.list.row(ref).querySelector("input").focus({ preventScroll: true });
      },
    ]);
    return {
      ...Object.fromEntries(ticks),
      0: () => this.#setNone(!this.state.now.none),
      b: () => (this.list.active ? this.editor.addInTheMiddle(this.list.active) : this.say(gettext("Tick what you see first."))),
      h: () => this.#hide(),
      v: () => this.blur.toggle(),
      d: () => this.#drawInside(!this.editor.drawing),
      "+": () => this.zoom.in(),
      "=": () => this.zoom.in(),
      "-": () => this.zoom.out(),
      f: () => this.zoom.reset(),
    };
  }

  // An earlier answer, in the format of the screen.
  given(answer) {
    return { ...answer, none: answer.none_of_the_above };
  }

  shown() {
    const ticked = [...this.form.querySelectorAll("[name=ticked]:checked")].map((input) => input.value);
    return { ticked, none: this.none.checked };
  }

  // The picture comes first, so that it is decoded while the rest is rendered.
  showImage(image) {
    this.picture.show(image);
  }

  show({ image, attributes, instrument, boxes_required: boxesRequired }) {
    this.question.textContent = instrument.statement;
    this.overlay.classList.remove("hidden-boxes");
    this.hideButton.setAttribute("aria-pressed", "false");
    this.picture.failed.hidden = true;
    this.#drawInside(false, { quietly: true });
    this.zoom.reset();
    this.blur.next();
    this.list.show(attributes);
    this.boxesRequired = boxesRequired;
    this.editor.resize(image.width, image.height);
  }

  update() {
    const { ticked, boxes, none } = this.state.now;
    this.none.checked = none;
    this.undoButton.disabled = !this.state.canUndo;
    this.redoButton.disabled = !this.state.canRedo;
    this.hideButton.disabled = boxes.length === 0;
    if (ticked.length || none) this.#noneError("");
    const active = this.list.active;
    this.hint.textContent = active
      ? gettext("Draw around “%(text)s”: drag over the picture, or mark two corners.", this.list.label(active))
      : this.boxesRequired
        ? gettext("Tick what you see, then draw a box around it.")
        : gettext("Tick what you see; a box around it helps.");
  }

  // Visible under the picture, and announced to screen readers.
  say(words) {
    this.hint.textContent = words;
    this.announce(words);
  }

  answer() {
    const { ticked, boxes, none } = this.state.now;
    const place = ({ attribute, x, y, width, height }) => ({ attribute, x, y, width, height });
    return { ticked, boxes: boxes.map(place), none_of_the_above: none };
  }

  check() {
    if (!this.picture.seen) return gettext("Wait until the picture has loaded, or skip it.");
    if (this.blur.hides) return gettext("Show the picture first, or skip it.");
    const { ticked, boxes, none } = this.state.now;
    if (!ticked.length && !none) {
      this.#noneError(NOTHING);
      this.list.list.querySelector("input").focus();
      return gettext("Not submitted yet.");
    }
    const unboxed = this.boxesRequired ? ticked.filter((ref) => !boxes.some((box) => box.attribute === ref)) : [];
    if (!unboxed.length) return null;
    this.#unboxed(Object.fromEntries(unboxed.map((ref) => [ref, NO_BOX])));
    return ngettext("Not submitted yet: a box is missing.", "Not submitted yet: %(count)s boxes are missing.", unboxed.length);
  }

  refuse(fields) {
    const boxes = {};
    for (const [name, message] of Object.entries(fields)) {
      const ref = name.replace(/^answer\.boxes\./, "");
      if (this.list.row(ref)) boxes[ref] = message;
    }
    this.#unboxed(boxes);
    const none = fields["answer.ticked"] ?? fields["answer.none_of_the_above"] ?? "";
    this.#noneError(none);
    return Object.keys(boxes).length > 0 || none !== "";
  }

  // Calls back when the picture has loaded.
  whenSeen(does) {
    this.picture.whenSeen(does);
  }

  escape() {
    if (!this.editor.escape() && this.editor.drawing) this.#drawInside(false);
  }

  #drawInside(on, { quietly = false } = {}) {
    this.editor.drawing = on;
    this.insideButton.setAttribute("aria-pressed", on);
    if (!quietly) this.say(on ? gettext("Every drag now draws a box, inside other boxes too.") : gettext("Dragging the chosen box moves it, as before."));
  }

  #zoomed() {
    const enlarged = this.zoom.scale > 1;
    this.wholeButton.disabled = !enlarged;
    this.form.querySelector("[data-zoom-out]").disabled = !enlarged;
    if (enlarged) this.overlay.tabIndex = 0;
    else this.overlay.removeAttribute("tabindex");
  }

  #panByKey(event) {
    const step = { ArrowLeft: [48, 0], ArrowRight: [-48, 0], ArrowUp: [0, 48], ArrowDown: [0, -48] }[event.key];
    if (!step || event.target !== this.overlay) return;
    if (this.zoom.pan(...step)) event.preventDefault();
  }

  #revealSelected() {
    const box = this.overlay.querySelector(`[data-box="${this.editor.selected}"]`);
    if (box) this.zoom.reveal(box.getBoundingClientRect());
  }

  #unboxed(messages) {
    const refs = Object.keys(messages);
    for (const ref of refs) this.list.refuse(ref, messages[ref]);
    if (!refs.length) return;
    this.list.activate(refs[0]);
    this.list.row(refs[0]).querySelector("[data-add]").focus();
  }

  #setNone(none) {
    const lost = this.state.now.boxes.length;
    this.state.setNone(none);
    if (none && lost) this.say(gettext("Ticks and boxes cleared; Undo brings them back."));
    this.none.focus({ preventScroll: true });
  }

  #hide() {
    const hidden = this.overlay.classList.toggle("hidden-boxes");
    this.hideButton.setAttribute("aria-pressed", hidden);
    this.say(hidden ? gettext("Boxes hidden.") : gettext("Boxes shown."));
  }

  #noneError(message) {
    const place = this.form.querySelector("[data-error=none]");
    place.textContent = message;
    place.hidden = !message;
  }
}

// Up and down move through the answers to the submit button, so that arrows, space and Enter suffice for a task.
function bindArrows(part, last) {
  const towards = { ArrowDown: 1, ArrowUp: -1 };
  document.addEventListener("keydown", (event) => {
    if (!towards[event.key] || event.defaultPrevented || event.ctrlKey || event.altKey || event.metaKey || event.shiftKey) return;
    const stops = [part.querySelector("[data-question]"), ...part.querySelectorAll("[name=ticked], [data-none]"), last()];
    const place = stops.indexOf(event.target);
    const next = stops[place + towards[event.key]];
    if (place < 0 || !next) return;
    event.preventDefault();
    next.focus();
  });
}
