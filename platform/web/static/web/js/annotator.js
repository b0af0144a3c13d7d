// Binds the few behaviours that annotators' pages use: each further file would keep the first picture waiting.
//
//   <script type="module" src="/static/web/js/annotator.js"></script>

import * as copyButton from "./copy-button.js";
import * as showWhen from "./show-when.js";
import * as submitOnce from "./submit-once.js";

for (const behaviour of [copyButton, showWhen, submitOnce]) {
  for (const element of document.querySelectorAll(behaviour.selector)) behaviour.bind(element);
}
