// The annotator's progress: tasks done and left, the estimated time at their own pace, and the pay so far if the campaign has a rate.
//
//   <span id="progress"></span> <span id="pay"></span>
//
//   const line = new ProgressLine(payload.progress); line.worked(12.5); line.show({ done: 4, left: 17 });
//
// `progress.pay`: {amount, rate: "12.00", currency: "EUR", per: "hour" | "task"}. The server computes it for each requested task; what is
// submitted from this page is added here until it does so again.
// `progress.place`: {before, reward: "4.10", currency: "GBP"} for somebody from a panel, who is paid for a place: “12 of 40 · £4.10”.

import { amount, gettext } from "../words.js";

export class ProgressLine {
  #paces = []; // seconds of work on each task submitted from this page
  #pay = null;
  #earned = 0;

  #panelPlace = null;

  constructor({ pay, place }) {
    this.place = document.getElementById("progress");
    this.#panelPlace = place ?? null;
    this.#summedUp(pay);
  }

  worked(seconds) {
    this.#paces.push(seconds);
    if (!this.#pay) return;
    this.#earned += Number(this.#pay.rate) * (this.#pay.per === "task" ? 1 : seconds / 3600);
    this.#showPay();
  }

  show({ done, left, pay }) {
    this.#summedUp(pay);
    this.place.textContent = this.#standing(done, left) + this.#timeLeft(left);
  }

  #standing(done, left) {
    if (!this.#panelPlace) return gettext("%(done)s done, %(left)s left", { done: amount(done), left: amount(left) });
    const { before, reward, currency } = this.#panelPlace;
    const answered = Math.max(0, done - before);
    return gettext("%(done)s of %(total)s · %(reward)s", {
      done: amount(answered),
      total: amount(answered + left),
      reward: this.#money(currency).format(Number(reward)),
    });
  }

  // From the annotator's own pace, if it is known: a median, so that one long pause has little effect.
  #timeLeft(left) {
    if (this.#paces.length < 3 || !left) return "";
    const median = this.#paces.toSorted((a, b) => a - b)[Math.floor(this.#paces.length / 2)];
    return gettext(", about %(minutes)s min", { minutes: amount(Math.max(1, Math.round((median * left) / 60))) });
  }

  #summedUp(pay) {
    if (!pay || this.#panelPlace) return;
    this.#pay = pay;
    this.#earned = Number(pay.amount);
    this.#showPay();
  }

  #showPay() {
    const money = this.#money(this.#pay.currency);
    document.getElementById("pay").textContent = gettext("%(money)s so far", { money: money.format(this.#earned) });
  }

  #money(currency) {
    return new Intl.NumberFormat(document.documentElement.lang || "en", { style: "currency", currency });
  }
}
