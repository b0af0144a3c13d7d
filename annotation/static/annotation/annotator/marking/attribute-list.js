// The attributes of a marking task: ticks, which one is being drawn for, its boxes as buttons, and what is wrong with it.
//
//   <ul data-attributes> <li data-attribute="ref" data-number="1"> checkbox, [data-tools] with [data-count] [data-draw] [data-add] [data-boxes], [data-error] </li> … </ul>
//
//   const list = new AttributeList(ul, template, state, editor); list.show([{ref, text}]); list.active
//
// `active` is what was ticked, drawn for or chosen last.

import { gettext, ngettext } from "../words.js";

export class AttributeList {
  active = null;
  #rows = new Map();

  constructor(list, template, state) {
    Object.assign(this, { list, template, state });
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

  // The rows that the server wrote are used as they are; those of the next task are copied from the template.
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
      row.querySelector("[data-add]").focus(); // the button pressed has gone
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
      this.#listBoxes(row.querySelector("[data-boxes]"), own);
      if (own.length || !isTicked) this.refuse(ref, "");
    }
  }

  #listBoxes(list, boxes) {
    const known = [...list.children].map((item) => Number(item.dataset.id));
    const all = this.state.now.boxes;
    if (known.join() !== boxes.map((box) => box.id).join()) {
      list.replaceChildren(...boxes.map((box) => this.#boxItem(box)));
    }
    for (const item of list.children) {
      const id = Number(item.dataset.id);
      const number = all.findIndex((box) => box.id === id) + 1;
      item.querySelector("[data-choose]").textContent = gettext("Box %(number)s", { number });
      item.querySelector("[data-choose]").setAttribute("aria-pressed", id === this.editor.selected);
      item.querySelector("[data-delete]").setAttribute("aria-label", gettext("Delete box %(number)s", { number }));
    }
  }

  #boxItem({ id, attribute }) {
    const item = document.createElement("li");
    item.dataset.id = id;
    const choose = button("", "choose");
    choose.addEventListener("click", () => this.editor.select(id, { focus: true }));
    const remove = button(gettext("Delete"), "delete");
    remove.addEventListener("click", () => {
      const next = this.editor.delete(id);
      const row = this.row(attribute);
      (row.querySelector(`[data-id="${next}"] [data-delete]`) ?? row.querySelector("[data-add]")).focus();
    });
    item.append(choose, remove);
    return item;
  }
}

function button(words, does) {
  const made = document.createElement("button");
  made.type = "button";
  made.className = "button quiet";
  made.textContent = words;
  made.dataset[does] = "";
  return made;
}
