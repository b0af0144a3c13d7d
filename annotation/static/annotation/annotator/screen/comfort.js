// Settings that make the work less stressful: blurred pictures and a reminder to take a break. Both are remembered on this device.
//
//   <input type="checkbox" data-setting data-blur-on> · <select data-break-after><option value="30">…</select>
//   <div id="break-reminder" hidden> … <button type="submit" form="leave"> <button type="button" data-not-now> </div>
//
// Blurring is remembered in a cookie, so that pictures are blurred before any script runs.

const BLUR = "stereoscope_blur";
const YEAR = 31_536_000; // seconds
const BREAK_AFTER = "annotate:break-after";
const WORKED = "annotate:worked";
const LOOK_EVERY = 5_000;

export class Blur {
  constructor(form) {
    this.form = form;
    this.setting = form.querySelector("[data-blur-on]");
    this.setting.addEventListener("change", () => this.#choose(this.setting.checked));
    form.addEventListener("change", (event) => {
      if (event.target.matches("[data-reveal]")) this.#goOn();
    });
  }

  get hides() {
    return this.#hidden.length > 0;
  }

  hidesIn(frame) {
    return this.#hidden.some((reveal) => frame.contains(reveal));
  }

  // Shows hidden pictures, or hides visible ones. Blurring that is switched on here lasts while the browser is open.
  toggle() {
    if (this.hides) {
      for (const reveal of this.#hidden) reveal.checked = true;
      return this.#goOn();
    }
    if (!this.setting.checked) remember(true);
    this.setting.checked = true;
    this.#hide();
  }

  // The pictures of the next task.
  next() {
    this.#hide();
  }

  get #reveals() {
    return [...this.form.querySelectorAll("[data-reveal]")];
  }

  get #hidden() {
    return this.setting.checked ? this.#reveals.filter((reveal) => !reveal.checked) : [];
  }

  // The pressed button no longer exists: the focus moves to the next hidden picture, or to the question.
  #goOn() {
    (this.#hidden[0] ?? this.form.querySelector("[data-question]")).focus({ preventScroll: true });
  }

  #hide() {
    for (const reveal of this.#reveals) reveal.checked = false;
    for (const frame of this.form.querySelectorAll("[data-frame]")) frame.classList.toggle("blurred", this.setting.checked);
  }

  #choose(on) {
    this.#hide();
    remember(on, { seconds: on ? YEAR : 0 });
  }
}

function remember(on, { seconds = null } = {}) {
  document.cookie = `${BLUR}=${on ? 1 : ""}; path=/; samesite=lax${seconds === null ? "" : `; max-age=${seconds}`}`;
}

export class BreakReminder {
  constructor(time, { say, leave }) {
    this.time = time;
    this.say = say;
    this.notice = document.getElementById("break-reminder");
    this.choice = document.querySelector("[data-break-after]");
    this.choice.value = read("localStorage", BREAK_AFTER) ?? this.choice.value;
    this.choice.addEventListener("change", () => {
      keep("localStorage", BREAK_AFTER, this.choice.value);
      this.#look();
    });
    this.notice.querySelector("[data-not-now]").addEventListener("click", () => this.#again());
    leave?.addEventListener("submit", () => this.#again());
    window.setInterval(() => this.#look(), LOOK_EVERY);
  }

  // The working time of a finished task.
  add(seconds) {
    keep("sessionStorage", WORKED, String(this.#before + seconds));
  }

  get #before() {
    return Number(read("sessionStorage", WORKED) ?? 0);
  }

  #look() {
    const minutes = Number(this.choice.value);
    const due = minutes > 0 && this.#before + this.time.seconds >= minutes * 60;
    if (due && this.notice.hidden) this.say(this.notice.querySelector("p").textContent);
    this.notice.hidden = !due;
  }

  #again() {
    keep("sessionStorage", WORKED, String(-this.time.seconds)); // the time spent on this task so far no longer counts
    this.notice.hidden = true;
  }
}

// `storage` is a name: if storage is switched off, accessing the object itself fails.
function read(storage, key) {
  try {
    return window[storage].getItem(key);
  } catch {
    return null;
  }
}

function keep(storage, key, value) {
  try {
    window[storage].setItem(key, value);
  } catch {
    // Storage is switched off: the setting lasts until the page is left.
  }
}
