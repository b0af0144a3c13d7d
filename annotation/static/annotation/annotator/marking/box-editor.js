// Draws the boxes of an AnswerState over a picture, and lets people draw, move, resize and delete them with mouse, finger, pen or keys.
//
//   <div class="image-frame"><img …><svg data-overlay viewBox="0 0 512 512" preserveAspectRatio="xMidYMin meet"></svg></div>
//
//   const editor = new BoxEditor(svg, state, {
//     active: () => "a1",                       // the attribute a new box is for, or null
//     label: (ref) => ({number: 1, text: "hat"}),
//     say: (words) => …,                        // announces politely
//     idle: "…",                                // announced if there is no active attribute
//   });
//   editor.addEventListener("select", () => editor.selected);
//
// Mouse: a drag that begins in the chosen box moves it; any other drag draws, even inside boxes that are not chosen.
// With Shift pressed, or `drawing` on, a drag inside the chosen box draws too. A click chooses the smallest box under it, another
// click the next larger box. Two clicks draw a box like a drag. The picture may be letter-boxed and enlarged.

import { arrowStep, between, bigEnough, CLICK, element, fractionAt, inWords, moved, onScreen, resized } from "./geometry.js";
import { gettext } from "../words.js";

const HANDLE = 12; // CSS pixels, as shown
const HANDLE_REACH = 28; // CSS pixels that react
const HANDLES = ["nw", "n", "ne", "e", "se", "s", "sw", "w"];

export class BoxEditor extends EventTarget {
  selected = null;
  drawing = false; // a drag always draws
  #gesture = null;
  #corner = null; // the first of two clicks
  #hover = null;
  #refocusing = false;

  constructor(svg, state, { active, label, say, idle = gettext("Tick what you see first; then draw a box around it.") }) {
    super();
    Object.assign(this, { svg, state, active, label, say, idle });
    state.addEventListener("change", () => this.draw());
    svg.addEventListener("pointerdown", (event) => this.#down(event));
    svg.addEventListener("pointermove", (event) => this.#move(event));
    svg.addEventListener("pointerup", (event) => this.#up(event));
    svg.addEventListener("pointercancel", () => this.cancel());
    svg.addEventListener("keydown", (event) => this.#key(event));
    svg.addEventListener("focusin", (event) => this.#focused(event));
    new ResizeObserver(() => this.draw()).observe(svg);
  }

  resize(width, height) {
    this.svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
    this.selected = null;
    this.cancel();
  }

  get #size() {
    const { width, height } = this.svg.viewBox.baseVal;
    return { width, height };
  }

  box(id) {
    return this.state.now.boxes.find((box) => box.id === id);
  }

  select(id, { focus = false } = {}) {
    const changed = this.selected !== id;
    this.selected = id;
    if (changed) {
      this.draw();
      this.dispatchEvent(new Event("select"));
    }
    if (focus) this.svg.querySelector(`[data-box="${id}"]`)?.focus({ preventScroll: true });
  }

  // A box in the middle, to be placed with the arrow keys.
  addInTheMiddle(ref) {
    const shift = 0.03 * (this.state.now.boxes.length % 6);
    const id = this.state.addBox({ attribute: ref, x: 0.3 + shift, y: 0.3 + shift, width: 0.3, height: 0.3 });
    this.select(id, { focus: true });
    this.say(gettext("Box added; arrow keys move it, Shift and arrow keys resize it."));
  }

  delete(id) {
    const { attribute } = this.box(id);
    const others = this.state.now.boxes.filter((box) => box.id !== id && box.attribute === attribute);
    this.selected = null;
    this.state.deleteBox(id);
    this.dispatchEvent(new Event("select"));
    this.say(gettext("Box deleted; Undo brings it back."));
    return others.at(-1)?.id ?? null;
  }

  // Cancels an unfinished box; returns whether there was one.
  escape() {
    const something = this.#corner !== null || this.#gesture !== null || this.selected !== null;
    this.cancel();
    this.select(null);
    return something;
  }

  draw() {
    if (this.selected !== null && !this.box(this.selected)) this.selected = null;
    // Undo, Delete or another tab may remove the box that is being dragged.
    if (this.#gesture && this.#gesture.kind !== "draw" && !this.box(this.#gesture.id)) this.#gesture = null;
    const focused = document.activeElement?.closest?.("[data-box]");
    const focusedId = focused && this.svg.contains(focused) ? Number(focused.dataset.box) : null;
    const scale = onScreen(this.svg).scale;
    const boxes = this.state.now.boxes.map((box) =>
      this.#gesture?.id === box.id && this.#gesture.place ? { ...box, ...this.#gesture.place } : box,
    );
    // The chosen box is on top, so that its handles can be reached; the tab order is the order of drawing.
    const drawn = boxes.map((box, index) => this.#drawBox(box, index, scale));
    const handles = boxes.filter((box) => box.id === this.selected).flatMap((box) => this.#drawHandles(box, scale));
    const sketch = this.#sketch();
    this.svg.replaceChildren(...drawn, ...handles, ...(sketch ? [sketch] : []));
    if (focusedId !== null) {
      this.#refocusing = true;
      this.svg.querySelector(`[data-box="${focusedId}"]`)?.focus({ preventScroll: true });
      this.#refocusing = false;
    }
    // A finger on the picture scrolls the page unless there is something to draw.
    this.svg.classList.toggle("drawing", this.active() !== null || boxes.length > 0);
  }

  // The boxes under a point, the smallest first.
  #under({ x, y }) {
    const inside = (box) => x >= box.x && x <= box.x + box.width && y >= box.y && y <= box.y + box.height;
    return this.state.now.boxes.filter(inside).sort((a, b) => a.width * a.height - b.width * b.height);
  }

  #down(event) {
    if (!event.isPrimary || event.button !== 0) return;
    event.preventDefault(); // no text selection, no dragging of the picture; focus is set explicitly
    this.svg.setPointerCapture(event.pointerId);
    const at = fractionAt(this.svg, event);
    const under = this.#under(at).map((box) => box.id);
    const gesture = { at, clientX: event.clientX, clientY: event.clientY, under, dragged: false };
    if (event.target.dataset.handle) {
      this.#gesture = { ...gesture, kind: "resize", id: this.selected, edges: event.target.dataset.handle };
    } else if (under.includes(this.selected) && !event.shiftKey && !this.drawing) {
      this.#gesture = { ...gesture, kind: "move", id: this.selected };
    } else {
      this.#gesture = { ...gesture, kind: "draw" };
    }
  }

  #move(event) {
    if (!event.isPrimary) return;
    const at = fractionAt(this.svg, event);
    this.#hover = at;
    const gesture = this.#gesture;
    if (gesture) {
      const wandered = Math.hypot(event.clientX - gesture.clientX, event.clientY - gesture.clientY);
      gesture.dragged ||= wandered > CLICK;
      if (gesture.dragged) this.#follow(gesture, at);
    }
    if (gesture?.dragged || this.#corner) this.draw();
  }

  #follow(gesture, at) {
    if (gesture.kind === "draw") {
      this.#corner = null;
      gesture.place = between(gesture.at, at);
      return;
    }
    const [dx, dy] = [at.x - gesture.at.x, at.y - gesture.at.y];
    const box = this.box(gesture.id);
    gesture.place = gesture.kind === "move" ? moved(box, dx, dy) : resized(box, gesture.edges, dx, dy);
  }

  #up(event) {
    const gesture = this.#gesture;
    if (!gesture || !event.isPrimary) return;
    if (gesture.dragged) this.#follow(gesture, fractionAt(this.svg, event));
    this.#gesture = null;
    if (gesture.kind === "draw") {
      if (gesture.dragged) this.#finish(gesture.place);
      else this.#click(gesture);
    } else if (gesture.place) {
      this.state.placeBox(gesture.id, gesture.place);
    } else if (gesture.kind === "move") {
      this.#chooseNext(gesture.under);
    }
    this.draw();
    if (this.selected !== null) this.select(this.selected, { focus: true });
  }

  #chooseNext(under) {
    this.select(under[(under.indexOf(this.selected) + 1) % under.length]);
  }

  #click({ at, under }) {
    if (this.#corner) {
      const place = between(this.#corner, at);
      this.#corner = null;
      this.#finish(place);
    } else if (under.length && !(this.drawing && this.active() !== null)) {
      this.#chooseNext(under);
    } else if (this.selected !== null) {
      this.select(null);
    } else if (this.active() === null) {
      this.say(this.idle);
    } else {
      this.#corner = at;
      this.#hover = at;
      this.say(gettext("First corner set. Mark the opposite corner, or press Escape."));
    }
  }

  #finish(place) {
    const attribute = this.active();
    if (attribute === null) {
      this.say(this.idle);
    } else if (!bigEnough(place)) {
      this.say(gettext("That box was too small to keep. Draw a larger box."));
    } else {
      const id = this.state.addBox({ attribute, ...place });
      this.select(id);
      this.say(gettext("Box drawn for %(text)s.", this.label(attribute)));
    }
  }

  // Cancels an unfinished gesture of a finger or the mouse.
  cancel() {
    this.#gesture = null;
    this.#corner = null;
    this.draw();
  }

  // Tabbing to a box chooses it; pressing on a box does not yet, because this may begin a box inside it.
  #focused(event) {
    if (this.#refocusing || this.#gesture) return;
    const id = Number(event.target.closest("[data-box]")?.dataset.box ?? NaN);
    if (!Number.isNaN(id)) this.select(id);
  }

  #key(event) {
    const id = Number(event.target.closest("[data-box]")?.dataset.box ?? NaN);
    if (Number.isNaN(id) || event.ctrlKey || event.metaKey) return;
    const step = arrowStep(event);
    if (step) {
      const [dx, dy] = step;
      const box = this.box(id);
      const place = event.shiftKey ? resized(box, "se", dx, dy) : moved(box, dx, dy);
      this.state.placeBox(id, place, `keys ${id} ${event.shiftKey}`);
    } else if (event.key === "Delete" || event.key === "Backspace") {
      const next = this.delete(id);
      if (next !== null) this.select(next, { focus: true });
      else this.dispatchEvent(new Event("emptied"));
    } else {
      return;
    }
    event.preventDefault();
    event.stopPropagation();
  }

  #drawBox(box, index, scale) {
    const { number, text } = this.label(box.attribute);
    const group = element("g", {
      "data-box": box.id,
      tabindex: 0,
      role: "application",
      "aria-roledescription": gettext("box"),
      "aria-label": gettext("Box %(number)s, %(text)s: %(place)s", { number: index + 1, text, place: inWords(box) }),
      class: box.id === this.selected ? "box selected" : "box",
    });
    const place = this.#pixels(box);
    const tag = { x: place.x, y: place.y, width: 20 / scale, height: 20 / scale };
    const digit = element("text", { x: tag.x + 10 / scale, y: tag.y + 10 / scale, "font-size": 14 / scale, class: "tag-number" });
    digit.textContent = number;
    group.append(
      element("rect", { ...place, class: "box-reach" }),
      element("rect", { ...place, class: "box-halo" }),
      element("rect", { ...place, class: `label-${number}` }),
      element("rect", { ...tag, class: `tag label-${number}` }),
      digit,
    );
    return group;
  }

  #drawHandles(box, scale) {
    const { x, y, width, height } = this.#pixels(box);
    const across = { w: x, e: x + width };
    const down = { n: y, s: y + height };
    const around = (cx, cy, size) => ({ x: cx - size / 2, y: cy - size / 2, width: size, height: size });
    return HANDLES.flatMap((edges) => {
      const cx = across[[...edges].find((edge) => edge in across)] ?? x + width / 2;
      const cy = down[[...edges].find((edge) => edge in down)] ?? y + height / 2;
      return [
        element("rect", { ...around(cx, cy, HANDLE / scale), class: "handle" }),
        element("rect", { ...around(cx, cy, HANDLE_REACH / scale), class: `handle-reach ${edges}`, "data-handle": edges }),
      ];
    });
  }

  #sketch() {
    const place = this.#gesture?.kind === "draw" ? this.#gesture.place : this.#corner && between(this.#corner, this.#hover);
    const attribute = this.active();
    if (!place) return null;
    const group = element("g", { class: "sketch", "aria-hidden": "true" });
    const pixels = this.#pixels(place);
    group.append(element("rect", { ...pixels, class: "box-halo" }));
    if (attribute !== null) group.append(element("rect", { ...pixels, class: `label-${this.label(attribute).number}` }));
    return group;
  }

  #pixels(box) {
    const { width, height } = this.#size;
    return { x: box.x * width, y: box.y * height, width: box.width * width, height: box.height * height };
  }
}
