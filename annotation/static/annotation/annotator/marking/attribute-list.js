// The attributes of a marking task: ticks, the attribute for which boxes are drawn, its boxes as buttons, and errors.
//
//   <ul data-attributes> <li data-attribute="ref" data-number="1"> checkbox, [data-tools] with [data-count] [data-draw] [data-add], [data-error] </li> … </ul>
//   <ul data-boxes> the boxes of the active attribute </ul>
//
//   const list = new AttributeList({ list: ul, boxes: ul, template }, state); list.connect(editor); list.show([{ref, text}]); list.active
//
// `active` is the attribute that was ticked, drawn for or chosen last.

import { BOXES, listPlaces } from "./place-list.js";
import { gettext, ngettext } from "../words.js";

export class AttributeList {
  active = null;
  #rows = new Map();

  constructor({ list, boxes, template }, state) {
    Object.assign(this, { list, boxes, template, state });
    state.addEventListener("change", () => this.update());
  }

  connect(editor) {
    this.editor = editor;
    editor.addEventListener("select", () => {
      const box = editor.selected !== null && editor.box(editor.selected);
      if (box) this.activate(box.attribute);
      else this.update();
    });
    editor.addEventListener("emptied", () => this.row(this.active)?.querySelector("[data-add]").focus());
  }

  row(ref) {
    return this.#rows.get(ref);
  }

  label(ref) {
    const row = this.row(ref);
    return { number: Number(row.dataset.number), text: row.querySelector("[data-text]").textContent };
  }

  // The server's rows are used unchanged; rows of the next task are copied from the template.
  adopt() {
    for (const row of this.list.children) this.#bind(row);
  }

  show(attributes) {
    this.#rows.clear();
    this.active = null;
    const rows = attributes.map(({ ref, text }, index) => {
      const row = this.template.content.firstElementChild.cloneNode(true);
      row.dataset.attribute = ref;
      row.dataset.number = index + 1;
      row.querySelector("input").value = ref;
      for (const place of row.querySelectorAll("[data-text]")) place.textContent = text;
      row.querySelector(".label-mark").setAttribute("class", `label-mark label-${index + 1}`);
      row.querySelector("kbd").textContent = index + 1;
      this.#bind(row);
      return row;
    });
    this.list.replaceChildren(...rows);
  }

  #bind(row) {
    const ref = row.dataset.attribute;
    this.#rows.set(ref, row);
    const error = row.querySelector("[data-error]");
    error.id = `error-${ref}`;
    row.querySelector("input").addEventListener("change", () => this.toggle(ref));
    row.querySelector("[data-draw]").addEventListener("click", () => {
      this.activate(ref);
      row.querySelector("[data-add]").focus(); // the pressed button no longer exists
    });
    row.querySelector("[data-add]").addEventListener("click", () => this.editor.addInTheMiddle(ref));
  }

  toggle(ref) {
    const ticking = !this.state.now.ticked.includes(ref);
    this.active = ticking ? ref : this.active === ref ? null : this.active;
    this.state.toggle(ref);
    if (ticking) this.editor.select(null);
  }

  activate(ref) {
    this.active = ref;
    const selected = this.editor.selected !== null && this.editor.box(this.editor.selected);
    if (selected && selected.attribute !== ref) this.editor.select(null);
    this.update();
    this.editor.draw();
  }

  refuse(ref, message) {
    const error = this.row(ref)?.querySelector("[data-error]");
    if (!error) return;
    error.textContent = message;
    error.hidden = !message;
    const input = this.row(ref).querySelector("input");
    if (message) input.setAttribute("aria-describedby", error.id);
    else input.removeAttribute("aria-describedby");
  }

  update() {
    const { ticked, boxes } = this.state.now;
    if (!ticked.includes(this.active)) this.active = ticked.at(-1) ?? null;
    for (const [ref, row] of this.#rows) {
      const own = boxes.filter((box) => box.attribute === ref);
      const isTicked = ticked.includes(ref);
      row.classList.toggle("active", ref === this.active);
      row.querySelector("input").checked = isTicked;
      row.querySelector("[data-tools]").hidden = !isTicked;
      row.querySelector("[data-count]").textContent = own.length ? ngettext("%(count)s box", "%(count)s boxes", own.length) : gettext("No box yet");
      if (own.length || !isTicked) this.refuse(ref, "");
    }
    this.#listBoxes();
  }

  // In one place below all rows: a list in each row would move the following rows.
  #listBoxes() {
    const all = this.state.now.boxes;
    const own = all.filter((box) => box.attribute === this.active);
    listPlaces(this.boxes, own.map(({ id }) => id), {
      numberOf: (id) => all.findIndex((box) => box.id === id) + 1,
      selected: this.editor.selected,
      words: BOXES,
      choose: (id) => this.editor.select(id, { focus: true }),
      remove: (id) => {
        const next = this.editor.delete(id);
        (this.boxes.querySelector(`[data-id="${next}"] [data-delete]`) ?? this.row(this.active).querySelector("[data-add]")).focus();
      },
    });
  }
}
