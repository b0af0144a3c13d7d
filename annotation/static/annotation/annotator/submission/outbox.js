// Sends to the API until there is an answer: a lost connection or a server restart only causes a delay.
//
//   const outcome = await send(url, body, {waiting: (seconds) => …});
//   outcome: {ok: true, data} or {ok: false, status, error: {code, message, fields}}

const WAITS = [1, 2, 4, 8, 15];

export async function send(url, body, { waiting }) {
  for (let attempt = 0; ; attempt += 1) {
    const outcome = await once(url, body);
    if (outcome) return outcome;
    const seconds = WAITS[Math.min(attempt, WAITS.length - 1)];
    waiting(seconds);
    await pause(seconds);
  }
}

export function isSignedOut({ status, error }) {
  return status === 401 || (status === 403 && error?.code === "not_authenticated");
}

// Null if the server did not answer. A login page of a hotel's network (200, but not from us) is not an answer either.
async function once(url, body) {
  try {
    const response = await fetch(url, {
      method: "POST",
      credentials: "same-origin",
      redirect: "error",
      headers: { "Content-Type": "application/json", "X-CSRFToken": csrfToken() },
      body: JSON.stringify(body),
    });
    if (response.status >= 500 || response.status === 429) return null;
    const data = response.status === 204 ? {} : await response.json();
    if (response.ok) return { ok: true, data };
    return { ok: false, status: response.status, error: data.error ?? { code: "", message: "", fields: {} } };
  } catch {
    return null; // nothing came back, or no JSON
  }
}

// Read from the cookie instead of the page: signing in again, even in another tab, replaces it.
function csrfToken() {
  const cookie = document.cookie.match(/(?:^|; )stereoscope_csrf=([^;]+)/)?.[1];
  return cookie ?? document.querySelector("[name=csrfmiddlewaretoken]")?.value ?? "";
}

// Waits, or stops waiting when the network is back.
function pause(seconds) {
  return new Promise((resolve) => {
    const go = () => {
      window.clearTimeout(timer);
      window.removeEventListener("online", go);
      resolve();
    };
    const timer = window.setTimeout(go, seconds * 1000);
    window.addEventListener("online", go);
  });
}
