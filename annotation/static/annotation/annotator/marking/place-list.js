// Boxes or points as buttons: one chooses it, one deletes it.
//
//   listPlaces(ul, [3, 7], { numberOf: (id) => 1, selected: 3, words: BOXES, choose: (id) => …, remove: (id) => … });

import { gettext } from "../words.js";

export const BOXES = {
  name: (number) => gettext("Box %(number)s", { number }),
  remove: (number) => gettext("Delete box %(number)s", { number }),
};
export const POINTS = {
  name: (number) => gettext("Point %(number)s", { number }),
  remove: (number) => gettext("Delete point %(number)s", { number }),
};

export function listPlaces(list, ids, { numberOf, selected, words, choose, remove }) {
  const listed = [...list.children].map((item) => Number(item.dataset.id));
  if (listed.join() !== ids.join()) list.replaceChildren(...ids.map((id) => placeItem(id, choose, remove)));
  for (const item of list.children) {
    const id = Number(item.dataset.id);
    const number = numberOf(id);
    item.querySelector("[data-choose]").textContent = words.name(number);
    item.querySelector("[data-choose]").setAttribute("aria-pressed", id === selected);
    item.querySelector("[data-delete]").setAttribute("aria-label", words.remove(number));
  }
}

function placeItem(id, choose, remove) {
  const item = document.createElement("li");
  item.dataset.id = id;
  item.append(button("", "choose", () => choose(id)), button(gettext("Delete"), "delete", () => remove(id)));
  return item;
}

function button(words, name, does) {
  const made = document.createElement("button");
  made.type = "button";
  made.className = "button quiet";
  made.textContent = words;
  made.dataset[name] = "";
  made.addEventListener("click", does);
  return made;
}
