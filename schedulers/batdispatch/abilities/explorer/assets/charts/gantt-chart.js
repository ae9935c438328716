// Hosts over time, one chart for each run in view, with drag to zoom and what a job is under the pointer.

import { timeMarks } from "../calendar.js";
import { colourNumber } from "../classes.js";
import { make } from "../dom.js";
import { hostName } from "../hosts.js";
import { LEFT, RIGHT, dark, density, ink, key } from "../look.js";
import { shape } from "../svg.js";
import { ROOM } from "./axes.js";
import { GanttImage } from "./gantt-image.js";
import { AXIS, ganttAxes, ganttVector, hostMarks } from "./gantt-vector.js";
import { momentTexts } from "./marks.js";
import { hideTip, showTip } from "./tip.js";

/** Height of each chart, px, by how many there are. */
const HEIGHTS = [300, 220, 160, 120, 96, 80, 64];
/** Jobs that the filters leave out. */
const PALE = { light: "#eceff2", dark: "#26313a" };
/** Least distance between two hosts that are named, px. */
const HOST_ROOM = 40;
/** A pointer that moves less, px, clicks. */
const STILL = 3;

export function ganttCharts(explorer) {
  const height = HEIGHTS[Math.min(explorer.shown.length, HEIGHTS.length) - 1];
  return explorer.shown.map((run) => new GanttChart(explorer, run, height));
}

class GanttChart {
  constructor(explorer, run, height) {
    Object.assign(this, { explorer, run, height, title: run.label });
    this.canvas = make("canvas", "", { role: "img", "aria-label": `Gantt chart of ${run.label}: hosts over time` });
    this.select = make("div", "", { class: "select" });
    this.gantt = new GanttImage(explorer.table, run, this.canvas);
    this.hosts = make("div", "", { class: "hosts", "aria-hidden": "true" });
    this.times = make("div", "", { class: "times", "aria-hidden": "true" });
    const box = make("div", [this.hosts, this.canvas, this.select, this.times], { class: "gantt", style: `padding-left: ${LEFT}px` });
    this.figure = make("figure", [make("figcaption", [key(run), run.label]), box]);
    this.#listen();
  }

  resize(width) {
    const wide = width - LEFT - RIGHT;
    this.canvas.width = Math.round(wide * density());
    this.canvas.height = Math.round(this.height * density());
    this.canvas.style.width = `${wide}px`;
    this.canvas.style.height = `${this.height}px`;
    this.wide = wide;
    const { table } = this.explorer;
    const marks = hostMarks(table, this.run, Math.max(1, Math.floor(this.height / HOST_ROOM)));
    this.hosts.replaceChildren(
      ...marks.map(([host, share]) => make("span", hostName(table, host), { style: `top: ${this.height * (1 - share)}px` })),
    );
  }

  paint(from, to) {
    const { colouring, chosen, job } = this.explorer;
    const paints = colouring.classes.map(([colour]) => colourNumber(colour));
    const pale = colourNumber(dark.matches ? PALE.dark : PALE.light);
    this.gantt.paint(from, to, (one) => paints[colouring.of(this.run, one)], chosen, pale);
    if (job >= 0) this.gantt.mark(job, from, to, ink("--ink"));
    const { view } = this.explorer;
    const marks = timeMarks(view.seconds(from), view.seconds(to), this.wide, ROOM), texts = momentTexts(marks, view, this.wide);
    this.times.replaceChildren(
      ...marks.map((mark, index) => {
        const left = LEFT + ((mark - view.seconds(from)) / view.span) * this.wide;
        return make("span", texts[index], { style: `left: ${left}px` });
      }),
    );
  }

  picture() {
    return { canvas: this.canvas, left: LEFT };
  }

  onPaper() {
    return true;
  }

  vector(width, height = this.height) {
    const { explorer, gantt } = this;
    // What the page paints says more of thousands of jobs than as many rectangles.
    const chart = ganttVector(explorer, gantt, width, height) ?? this.#painted(width, height);
    return { group: shape("g", {}, chart, ganttAxes(explorer, this.run, width, height)), height: height + AXIS };
  }

  destroy() {
    hideTip();
  }

  /** Return what the page paints, as an image of some width. */
  #painted(width, height) {
    return shape("image", { width, height, preserveAspectRatio: "none", href: this.canvas.toDataURL() });
  }

  /** Return where a pointer is: its time, its height from 0 (bottom) to 1, and its x in the chart, px. */
  #where(event) {
    const { view } = this.explorer;
    const box = this.canvas.getBoundingClientRect();
    const x = event.clientX - box.left;
    return { time: view.from + (x / box.width) * (view.to - view.from), height: 1 - (event.clientY - box.top) / box.height, x };
  }

  #listen() {
    const { canvas, explorer } = this;
    const { view } = explorer;
    let begin = null;
    const drags = (event, here) => begin && event.pointerType === "mouse" && Math.abs(here.x - begin.x) > STILL;
    canvas.addEventListener("pointerdown", (event) => (begin = this.#where(event)));
    canvas.addEventListener("pointermove", (event) => {
      const here = this.#where(event);
      if (drags(event, here)) this.#mark(begin.x, here.x);
      else this.#tell(here, event);
    });
    canvas.addEventListener("pointerup", (event) => {
      const here = this.#where(event);
      this.select.style.display = "none";
      if (drags(event, here)) view.show(Math.min(here.time, begin.time), Math.max(here.time, begin.time));
      else if (begin) this.#look(here);
      begin = null;
    });
    canvas.addEventListener("pointerleave", () => {
      begin = null;
      this.select.style.display = "none";
      hideTip();
    });
    canvas.addEventListener(
      "wheel",
      (event) => {
        // The wheel alone scrolls the page.
        if (!event.ctrlKey && !event.shiftKey) return;
        event.preventDefault();
        view.zoom(event.deltaY > 0 ? 1.3 : 1 / 1.3, this.#where(event).time);
      },
      { passive: false },
    );
    canvas.addEventListener("dblclick", () => view.showAll());
  }

  /** Look at the job that is there, or else at the moment. */
  #look({ time, height }) {
    const job = this.gantt.at(time, height);
    if (job < 0) this.explorer.lookAt(time);
    else this.explorer.choose(job);
  }

  /** Say beside the pointer which job is there, and which part of it. */
  #tell({ time, height }, event) {
    const { explorer, run, gantt } = this;
    const segment = gantt.segmentAt(time, height);
    showTip(explorer.table, run, segment < 0 ? -1 : run.job[segment], event, gantt.lineage?.told(segment, explorer.view));
  }

  #mark(from, to) {
    const left = LEFT + Math.min(from, to);
    Object.assign(this.select.style, { display: "block", left: `${left}px`, width: `${Math.abs(to - from)}px` });
  }
}
