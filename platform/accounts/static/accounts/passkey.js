// Asks the device for a passkey when a form is sent, and sends the answer of the device. The form is hidden without this module.
//
//   <form method="post" data-passkey="get" data-options='{"publicKey": {…}}' data-refused="…" data-known="…" data-failed="…" hidden>
//     <input type="hidden" name="credential">
//     <button class="button" data-busy="…">Use a passkey</button>
//     <p data-passkey-problem role="alert"></p>
//   </form>
//   <p data-passkey-missing hidden>This browser cannot use passkeys here.</p>
//
// `data-passkey` is "get", or "create" for a new passkey. `data-options-from` names an address that gives the options instead.

for (const form of document.querySelectorAll("form[data-passkey]")) {
  if (window.PublicKeyCredential) bind(form);
  else document.querySelector("[data-passkey-missing]")?.removeAttribute("hidden");
}

function bind(form) {
  const button = form.querySelector("button");
  const words = button.textContent;
  let isBusy = false;
  form.hidden = false;

  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    if (isBusy) return;
    say(form, "");
    isBusy = setBusy(button, button.dataset.busy);
    try {
      const answer = await ask(form);
      form.elements.credential.value = JSON.stringify(answer);
      form.submit(); // without another submit event
    } catch (error) {
      say(form, problem(form, error));
      isBusy = setBusy(button, null, words);
    }
  });

  // The back button restores the page in its previous state: busy.
  window.addEventListener("pageshow", () => {
    isBusy = setBusy(button, null, words);
  });
}

function setBusy(button, busyWords, words) {
  if (busyWords) button.setAttribute("aria-busy", "true");
  else button.removeAttribute("aria-busy");
  button.textContent = busyWords ?? words;
  return Boolean(busyWords);
}

function say(form, sentence) {
  form.querySelector("[data-passkey-problem]").textContent = sentence;
}

function problem(form, error) {
  if (error.name === "NotAllowedError" || error.name === "AbortError") return form.dataset.refused;
  if (error.name === "InvalidStateError") return form.dataset.known;
  return form.dataset.failed;
}

async function ask(form) {
  const { publicKey } = form.dataset.options ? JSON.parse(form.dataset.options) : await options(form.dataset.optionsFrom);
  if (form.dataset.passkey === "create") return created(await navigator.credentials.create({ publicKey: withBytes(publicKey) }));
  return used(await navigator.credentials.get({ publicKey: withBytes(publicKey) }));
}

async function options(address) {
  const answer = await fetch(address, { headers: { Accept: "application/json" }, credentials: "same-origin" });
  if (!answer.ok) throw new Error(`HTTP ${answer.status}`);
  return (await answer.json()).request_options;
}

// Bytes are sent as base64url; only the newest browsers can parse such options themselves.
function withBytes(given) {
  const read = { ...given, challenge: bytes(given.challenge) };
  if (given.user) read.user = { ...given.user, id: bytes(given.user.id) };
  for (const list of ["allowCredentials", "excludeCredentials"]) {
    if (given[list]) read[list] = given[list].map((key) => ({ ...key, id: bytes(key.id) }));
  }
  return read;
}

function created(credential) {
  const { response } = credential;
  return {
    ...named(credential),
    response: {
      clientDataJSON: text(response.clientDataJSON),
      attestationObject: text(response.attestationObject),
      transports: response.getTransports?.() ?? [],
    },
  };
}

function used(credential) {
  const { response } = credential;
  return {
    ...named(credential),
    response: {
      clientDataJSON: text(response.clientDataJSON),
      authenticatorData: text(response.authenticatorData),
      signature: text(response.signature),
      userHandle: response.userHandle ? text(response.userHandle) : undefined,
    },
  };
}

function named(credential) {
  return {
    id: credential.id,
    rawId: text(credential.rawId),
    type: credential.type,
    clientExtensionResults: credential.getClientExtensionResults(),
  };
}

function bytes(words) {
  return Uint8Array.from(atob(words.replaceAll("-", "+").replaceAll("_", "/")), (letter) => letter.charCodeAt(0));
}

function text(buffer) {
  const letters = Array.from(new Uint8Array(buffer), (byte) => String.fromCharCode(byte)).join("");
  return btoa(letters).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}
