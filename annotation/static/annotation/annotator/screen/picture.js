// A picture in its frame: whether it has loaded, and the message if it has not.
//
//   <div data-frame><img data-image> … <div data-image-failed hidden> <button data-image-retry></button> </div></div>
//
//   const picture = new Picture(frame); picture.seen; picture.whenSeen(() => …); picture.show({url, width, height});

export class Picture {
  constructor(frame) {
    this.image = frame.querySelector("[data-image]");
    this.failed = frame.querySelector("[data-image-failed]");
    this.image.addEventListener("error", () => (this.failed.hidden = false));
    this.image.addEventListener("load", () => (this.failed.hidden = true));
    // It may have failed before this module was loaded.
    if (this.image.currentSrc && this.image.complete && this.image.naturalWidth === 0) this.failed.hidden = false;
    frame.querySelector("[data-image-retry]").addEventListener("click", () => {
      const address = this.image.src;
      this.image.src = "";
      this.image.src = address;
    });
  }

  get seen() {
    return this.image.complete && this.image.naturalWidth > 0;
  }

  show({ url, width, height }) {
    if (this.image.getAttribute("src") !== url) Object.assign(this.image, { width, height, src: url });
  }

  // Calls back when the picture has loaded.
  whenSeen(does) {
    if (this.seen) does();
    else this.image.addEventListener("load", does, { once: true });
  }
}
