// Enlarges a picture within its frame and moves it. Boxes stay on the picture: only the layer with both grows.
//
//   <div class="image-frame" data-frame><div class="layer" data-layer><img …><svg data-overlay …></svg></div></div>
//
//   const zoom = new Zoom(frame, layer, {free: () => nothingToDrawFor, taken: () => editor.cancel()});
//   zoom.by(1.5); zoom.pan(40, 0); zoom.reset(); zoom.reveal({x, y, width, height}); zoom.addEventListener("change", …);
//
// Ctrl and wheel, two fingers: enlarge. Wheel, middle button, two fingers, or a drag with nothing to draw: move.
// The layer is laid out larger instead of transformed, so that lines and handles keep their size on the screen.

export const MOST = 8;
const FACTOR = 1.5;

const clamp = (value, low, high) => Math.min(Math.max(value, low), high);

export class Zoom extends EventTarget {
  scale = 1;
  #x = 0;
  #y = 0;
  #size = null; // of the frame, while enlarged
  #pointers = new Map();
  #moving = false;

  constructor(frame, layer, { free, taken }) {
    super();
    Object.assign(this, { frame, layer, free, taken });
    frame.addEventListener("wheel", (event) => this.#wheel(event), { passive: false });
    const listen = (type, does) => frame.addEventListener(type, (event) => does.call(this, event), { capture: true });
    listen("pointerdown", this.#down);
    listen("pointermove", this.#move);
    for (const type of ["pointerup", "pointercancel"]) listen(type, this.#up);
    let width = window.innerWidth;
    window.addEventListener("resize", () => {
      if (window.innerWidth !== width) this.reset(); // a phone's address bar changes only the height
      width = window.innerWidth;
    });
  }

  in() { this.by(FACTOR); }
  out() { this.by(1 / FACTOR); }

  // Zooms around the point (x, y) of the frame, by default its middle.
  by(factor, x, y) {
    const size = this.#size ?? this.frame.getBoundingClientRect();
    const [atX, atY] = [x ?? size.width / 2, y ?? size.height / 2];
    const scale = clamp(this.scale * factor, 1, MOST);
    const grown = scale / this.scale;
    this.#size ??= { width: size.width, height: size.height };
    this.scale = scale;
    this.#place(atX - (atX - this.#x) * grown, atY - (atY - this.#y) * grown);
  }

  // Returns whether the picture moved.
  pan(dx, dy) {
    if (this.scale === 1) return false;
    const [x, y] = [this.#x, this.#y];
    this.#place(x + dx, y + dy);
    return x !== this.#x || y !== this.#y;
  }

  reset() {
    if (this.scale === 1 && !this.#size) return;
    this.scale = 1;
    this.#place(0, 0);
  }

  // Brings a part of the layer, given by its position on the screen, into the frame.
  reveal(part) {
    if (this.scale === 1) return;
    const seen = this.frame.getBoundingClientRect();
    const outside = part.right <= seen.left || part.left >= seen.right || part.bottom <= seen.top || part.top >= seen.bottom;
    if (!outside) return;
    this.pan((seen.left + seen.right - part.left - part.right) / 2, (seen.top + seen.bottom - part.top - part.bottom) / 2);
  }

  #place(x, y) {
    const { width, height } = this.#size;
    const enlarged = this.scale > 1;
    this.#x = clamp(x, width - width * this.scale, 0);
    this.#y = clamp(y, height - height * this.scale, 0);
    this.frame.classList.toggle("enlarged", enlarged);
    this.frame.style.blockSize = enlarged ? `${height}px` : "";
    this.layer.style.inlineSize = enlarged ? `${width * this.scale}px` : "";
    this.layer.style.blockSize = enlarged ? `${height * this.scale}px` : "";
    this.layer.style.transform = enlarged ? `translate(${this.#x}px, ${this.#y}px)` : "";
    if (!enlarged) this.#size = null;
    this.dispatchEvent(new Event("change"));
  }

  #wheel(event) {
    const frame = this.frame.getBoundingClientRect();
    if (event.ctrlKey || event.metaKey) {
      event.preventDefault(); // the picture grows, not the page
      this.by(Math.exp(-event.deltaY * 0.004), event.clientX - frame.left, event.clientY - frame.top);
    } else if (this.pan(-event.deltaX, -event.deltaY)) {
      event.preventDefault(); // at the picture's edge, the page scrolls
    }
  }

  #down(event) {
    this.#pointers.set(event.pointerId, { x: event.clientX, y: event.clientY });
    const pinches = event.pointerType === "touch" && this.#pointers.size === 2;
    const pans = this.scale > 1 && (event.button === 1 || (event.button === 0 && this.free()));
    if (!pinches && !pans) return;
    if (event.target.closest("button, label, a")) return;
    if (!this.#moving) this.taken();
    this.#moving = true;
    event.preventDefault();
    event.stopPropagation();
    this.layer.setPointerCapture(event.pointerId);
  }

  #move(event) {
    const before = this.#pointers.get(event.pointerId);
    if (!before) return;
    const now = { x: event.clientX, y: event.clientY };
    if (this.#moving) {
      event.stopPropagation();
      const other = [...this.#pointers].find(([id]) => id !== event.pointerId)?.[1];
      if (other) this.#pinch(before, now, other);
      else this.pan(now.x - before.x, now.y - before.y);
    }
    this.#pointers.set(event.pointerId, now);
  }

  #pinch(before, now, other) {
    const apart = (one) => Math.max(Math.hypot(one.x - other.x, one.y - other.y), 1);
    const frame = this.frame.getBoundingClientRect();
    this.pan((now.x - before.x) / 2, (now.y - before.y) / 2);
    this.by(apart(now) / apart(before), (now.x + other.x) / 2 - frame.left, (now.y + other.y) / 2 - frame.top);
  }

  #up(event) {
    this.#pointers.delete(event.pointerId);
    if (!this.#moving) return;
    event.stopPropagation();
    this.#moving = this.#pointers.size > 0; // the remaining finger draws nothing
  }
}
