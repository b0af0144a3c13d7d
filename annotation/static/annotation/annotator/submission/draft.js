// Unfinished or unconfirmed answers, kept on the device until the server has them: closing the tab or an empty battery loses nothing.
//
//   const draft = new Draft({ who, campaign, assignment, purpose: "answer", until });
//   draft.keep({ answer, seconds, submission, sent: body | null }); draft.read(); draft.drop();
//
// An entry identifies its annotator by a keyed hash (`who`) and is useless to others. It is deleted when the server has the answer, when a
// task is skipped, at sign-out (except answers that were sent and not confirmed), and a week after the task's lease ended.

const PREFIX = "annotate:draft:";
export const WEEK = 7 * 24 * 3600 * 1000;

export class Draft {
  constructor({ who, campaign, assignment, purpose, until }) {
    Object.assign(this, { who, until, key: `${PREFIX}${campaign}:${assignment}:${purpose}` });
  }

  read() {
    const found = entry(this.key);
    return found?.who === this.who ? found : null;
  }

  // Returns whether the device keeps it: storage may be switched off or full.
  keep(content) {
    return write(this.key, { ...content, who: this.who, until: this.until });
  }

  // Tells other tabs with the same task that it is finished.
  drop() {
    write(this.key, { who: this.who, until: 0, over: true });
    remove(this.key);
  }

  // Another tab's data about this task: null, {over: true} or a draft.
  heard({ key, newValue }) {
    if (key !== this.key || !newValue) return null;
    const found = parsed(newValue);
    return found?.who === this.who ? found : null;
  }
}

// Submitted answers that the server has not confirmed.
export function unsent(who) {
  const mine = keys().map((key) => ({ key, kept: entry(key) })).filter(({ kept }) => kept?.who === who && kept.sent);
  return mine.map(({ key, kept }) => ({
    assignment: key.slice(PREFIX.length).split(":")[1],
    body: kept.sent,
    drop: () => entry(key)?.sent?.submission_id === kept.sent.submission_id && remove(key),
  }));
}

// The next person at this device finds no unfinished answers.
export function forgetBegun() {
  for (const key of keys()) if (!entry(key)?.sent) remove(key);
}

export function sweep(now = Date.now()) {
  for (const key of keys()) if (!(entry(key)?.until > now)) remove(key);
}

function keys() {
  try {
    return Object.keys(localStorage).filter((key) => key.startsWith(PREFIX));
  } catch {
    return []; // storage switched off
  }
}

function entry(key) {
  try {
    return parsed(localStorage.getItem(key));
  } catch {
    return null; // as above
  }
}

function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    return null; // other data under our key
  }
}

function write(key, value) {
  try {
    localStorage.setItem(key, JSON.stringify(value));
    return true;
  } catch {
    return false; // switched off or full: the answer is still on the screen
  }
}

function remove(key) {
  try {
    localStorage.removeItem(key);
  } catch {
    // As above.
  }
}

// Identifies a submission that is sent again.
export function newSubmissionId() {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  bytes[6] = (bytes[6] & 0x0f) | 0x40;
  bytes[8] = (bytes[8] & 0x3f) | 0x80;
  const hex = [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join("-");
}
