// A copy of an element with {ref} and {name} of a stimulus filled in.
//
//   <template><div data-part="{ref}" id="asked-quality-{ref}"><p data-name>{name}</p></div></template>
//   filledCopy(template.content.firstElementChild, { ref: "s1", name: "Picture 1" })

const FILLED = ["id", "name", "for", "alt", "data-part", "data-row", "data-stimulus", "aria-labelledby", "aria-describedby"];

export function filledCopy(blank, { ref, name }) {
  const copy = blank.cloneNode(true);
  for (const element of [copy, ...copy.querySelectorAll("*")]) {
    for (const attribute of FILLED) {
      const value = element.getAttribute(attribute);
      if (value) element.setAttribute(attribute, value.replaceAll("{ref}", ref).replaceAll("{name}", name));
    }
    if ("name" in element.dataset) element.textContent = name;
  }
  return copy;
}
