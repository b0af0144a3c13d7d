// Copies a text and confirms it. Start with the button hidden: without this module it does nothing.
//
//   <button type="button" class="button" data-copy="https://…" hidden>Copy link</button>
//   <button type="button" class="button" data-copy-from="token" hidden>Copy</button>

import { announce } from "./announce.js";

export const selector = "button[data-copy], button[data-copy-from]";

const SAID_FOR = 4000;

export function bind(button) {
  if (!navigator.clipboard) return; // plain http on another machine: the text can still be selected
  button.hidden = false;
  button.addEventListener("click", async () => {
    const source = button.dataset.copyFrom && document.getElementById(button.dataset.copyFrom);
    const text = source ? source.value ?? source.innerText.trim() : button.dataset.copy;
    let words = button.dataset.copied ?? "Copied";
    try {
      await navigator.clipboard.writeText(text);
    } catch {
      words = button.dataset.notCopied ?? "Not copied: select the text instead";
    }
    say(button, words);
    announce(words);
  });
}

function say(button, words) {
  button.parentElement.querySelector(".copy-said")?.remove();
  const said = document.createElement("span");
  said.className = "copy-said";
  said.textContent = words;
  button.after(said);
  window.setTimeout(() => said.remove(), SAID_FOR);
}
