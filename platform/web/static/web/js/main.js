// Binds every behaviour of the design system to the elements that ask for it by a data- attribute.
//
//   <script type="module" src="/static/web/js/main.js"></script>
//
// A fragment put into the page later is bound with `bindAll(fragment)`.

import * as confirmLeave from "./confirm-leave.js";
import * as copyButton from "./copy-button.js";
import * as formSection from "./form-section.js";
import * as jobLog from "./job-log.js";
import * as progressPoll from "./progress-poll.js";
import * as showWhen from "./show-when.js";
import * as sortableTable from "./sortable-table.js";
import * as submitOnce from "./submit-once.js";
import * as tableFilter from "./table-filter.js";

const behaviours = [confirmLeave, copyButton, formSection, jobLog, progressPoll, showWhen, sortableTable, submitOnce, tableFilter];
const bound = new WeakMap();

export function bindAll(root = document) {
  for (const behaviour of behaviours) {
    for (const element of root.querySelectorAll(behaviour.selector)) {
      const already = bound.get(element) ?? new Set();
      if (already.has(behaviour)) continue;
      bound.set(element, already.add(behaviour));
      behaviour.bind(element);
    }
  }
}

// A polled fragment may contain tables or buttons.
document.addEventListener("stereoscope:replaced", (event) => bindAll(event.target));

bindAll();
