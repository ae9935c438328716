// The moment that maps show: set by slider, keys, buttons or a click into a chart, played, or where the pointer is for as long as it is there.

import { element } from "../dom.js";
import { LEFT, RIGHT } from "../look.js";
import { above } from "../numbers.js";

/** Steps from one end of the view to the other, and milliseconds from one to the next. */
const STEPS = 200, PACE = 120;

/** `time` is of the table. The explorer tells `moment` when it has changed, and `play` when playing begins or ends. */
export class Moment {
  constructor(explorer) {
    const { view } = explorer;
    Object.assign(this, { explorer, chosen: (view.from + view.to) / 2, pointed: null, timer: 0 });
    explorer.on(["view"], () => this.set(this.chosen));
    this.#follow(element("charts"));
  }

  get time() {
    return this.pointed ?? this.chosen;
  }

  get playing() {
    return this.timer !== 0;
  }

  /** Show a moment, or the one in view that is nearest. */
  set(time) {
    const { view } = this.explorer;
    this.chosen = Math.min(Math.max(time, view.from), view.to);
    this.explorer.tell("moment");
  }

  /** Show a moment for now; null: show the chosen one again. */
  point(time) {
    if (time === this.pointed) return;
    this.pointed = time;
    this.explorer.tell("moment");
  }

  /** Go to the nearest start or end of a job in view, after this moment (1) or before it (-1). */
  step(direction) {
    const { shown } = this.explorer;
    const near = shown.flatMap((run) => [nearest(run.order, run.start, this.chosen, direction), nearest(run.byEnd, run.end, this.chosen, direction)]);
    const there = near.filter((time) => time !== null);
    if (there.length) this.set(direction > 0 ? Math.min(...there) : Math.max(...there));
  }

  play() {
    if (this.playing) return this.stop();
    const { view } = this.explorer;
    if (this.chosen >= view.to) this.set(view.from);
    this.timer = setInterval(() => {
      this.set(this.chosen + (view.to - view.from) / STEPS);
      if (this.chosen >= view.to) this.stop();
    }, PACE);
    this.explorer.tell("play");
  }

  stop() {
    clearInterval(this.timer);
    this.timer = 0;
    this.explorer.tell("play");
  }

  /** All charts over time have the same margins, so one listener does for them all. */
  #follow(charts) {
    const time = (event) => {
      if (!event.target.closest(".gantt, .curve, .heat")) return null;
      const { view } = this.explorer;
      const box = charts.getBoundingClientRect();
      const share = (event.clientX - box.left - LEFT) / (box.width - LEFT - RIGHT);
      return share < 0 || share > 1 ? null : view.from + share * (view.to - view.from);
    };
    charts.addEventListener("pointermove", (event) => {
      if (event.pointerType === "mouse") this.point(time(event));
    });
    charts.addEventListener("pointerleave", () => this.point(null));
    charts.addEventListener("click", (event) => {
      const there = time(event);
      if (there !== null) this.set(there);
    });
  }
}

/** Return the time nearest to a moment after it (1) or before it (-1) of segments in order of their times; null: there is none. */
function nearest(order, times, moment, direction) {
  const read = (place) => times[order[place]];
  const place = direction > 0 ? above(order, moment, read) : above(order, moment - 1e-6, read) - 1;
  return place < 0 || place >= order.length ? null : read(place);
}
