// Shows below the map the text of the country under the pointer or with the keyboard focus.
//   <figure data-map><svg>… <a aria-label="Norland: …"><path><title>…</title></path></a></svg><p data-map-says>…</p></figure>
// Without this module, the title and the accessible name of a country contain the same text.
for (const map of document.querySelectorAll("[data-map]")) {
  const line = map.querySelector("[data-map-says]");
  const say = (event) => {
    const country = event.target.closest("a[aria-label]");
    if (country) line.textContent = country.getAttribute("aria-label");
  };
  map.addEventListener("pointerover", say);
  map.addEventListener("focusin", say);
}
