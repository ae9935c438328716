// The strip above the charts: busy hosts over all time, and what of it is in view, which can be dragged.

import { element } from "./dom.js";
import { LEFT, RIGHT, density, ink } from "./look.js";

const HEIGHT = 46;
/** A pointer that moves less, px, clicks. */
const STILL = 3;

export class Strip {
  constructor(explorer) {
    this.explorer = explorer;
    this.canvas = element("strip");
    explorer.on(["frame"], () => this.paint());
    this.#listen();
  }

  paint() {
    const { explorer, canvas } = this;
    const { table, view } = explorer;
    const scale = density();
    canvas.width = Math.round(canvas.clientWidth * scale);
    canvas.height = Math.round(HEIGHT * scale);
    const { width, height } = canvas;
    const context = canvas.getContext("2d");
    const left = LEFT * scale, wide = width - (LEFT + RIGHT) * scale;
    const means = explorer.level(explorer.curve("busy"), explorer.shown[0]).means(0, table.length, Math.floor(wide));
    context.fillStyle = ink("--faint");
    means.forEach((value, index) => {
      const high = height * Math.min(1, value / explorer.shown[0].hosts);
      context.fillRect(left + index, height - high, 1, high);
    });
    const ends = [view.from, view.to].map((time) => left + (wide * time) / table.length);
    context.fillStyle = ink("--accent");
    context.globalAlpha = 0.2;
    context.fillRect(ends[0], 0, Math.max(2, ends[1] - ends[0]), height);
    context.globalAlpha = 1;
    for (const end of ends) context.fillRect(end - scale, 0, 2 * scale, height);
  }

  /** Return the time of the table where a pointer is. */
  #time(event) {
    const box = this.canvas.getBoundingClientRect();
    const share = (event.clientX - box.left - LEFT) / (box.width - LEFT - RIGHT);
    return Math.min(1, Math.max(0, share)) * this.explorer.table.length;
  }

  #goTo(time) {
    const { table, view } = this.explorer;
    if (view.to - view.from < 0.98 * table.length) return view.moveBy(time - (view.from + view.to) / 2);
    view.showUnit("day", time);
  }

  /** A click brings the view there, or of a view of all the day. A drag moves the view if it begins inside of it, and else chooses a new one. */
  #listen() {
    const { canvas } = this;
    const { table, view } = this.explorer;
    let before = null, begin = null, inside = false, moved = false;
    canvas.addEventListener("pointerdown", (event) => {
      canvas.setPointerCapture(event.pointerId);
      before = begin = this.#time(event);
      inside = begin > view.from && begin < view.to && view.to - view.from < 0.98 * table.length;
      moved = false;
    });
    canvas.addEventListener("pointermove", (event) => {
      if (begin === null) return;
      const now = this.#time(event);
      moved ||= Math.abs(now - begin) > (STILL * table.length) / canvas.clientWidth;
      if (!moved) return;
      if (inside) view.moveBy(now - before);
      else view.show(Math.min(begin, now), Math.max(begin, now));
      before = now;
    });
    canvas.addEventListener("pointerup", () => {
      if (begin !== null && !moved) this.#goTo(begin);
      begin = null;
    });
    canvas.addEventListener("pointercancel", () => (begin = null));
  }
}
