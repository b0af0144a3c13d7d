// Shows a part of a form only while a certain answer is chosen. Without this module the part is always shown.
//
//   <input type="radio" name="rating" value="3"> Unsure
//   <div data-show-when="rating=3"><label for="why">Why are you unsure?</label><textarea id="why" name="justification"></textarea></div>
//
// Several answers are separated by commas: data-show-when="rating=2,3".

export const selector = "[data-show-when]";

export function bind(part) {
  const [name, answers] = part.dataset.showWhen.split("=");
  const wanted = answers.split(",");
  const form = part.closest("form") ?? document;
  const update = () => {
    const controls = [...form.querySelectorAll(`[name="${CSS.escape(name)}"]`)];
    part.hidden = !controls.some((control) => isChosen(control) && wanted.includes(control.value));
    // Hidden fields are neither sent nor required.
    for (const control of part.querySelectorAll("input, select, textarea")) control.disabled = part.hidden;
  };
  form.addEventListener("change", update);
  update();
}

function isChosen(control) {
  return control.type === "radio" || control.type === "checkbox" ? control.checked : true;
}
