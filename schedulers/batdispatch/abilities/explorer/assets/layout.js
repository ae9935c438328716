// The charts in view, from top to bottom: made when runs are chosen, painted at most once a frame.

import { CHARTS } from "./charts/all.js";
import { element, make } from "./dom.js";
import { LEFT, RIGHT, dark } from "./look.js";

/** With more runs in view, their charts stand closer together. */
const FEW = 4;

export class Layout {
  /** `kinds`: functions of the explorer that return charts, from top to bottom. */
  constructor(explorer, kinds) {
    Object.assign(this, { explorer, kinds, place: element("charts"), charts: [], width: 0, due: false });
    this.line = make("div", "", { class: "instant" });
    this.names = make("summary");
    this.rest = make("details", this.names);
    this.rest.addEventListener("toggle", () => this.rest.open !== explorer.all && explorer.showCharts(this.rest.open));
    explorer.on(["runs", "pair", "all"], () => this.lay());
    explorer.on(["instant", "frame"], () => this.mark());
    explorer.on(["view", "filter", "job", "colour"], () => this.redraw());
    dark.addEventListener("change", () => this.lay());
    new ResizeObserver(() => this.resize()).observe(this.place);
    this.lay();
  }

  lay() {
    for (const chart of this.charts) chart.destroy();
    const charts = this.kinds.flatMap((kind) => kind(this.explorer));
    const first = charts.filter((chart) => !chart.folded), last = charts.filter((chart) => chart.folded);
    this.charts = this.explorer.all ? [...first, ...last] : first;
    this.place.classList.toggle("many", this.explorer.shown.length > FEW);
    this.names.textContent = `More charts: ${[...new Set(last.map((chart) => chart.folded))].join(", ")}`;
    this.rest.open = this.explorer.all;
    this.rest.replaceChildren(this.names, ...last.map((chart) => chart.figure));
    this.place.replaceChildren(this.line, ...first.map((chart) => chart.figure), ...(last.length ? [this.rest] : []));
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

  /** Mark the moment that is looked at. */
  mark() {
    const { instant, view } = this.explorer;
    this.line.hidden = instant === null || instant < view.from || instant > view.to;
    this.line.style.left = `${LEFT + ((instant - view.from) / (view.to - view.from)) * (this.width - LEFT - RIGHT)}px`;
  }

  redraw() {
    if (this.due) return;
    this.due = true;
    requestAnimationFrame(() => {
      this.due = false;
      performance.mark("explore-begin");
      const { colouring, shown, chosen, view: { from, to } } = this.explorer;
      colouring.prepare?.(shown[0], chosen, from, to);
      for (const chart of this.charts) chart.paint(from, to);
      this.explorer.tell("frame");
      performance.measure("explore-draw", "explore-begin");
    });
  }
}
