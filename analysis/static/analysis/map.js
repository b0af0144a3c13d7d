// Says the country under the pointer, or the one the keyboard is on, below the map.
//   <figure data-map><svg>… <a aria-label="Norland: …"><path><title>…</title></path></a></svg><p data-map-says>…</p></figure>
// Without it a country says the same as its title and its accessible name.
for (const map of document.querySelectorAll("[data-map]")) {
  const line = map.querySelector("[data-map-says]");
  const say = (event) => {
    const country = event.target.closest("a[aria-label]");
    if (country) line.textContent = country.getAttribute("aria-label");
  };
  map.addEventListener("pointerover", say);
  map.addEventListener("focusin", say);
}
