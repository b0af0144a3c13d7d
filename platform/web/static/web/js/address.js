// Keeps a person's choices on a page in its address, so that a reload, a bookmark and a colleague see the same.

export function readParameter(name) {
  return new URLSearchParams(window.location.search).get(name) ?? "";
}

export function writeParameter(name, value) {
  const address = new URL(window.location.href);
  if (value) address.searchParams.set(name, value);
  else address.searchParams.delete(name);
  window.history.replaceState(window.history.state, "", address);
}
