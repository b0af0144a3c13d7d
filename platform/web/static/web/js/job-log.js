// Adds new lines to a log that is shown newest first, from the answers of a poll on the same page.
//
//   <div id="live" data-poll="/jobs/12/progress/">…</div>
//   <div role="log"><ol data-log="live" data-log-newest="41"><li><time datetime="…">12:03:11</time> <span>Reading</span></li></ol></div>
//
// Requests ask for lines after the newest; the answer has "lines": [{"id", "at", "time", "text"}], newest first.

export const selector = "[data-log]";

const MOST = 100;

export function bind(list) {
  const poll = document.getElementById(list.dataset.log);
  if (!poll) return;
  const address = new URL(poll.dataset.poll, window.location.href);
  const askAfter = (id) => {
    list.dataset.logNewest = String(id);
    address.searchParams.set("after", id);
    poll.dataset.poll = address.pathname + address.search;
  };
  askAfter(list.dataset.logNewest || "0");
  poll.addEventListener("stereoscope:polled", (event) => {
    const lines = event.detail.lines ?? [];
    const fresh = lines.filter((line) => line.id > Number(list.dataset.logNewest));
    if (!fresh.length) return;
    list.prepend(...fresh.map(item));
    while (list.children.length > MOST) list.lastElementChild.remove();
    list.parentElement.querySelector("[data-log-empty]")?.remove();
    askAfter(fresh[0].id);
  });
}

function item(line) {
  const element = document.createElement("li");
  const time = document.createElement("time");
  const text = document.createElement("span");
  time.dateTime = line.at;
  time.textContent = line.time;
  text.textContent = line.text;
  element.append(time, " ", text);
  return element;
}
