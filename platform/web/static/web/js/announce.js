// Announces a text to people who use a screen reader. The region is in every base template:
//
//   <div id="announcer" class="visually-hidden" role="status"></div>

export function announce(text) {
  const region = document.getElementById("announcer");
  if (!region) return;
  region.textContent = "";
  // Emptied first, so that the same sentence is announced again.
  window.setTimeout(() => { region.textContent = text; }, 50);
}
