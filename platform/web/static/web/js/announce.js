// Says something to people who listen to the page instead of looking at it. The region is in every base template:
//
//   <div id="announcer" class="visually-hidden" role="status"></div>

export function announce(text) {
  const region = document.getElementById("announcer");
  if (!region) return;
  region.textContent = "";
  // Emptied first, so that the same sentence twice in a row is said twice.
  window.setTimeout(() => { region.textContent = text; }, 50);
}
