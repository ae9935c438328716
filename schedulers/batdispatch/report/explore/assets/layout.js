// The charts in view, from top to bottom: made when runs are chosen, painted at most once a frame.

import { CHARTS } from "./charts/all.js";
import { element } from "./dom.js";
import { dark } from "./look.js";

/** With more runs in view, their charts stand closer together. */
const FEW = 4;

export class Layout {
  /** `kinds`: functions of the explorer that return charts, from top to bottom. */
  constructor(explorer, kinds) {
    Object.assign(this, { explorer, kinds, place: element("charts"), charts: [], width: 0, due: false });
    explorer.on(["runs", "pair"], () => this.lay());
    explorer.on(["view", "filter", "job", "colour"], () => this.redraw());
    dark.addEventListener("change", () => this.lay());
    new ResizeObserver(() => this.resize()).observe(this.place);
    this.lay();
  }

  lay() {
    for (const chart of this.charts) chart.destroy();
    this.charts = this.kinds.flatMap((charts) => charts(this.explorer));
    this.place.classList.toggle("many", this.explorer.shown.length > FEW);
    this.place.replaceChildren(...this.charts.map((chart) => chart.figure));
    this.width = 0;
    this.resize();
  }

  resize() {
    const width = Math.floor(this.place.clientWidth);
    if (!width || width === this.width) return;
    this.width = width;
    for (const chart of this.charts) chart.resize(width);
    this.redraw();
  }

  redraw() {
    if (this.due) return;
    this.due = true;
    requestAnimationFrame(() => {
      this.due = false;
      performance.mark("explore-begin");
      const { from, to } = this.explorer.view;
      for (const chart of this.charts) chart.paint(from, to);
      this.explorer.tell("frame");
      performance.measure("explore-draw", "explore-begin");
    });
  }
}
