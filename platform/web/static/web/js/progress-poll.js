// Keeps progress on a page up to date.
//
//   <div data-poll="/jobs/12/progress/" data-poll-interval="2000" data-poll-reload>
//     <progress value="3" max="40" data-poll-progress></progress>
//     <span data-poll-text="progress">3 of 40</span> <span data-poll-text="message"></span>
//   </div>
//
// The address returns JSON {"state", "done", "total", "message", "finished"}; any other key fills [data-poll-text="key"], "tone" colours
// [data-poll-status], and the whole answer is passed on as the event stereoscope:polled. Or it returns HTML that replaces the changed parts of the content, and
// contains an element with data-poll-finished at the end; the keyboard focus does not move. Hidden tabs do not poll; after errors,
// which are announced, polling becomes slower.

import { announce } from "./announce.js";

export const selector = "[data-poll]";

const SLOWEST = 60_000;

export function bind(element) {
  const interval = Number(element.dataset.pollInterval) || 2000;
  let wait = interval;
  let timer = 0;
  let tenth = null;
  let finished = false;

  const ask = async () => {
    timer = 0;
    try {
      const answer = await fetch(element.dataset.poll, { headers: { Accept: "application/json, text/html" }, credentials: "same-origin" });
      if (!answer.ok) throw new Error(`HTTP ${answer.status}`);
      const isJson = (answer.headers.get("Content-Type") ?? "").includes("json");
      finished = isJson ? show(element, await answer.json()) : replace(element, await answer.text());
      wait = interval;
      element.removeAttribute("data-poll-lost");
    } catch (error) {
      // The server restarts or the network is lost: keep the content, announce the problem once, and poll more slowly.
      if (!element.hasAttribute("data-poll-lost")) announce("Progress is out of date because the server did not answer.");
      element.setAttribute("data-poll-lost", error.message);
      wait = Math.min(wait * 2, SLOWEST);
    }
    tenth = sayEachTenth(element, tenth, finished);
    if (finished && "pollReload" in element.dataset) window.location.reload();
    else schedule();
  };

  const schedule = () => {
    if (!finished && !timer && document.visibilityState === "visible" && element.isConnected) timer = window.setTimeout(ask, wait);
  };

  document.addEventListener("visibilitychange", () => {
    window.clearTimeout(timer);
    timer = 0;
    if (document.visibilityState === "visible" && !finished && element.isConnected) ask();
  });
  schedule();
}

function show(element, data) {
  const total = Number(data.total) || 0;
  const done = Number(data.done) || 0;
  const share = total ? ` (${Math.round((100 * done) / total)}\u202f%)` : "";
  const known = data.total !== null && data.total !== undefined;
  const count = done.toLocaleString("en");
  const texts = { ...data, progress: known ? `${count} of ${total.toLocaleString("en")}${share}` : `${count} done` };
  for (const part of element.querySelectorAll("[data-poll-text]")) {
    const text = texts[part.dataset.pollText];
    if (text !== undefined && text !== null && part.textContent !== String(text)) part.textContent = text;
  }
  for (const bar of element.querySelectorAll("[data-poll-progress]")) {
    bar.max = Math.max(total, 1);
    if (known) bar.value = done;
    else bar.removeAttribute("value");
  }
  for (const status of element.querySelectorAll("[data-poll-status]")) {
    status.textContent = data.state;
    status.className = `status ${data.tone}`;
  }
  element.dispatchEvent(new CustomEvent("stereoscope:polled", { detail: data }));
  return Boolean(data.finished);
}

// The server's HTML of each part, because a behaviour may have changed the part.
const said = new WeakMap();

function replace(element, html) {
  const fresh = [...new DOMParser().parseFromString(html, "text/html").body.childNodes];
  const shown = [...element.childNodes];
  const words = fresh.map(source);
  const before = said.get(element) ?? shown.map(source);
  said.set(element, words);
  const focused = element.contains(document.activeElement) ? whereIn(element, document.activeElement) : null;
  if (fresh.length !== shown.length) element.replaceChildren(...fresh);
  else shown.forEach((part, place) => before[place] === words[place] || part.replaceWith(fresh[place]));
  if (focused && !element.contains(document.activeElement)) focusAgain(element, focused);
  element.dispatchEvent(new CustomEvent("stereoscope:replaced", { bubbles: true }));
  return element.querySelector("[data-poll-finished]") !== null;
}

function source(node) {
  return node.outerHTML ?? node.textContent;
}

// The selector of the element with the focus, and its index among the matching elements.
function whereIn(element, active) {
  const form = active.closest("form[action]");
  const named = active.getAttribute("name");
  let query = active.localName;
  if (active.id) query = `#${CSS.escape(active.id)}`;
  else if (active.hasAttribute("href")) query = `a[href="${CSS.escape(active.getAttribute("href"))}"]`;
  else if (form) query = `form[action="${CSS.escape(form.getAttribute("action"))}"] ${query}${named ? `[name="${CSS.escape(named)}"]` : ""}`;
  return { query, place: [...element.querySelectorAll(query)].indexOf(active) };
}

function focusAgain(element, { query, place }) {
  const same = element.querySelectorAll(query);
  const found = same[place] ?? same[0];
  // The element with the focus no longer exists: the next Tab continues from here and not from the top of the page.
  if (!found) element.setAttribute("tabindex", "-1");
  (found ?? element).focus({ preventScroll: true });
}

function sayEachTenth(element, before, finished) {
  const bar = element.querySelector("[data-poll-progress], progress");
  const label = bar?.getAttribute("aria-label") ?? "Progress";
  if (finished) announce(`${label}: finished`);
  if (!bar) return null;
  const tenth = Math.floor((10 * bar.value) / bar.max);
  if (before !== null && tenth !== before && !finished) announce(`${label}: ${tenth * 10} %`);
  return tenth;
}
