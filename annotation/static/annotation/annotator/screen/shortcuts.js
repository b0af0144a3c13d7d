// Single keys for the work. They can be switched off on a device (for dictation, or a screen reader that needs the keys).
//
//   <details data-keys-help> … <input type="checkbox" data-keys-on> </details>
//
// Digits are recognised by their position on the keyboard, so that they work on layouts that need Shift for them; so are letters on
// layouts without Latin letters. An action with nothing to do returns false, and the browser handles the key.
//
//   bindShortcuts({ "1": () => …, s: () => … }, { onEnter, onUndo, onRedo, onEscape, paused: () => sending }, switchBox)

const OFF = "annotate:keys-off";

export function bindShortcuts(keys, { onEnter, onUndo, onRedo, onEscape, paused = () => false }, switchBox) {
  switchBox.checked = !remembered();
  switchBox.addEventListener("change", () => remember(!switchBox.checked));

  document.addEventListener("keydown", (event) => {
    if (event.defaultPrevented || event.isComposing || paused()) return;
    if (event.key === "Escape") return void onEscape();
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) return void onEnter(); // also from a text field
    if (writes(event.target)) return;
    if (event.ctrlKey || event.metaKey) {
      const key = letterOf(event);
      const redo = key === "y" || (key === "z" && event.shiftKey);
      if (!redo && key !== "z") return;
      event.preventDefault();
      return redo ? onRedo() : onUndo();
    }
    if (event.altKey || event.repeat) return;
    if (event.key === "Enter") {
      if (event.target.closest("a, button, summary, select")) return;
      event.preventDefault();
      return onEnter();
    }
    const action = switchBox.checked && keys[keyOf(event, keys)];
    if (!action) return;
    if (action() !== false) event.preventDefault();
  });
}

// The typed character has priority: “=” is not a digit on layouts on which a digit's key types it.
function keyOf(event, keys) {
  const written = event.key.toLowerCase();
  if (Object.hasOwn(keys, written)) return written;
  const digit = event.code.match(/^Digit(\d)$/)?.[1];
  return digit && !event.shiftKey ? digit : letterOf(event);
}

function letterOf({ key, code }) {
  const written = key.toLowerCase();
  if (/^[a-z]$/.test(written)) return written;
  return code.match(/^Key([A-Z])$/)?.[1].toLowerCase() ?? written;
}

function writes(target) {
  return target.closest("textarea, input:not([type=checkbox], [type=radio]), [contenteditable]") !== null;
}

function remembered() {
  try {
    return localStorage.getItem(OFF) !== null;
  } catch {
    return false; // storage switched off
  }
}

function remember(off) {
  try {
    if (off) localStorage.setItem(OFF, "1");
    else localStorage.removeItem(OFF);
  } catch {
    // Storage is switched off: the setting lasts until the page is left.
  }
}
