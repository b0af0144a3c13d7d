// Draws points over a picture, and lets people set, move and delete them with mouse, finger, pen or keys.
//
//   const editor = new PointEditor(svg, places, { active: () => "fault", label: (name) => ({number: 1, text: "Where?"}), say, idle: "…" });
//   editor.addEventListener("select", () => editor.selected);
//
// `places` are the places of one picture in `regions.js`. Pressing on a point chooses it, and dragging moves it.

import { arrowStep, CLICK, element, fractionAt, onScreen } from "../marking/geometry.js";
import { gettext } from "../words.js";

const RADIUS = 9; // CSS pixels, as shown
const REACH = 22; // CSS pixels that react

const inside = (value) => Math.min(Math.max(value, 0), 1);
const percent = (value) => `${Math.round(value * 100)} %`;

export class PointEditor extends EventTarget {
  selected = null;
  #gesture = null;
  #refocusing = false;

  constructor(svg, places, { active, label, say, idle }) {
    super();
    Object.assign(this, { svg, places, active, label, say, idle });
    places.addEventListener("change", () => this.draw());
    svg.addEventListener("pointerdown", (event) => this.#down(event));
    svg.addEventListener("pointermove", (event) => this.#move(event));
    svg.addEventListener("pointerup", () => this.#up());
    svg.addEventListener("pointercancel", () => this.cancel());
    svg.addEventListener("keydown", (event) => this.#key(event));
    svg.addEventListener("focusin", (event) => this.#focused(event));
    new ResizeObserver(() => this.draw()).observe(svg);
  }

  select(id, { focus = false } = {}) {
    const changed = this.selected !== id;
    this.selected = id;
    if (changed) {
      this.draw();
      this.dispatchEvent(new Event("select"));
    }
    if (focus) this.svg.querySelector(`[data-point="${id}"]`)?.focus({ preventScroll: true });
  }

  // A point in the middle, to be placed with the arrow keys.
  addInTheMiddle(name) {
    const shift = 0.03 * (this.places.now.boxes.length % 6);
    this.select(this.places.addBox({ attribute: name, x: 0.5 + shift, y: 0.5 + shift }), { focus: true });
    this.say(gettext("Point added; arrow keys move it."));
  }

  delete(id) {
    const { attribute } = this.#point(id);
    const others = this.places.now.boxes.filter((point) => point.id !== id && point.attribute === attribute);
    this.selected = null;
    this.places.deleteBox(id);
    this.dispatchEvent(new Event("select"));
    this.say(gettext("Point deleted; Undo brings it back."));
    return others.at(-1)?.id ?? null;
  }

  escape() {
    this.cancel();
    this.select(null);
  }

  // Cancels an unfinished gesture of a finger or the mouse.
  cancel() {
    this.#gesture = null;
    this.draw();
  }

  draw() {
    if (this.selected !== null && !this.#point(this.selected)) this.selected = null;
    const focusedId = Number(document.activeElement?.closest?.("[data-point]")?.dataset.point ?? NaN);
    const { scale } = onScreen(this.svg);
    this.svg.replaceChildren(...this.places.now.boxes.map((point, index) => this.#drawPoint(point, index, scale)));
    if (!Number.isNaN(focusedId)) {
      this.#refocusing = true;
      this.svg.querySelector(`[data-point="${focusedId}"]`)?.focus({ preventScroll: true });
      this.#refocusing = false;
    }
    this.svg.classList.toggle("drawing", this.active() !== null);
  }

  #point(id) {
    return this.places.now.boxes.find((point) => point.id === id);
  }

  #down(event) {
    if (!event.isPrimary || event.button !== 0) return;
    event.preventDefault(); // no dragging of the picture; focus is set explicitly
    const id = Number(event.target.closest("[data-point]")?.dataset.point ?? NaN);
    if (!Number.isNaN(id)) {
      this.svg.setPointerCapture(event.pointerId);
      this.#gesture = { id, clientX: event.clientX, clientY: event.clientY, place: null };
      return this.select(id, { focus: true });
    }
    const attribute = this.active();
    const { x, y } = fractionAt(this.svg, event);
    if (x < 0 || y < 0 || x > 1 || y > 1) return;
    if (attribute === null) return this.say(this.idle);
    this.select(this.places.addBox({ attribute, x, y }), { focus: true });
    this.say(gettext("Point set for %(text)s.", this.label(attribute)));
  }

  #move(event) {
    const gesture = this.#gesture;
    if (!gesture || !event.isPrimary) return;
    const wandered = Math.hypot(event.clientX - gesture.clientX, event.clientY - gesture.clientY);
    if (!gesture.place && wandered <= CLICK) return;
    const { x, y } = fractionAt(this.svg, event);
    gesture.place = { x: inside(x), y: inside(y) };
    this.draw();
  }

  #up() {
    const gesture = this.#gesture;
    this.#gesture = null;
    if (gesture?.place && this.#point(gesture.id)) this.places.placeBox(gesture.id, gesture.place);
  }

  #focused(event) {
    if (this.#refocusing) return;
    const id = Number(event.target.closest("[data-point]")?.dataset.point ?? NaN);
    if (!Number.isNaN(id)) this.select(id);
  }

  #key(event) {
    const id = Number(event.target.closest("[data-point]")?.dataset.point ?? NaN);
    if (Number.isNaN(id) || event.ctrlKey || event.metaKey) return;
    const step = arrowStep(event);
    if (step) {
      const { x, y } = this.#point(id);
      this.places.placeBox(id, { x: inside(x + step[0]), y: inside(y + step[1]) }, `keys ${id}`);
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

  #drawPoint(point, index, scale) {
    const { number, text } = this.label(point.attribute);
    const { width, height } = this.svg.viewBox.baseVal;
    const { x, y } = this.#gesture?.id === point.id && this.#gesture.place ? this.#gesture.place : point;
    const at = { cx: x * width, cy: y * height };
    const place = gettext("%(x)s from the left, %(y)s from the top", { x: percent(x), y: percent(y) });
    const group = element("g", {
      "data-point": point.id,
      tabindex: 0,
      role: "application",
      "aria-roledescription": gettext("point"),
      "aria-label": gettext("Point %(number)s, %(text)s: %(place)s", { number: index + 1, text, place }),
      class: point.id === this.selected ? "point selected" : "point",
    });
    const digit = element("text", { x: at.cx, y: at.cy, "font-size": 12 / scale, class: "tag-number" });
    digit.textContent = index + 1;
    group.append(
      element("circle", { ...at, r: REACH / scale, class: "point-reach" }),
      element("circle", { ...at, r: (RADIUS + 3) / scale, class: "point-halo" }),
      element("circle", { ...at, r: RADIUS / scale, class: `point-dot label-${number}` }),
      digit,
    );
    return group;
  }
}
