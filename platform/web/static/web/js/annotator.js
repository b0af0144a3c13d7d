// Binds the few behaviours of annotators' pages: each additional file would delay the first picture.
//
//   <script type="module" src="/static/web/js/annotator.js"></script>

import * as copyButton from "./copy-button.js";
import * as showWhen from "./show-when.js";
import * as submitOnce from "./submit-once.js";

for (const behaviour of [copyButton, showWhen, submitOnce]) {
  for (const element of document.querySelectorAll(behaviour.selector)) behaviour.bind(element);
}
