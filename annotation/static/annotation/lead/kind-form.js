// Keeps the form of a kind, its errors and its preview up to date while it is edited.
//
//   <form data-kind-form> … <div data-live="measures">…</div> <button name="action" value="add questions scale">…</form>
//   <div role="status" data-live="status">…</div> <div data-screen><iframe srcdoc="…"></iframe></div>
//
// The server returns the whole page for the current form; this module takes from it the parts that depend on what was
// typed. Without it, each button does the same with a reload.

import { announce } from "../../web/js/announce.js";

const WAIT = 500;
const OWN = ["save", "screen"]; // buttons that the browser sends itself
const form = document.querySelector("[data-kind-form]");
let timer = 0;
let running = null;
let shown = document.querySelector("[data-screen] iframe")?.getAttribute("srcdoc") ?? "";

async function ask(submitter) {
  window.clearTimeout(timer);
  running?.abort();
  running = new AbortController();
  const sent = new FormData(form, submitter);
  if (!submitter) sent.set("action", "check");
  const answer = await fetch(window.location.href, { method: "POST", body: sent, signal: running.signal, credentials: "same-origin" });
  if (!answer.ok) throw new Error(`HTTP ${answer.status}`);
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  if (!page.querySelector("[data-kind-form]")) throw new Error("signed out");
  return page;
}

function sayFailed(error) {
  // A newer request replaced the aborted one.
  if (error.name === "AbortError") return;
  const status = document.querySelector('[data-live="status"]');
  const sentence = document.createElement("p");
  sentence.className = "error-text";
  sentence.textContent = error.message === "signed out"
    ? "You are signed out. Save the kind: you are asked to sign in, and nothing is lost."
    : "The preview is not up to date: the server did not answer. What you typed is still in the form.";
  status.replaceChildren(sentence);
}

// Replaces the parts that depend on other fields. Nobody types in these parts, and the focus does not move.
function refresh(page) {
  for (const fresh of page.querySelectorAll("[data-live]")) {
    const old = document.querySelector(`[data-live="${CSS.escape(fresh.dataset.live)}"]`);
    if (!old || old.innerHTML === fresh.innerHTML) continue;
    const focused = old.contains(document.activeElement) ? document.activeElement.id : "";
    const open = Boolean(old.querySelector("details[open]"));
    old.replaceChildren(...fresh.childNodes);
    if (open) for (const details of old.querySelectorAll("details")) details.open = true;
    if (focused) document.getElementById(focused)?.focus({ preventScroll: true });
  }
  for (const fresh of page.querySelectorAll("[data-kind-form] .field")) mark(fresh);
  showScreen(page);
}

// Shows or removes the error of a field.
function mark(fresh) {
  const control = fresh.querySelector("input, select, textarea");
  const old = control?.id ? document.getElementById(control.id) : null;
  const field = old?.closest(".field");
  if (!field) return;
  field.querySelector(":scope > [id$='_error']")?.remove();
  const error = fresh.querySelector(":scope > [id$='_error']");
  if (error) field.append(error);
  for (const name of ["aria-invalid", "aria-describedby"]) {
    for (const [from, to] of [[control, old], [fresh, field]]) {
      if (from.hasAttribute(name)) to.setAttribute(name, from.getAttribute(name));
      else to.removeAttribute(name);
    }
  }
}

// A new frame replaces the old one when it is drawn, so that nothing flickers and the history does not change.
function showScreen(page) {
  const place = document.querySelector("[data-screen]");
  const fresh = page.querySelector("[data-screen] iframe");
  const source = fresh?.getAttribute("srcdoc") ?? "";
  if (source === shown) return;
  shown = source;
  if (!fresh) return place.replaceChildren();
  const before = place.querySelector("iframe:not([data-loading])");
  for (const loading of place.querySelectorAll("[data-loading]")) loading.remove();
  const frame = document.importNode(fresh, true);
  frame.dataset.loading = "";
  frame.addEventListener("load", () => {
    frame.contentWindow.scrollTo(0, before?.contentWindow?.scrollY ?? 0);
    delete frame.dataset.loading;
    before?.remove();
  });
  place.append(frame);
}

// The preview is updated automatically.
function hideUpdate() {
  for (const button of document.querySelectorAll("[data-update]")) button.hidden = true;
}

async function update() {
  try {
    refresh(await ask());
  } catch (error) {
    sayFailed(error);
  }
}

async function change(button) {
  try {
    const page = await ask(button);
    const fresh = page.querySelector("[data-kind-form]");
    const focus = fresh.querySelector("[autofocus]")?.closest("[id]")?.id;
    form.replaceChildren(...fresh.childNodes);
    hideUpdate();
    refresh(page);
    const leads = form.querySelector("[autofocus]");
    const target = leads?.matches(".kind-row") ? leads.querySelector("input, select, textarea") : leads;
    (target ?? document.getElementById(focus ?? ""))?.focus();
    announce(page.querySelector("[data-said]").textContent);
    form.dispatchEvent(new Event("input"));
  } catch (error) {
    sayFailed(error);
  }
}

form.addEventListener("input", (event) => {
  running?.abort();
  window.clearTimeout(timer);
  if (event.target !== form) timer = window.setTimeout(update, WAIT);
});
document.getElementById("id_preview_language").addEventListener("change", update);
form.addEventListener("submit", (event) => {
  const action = event.submitter?.value ?? "check";
  if (action === "screen") window.setTimeout(() => form.dispatchEvent(new Event("input")));
  if (OWN.includes(action)) return;
  event.preventDefault();
  if (action === "check") update();
  else change(event.submitter);
});
hideUpdate();
