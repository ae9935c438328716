// What solvers achieved: of the plans made in each stretch of time, which share was proven the best, found, or not found.

import { moment } from "../calendar.js";
import { make } from "../dom.js";
import { LEFT, RIGHT, density, key, spot } from "../look.js";
import { Means } from "../curves/sums.js";
import { addUp } from "../numbers.js";
import { number } from "../words.js";

const HEIGHT = 34;
/** Least width of a stretch, px: a single plan has to be seen. */
const WIDTH_OF_STRETCH = 3;
/** Columns of data that count plans, from top to bottom, with colours that colour-blind readers tell apart, and names. */
const STATUSES = [
  ["plan_none", "#c8501e", "none found"],
  ["plan_found", "#e8b33d", "found"],
  ["plan_proven", "#2a66a8", "proven the best"],
];

export function statusCharts(explorer) {
  return explorer.shown.filter((run) => run.columns.plan_at).map((run) => new StatusChart(explorer, run));
}

class StatusChart {
  constructor(explorer, run) {
    Object.assign(this, { explorer, run, title: `Plans of ${run.label}`, folded: "plans" });
    const { columns } = run;
    const at = addUp(Float64Array.from(columns.plan_at));
    const all = columns.plan_proven.map((many, place) => many + columns.plan_found[place] + columns.plan_none[place]);
    this.shares = STATUSES.map(([name]) => new Means(at, columns[name], all));
    this.canvas = make("canvas", "", { role: "img", "aria-label": `${this.title} over time: ${this.#told(all)}` });
    this.canvas.style.marginLeft = `${LEFT}px`;
    const names = STATUSES.map(([, colour, name]) => make("span", [spot(colour), `${name} `]));
    this.caption = make("figcaption", [key(run), make("strong", this.title), ": ", ...names]);
    this.figure = make("figure", [this.caption, this.canvas]);
    this.canvas.addEventListener("pointermove", (event) => this.#read(event));
    this.canvas.addEventListener("pointerleave", () => (this.caption.dataset.value = ""));
  }

  resize(width) {
    this.wide = width - LEFT - RIGHT;
    this.canvas.width = Math.round(this.wide * density());
    this.canvas.height = Math.round(HEIGHT * density());
    Object.assign(this.canvas.style, { display: "block", width: `${this.wide}px`, height: `${HEIGHT}px` });
  }

  paint(from, to) {
    const { width, height } = this.canvas;
    const context = this.canvas.getContext("2d");
    context.clearRect(0, 0, width, height);
    const stretches = Math.max(1, Math.floor(this.wide / WIDTH_OF_STRETCH)), wide = width / stretches;
    this.seen = this.shares.map((shares) => shares.means(from, to, stretches));
    for (let stretch = 0; stretch < stretches; stretch++) {
      let top = 0;
      STATUSES.forEach(([, colour], status) => {
        const high = (this.seen[status][stretch] ?? 0) * height;
        context.fillStyle = colour;
        context.fillRect(Math.floor(stretch * wide), top, Math.ceil(wide), high);
        top += high;
      });
    }
  }

  picture() {
    return { canvas: this.canvas, left: LEFT };
  }

  destroy() {}

  #told(all) {
    const sum = (values) => values.reduce((total, one) => total + one, 0);
    return `${STATUSES.map(([column, , name]) => `${number(sum(this.run.columns[column]))} ${name}`).join(", ")}, of ${number(sum(all))}`;
  }

  #read(event) {
    const { view } = this.explorer;
    const box = this.canvas.getBoundingClientRect();
    const share = (event.clientX - box.left) / box.width;
    const stretch = Math.min(Math.max(Math.floor(share * this.seen[0].length), 0), this.seen[0].length - 1);
    const said = STATUSES.map(([, , name], status) => [this.seen[status][stretch], name]).filter(([part]) => part);
    const words = said.map(([part, name]) => `${Math.round(100 * part)}\u00a0% ${name}`).join(", ") || "no plan";
    this.caption.dataset.value = `${moment(view.seconds(view.from + share * (view.to - view.from)), view.span)}: ${words}`;
  }
}
