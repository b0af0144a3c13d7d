// Texts in the reader's language. The page contains the catalogue; without one (English), the texts are not changed.
//
//   <script type="application/json" id="words">{"Saved.": "Gespeichert.", "%(count)s box": ["… Kästchen", "…"]}</script>
//
//   gettext("Box drawn for %(text)s.", {text}) · ngettext("%(count)s box", "%(count)s boxes", count)

const place = document.getElementById("words");
const catalogue = place ? JSON.parse(place.textContent) : {};

export function gettext(words, values = {}) {
  return filled(catalogue[words] ?? words, values);
}

export function ngettext(one, many, count, values = {}) {
  const [first, rest] = catalogue[one] ?? [one, many];
  return filled(count === 1 ? first : rest, { count, ...values });
}

// A number in the format of the page's language.
export function amount(number) {
  return number.toLocaleString(document.documentElement.lang || "en");
}

function filled(words, values) {
  return words.replace(/%\((\w+)\)s/g, (all, name) => values[name] ?? all);
}
