// Single keys that answer: digits for the question with the focus, or the first open one; arrows and = for comparisons.
//
//   const keys = new QuestionKeys(() => askedParts(…), { asked: (name) => askedQuestion }); bindShortcuts(keys.keys, …);
//
// A control names its key: <input type="radio" data-key="4">. The browser handles keys without an action.

const CONTROLS = "input, select, textarea, [role=application]";

export class QuestionKeys {
  constructor(parts, { asked }) {
    Object.assign(this, { parts, asked });
  }

  get keys() {
    const digits = Object.fromEntries([..."0123456789"].map((digit) => [digit, () => this.#press(`[data-key="${digit}"]`)]));
    return { ...digits, arrowleft: () => this.#compare("s1"), arrowright: () => this.#compare("s2"), "=": () => this.#compare("tie") };
  }

  #compare(value) {
    const at = document.activeElement;
    if (at?.matches(CONTROLS) && !at.closest(".asked-compare")) return false; // it has its own arrow keys
    return this.#press(`.asked-compare [value="${value}"]`);
  }

  #press(selector) {
    const at = document.activeElement;
    const part = at?.closest("[data-part]") ?? this.#open(selector);
    const controls = part ? [...scopeOf(part, at).querySelectorAll("input")] : [];
    const control = controls.find((input) => input.matches(selector));
    if (!control) return false;
    control.click();
    this.#goOn(control);
    return true;
  }

  // The first unanswered part with the key, else the first part with it.
  #open(selector) {
    const fitting = this.parts()
      .map(({ question, ref, answered }) => ({ answered, part: this.asked(question.name).part(ref) }))
      .filter(({ part }) => [...part.querySelectorAll("input")].some((input) => input.matches(selector)));
    return (fitting.find(({ answered }) => !answered) ?? fitting[0])?.part;
  }

  // After an answer: continue with the next open question, skipping optional ones.
  #goOn(control) {
    const { asked: name } = control.closest("[data-asked]").dataset;
    const { part: ref } = control.closest("[data-part]").dataset;
    const parts = this.parts();
    const here = parts.findIndex((part) => part.question.name === name && part.ref === ref);
    const enough = control.type === "radio" || (control.value === "none" && control.checked);
    const next = enough && parts.slice(here).find((part) => part.question.required && !part.answered);
    if (next) this.asked(next.question.name).focus(next.ref);
    else control.focus();
  }
}

// In a ranking: the row with the focus, or the first row without a place.
function scopeOf(part, at) {
  const rows = [...part.querySelectorAll("[data-row]")];
  if (!rows.length) return part;
  return rows.find((row) => row.contains(at)) ?? rows.find((row) => !row.querySelector(":checked")) ?? rows[0];
}
