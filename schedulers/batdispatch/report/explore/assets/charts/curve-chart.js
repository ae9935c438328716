// A curve over time, with a line for each run in view, drawn by uPlot.

import { CURVES } from "../curves/all.js";
import { make } from "../dom.js";
import { LEFT, RIGHT, faintLine, ink, key, line } from "../look.js";
import { points, shape } from "../svg.js";
import { timeAxis, valueAxis } from "./axes.js";
import { momentTexts, roundMarks } from "./marks.js";
import { TIME_MARKS, moment } from "../words.js";

const HEIGHT = 130;
/** Height of the lines in an SVG picture, and of the axis below, px. */
const VECTOR_HEIGHT = 100, AXIS = 28;
/** Most distances between the marks of the axis of values. */
const MARKS = 4;
/** Most points of a line, and how many pixels each has at least. */
const MOST_POINTS = 1200, WIDTH_OF_POINT = 1.5;

export function curveCharts(explorer) {
  return CURVES.filter((curve) => curve.applies?.(explorer.table) ?? true).map((curve) => new CurveChart(explorer, curve));
}

export class CurveChart {
  constructor(explorer, curve) {
    Object.assign(this, { explorer, curve, title: curve.title, plot: null });
    const { shown, foremost } = explorer;
    // What is drawn last is on top.
    this.runs = [...shown.filter((run) => !foremost.includes(run)), ...foremost];
    this.box = make("div", "", { class: "curve" });
    this.caption = make("figcaption", [make("strong", curve.title), `: ${curve.about(explorer.table)}`]);
    this.peaks = curve.peaks ? foremost.map((run) => this.#peak(run)) : [];
    const peaks = this.peaks.length ? [make("div", ["Highest in view:", ...this.peaks.map(({ button }) => button)], { class: "explore-bar" })] : [];
    this.figure = make("figure", [this.caption, ...peaks, this.box]);
    this.box.addEventListener("click", () => this.#lookAt());
  }

  resize(width) {
    this.destroy();
    this.stretches = Math.max(50, Math.min(MOST_POINTS, Math.floor((width - LEFT - RIGHT) / WIDTH_OF_POINT)));
    this.plot = new uPlot(this.#options(width), [[], ...this.runs.map(() => [])], this.box);
  }

  paint(from, to) {
    const { explorer, curve, stretches } = this;
    const step = (to - from) / stretches, scale = curve.scale(explorer.table);
    const x = Array.from({ length: stretches }, (_, index) => explorer.view.seconds(from + (index + 0.5) * step));
    const values = this.runs.map((run) => {
      const means = explorer.level(curve, run)?.means(from, to, stretches) ?? x.map(() => null);
      return means.map((value) => (value === null ? null : value * scale));
    });
    this.plot.setData([x, ...values]);
    for (const peak of this.peaks) peak.update();
  }

  vector(width) {
    const { explorer, curve, plot } = this;
    const { min, max } = plot.scales.y;
    const [x, ...lines] = plot.data;
    const [from, to] = [explorer.view.seconds(explorer.view.from), explorer.view.seconds(explorer.view.to)];
    const place = (time, value) => [((time - from) / (to - from)) * width, VECTOR_HEIGHT * (1 - (value - min) / (max - min))];
    const group = shape("g", { class: "curve" });
    const marks = (curve.marks ?? roundMarks)(min, max, MARKS).map((value) => [place(0, value)[1], curve.format(value)]);
    group.append(valueAxis(marks, width, VECTOR_HEIGHT), timeAxis(explorer.view, width, VECTOR_HEIGHT));
    lines.forEach((values, index) => {
      const run = this.runs[index];
      const { stroke, dash = [] } = explorer.foremost.includes(run) ? line(run) : faintLine();
      const drawn = { fill: "none", stroke, "stroke-width": 1.2, "stroke-dasharray": dash.join(" ") || "none" };
      for (const piece of pieces(x, values, curve.sparse)) group.append(shape("polyline", { points: points(piece.map((one) => place(...one))), ...drawn }));
    });
    return { group, height: VECTOR_HEIGHT + AXIS };
  }

  picture() {
    return { canvas: this.box.querySelector("canvas"), left: 0 };
  }

  destroy() {
    this.plot?.destroy();
    this.plot = null;
  }

  #options(width) {
    const { explorer, curve } = this;
    const { table, view } = explorer;
    const grid = { stroke: ink("--line"), width: 1 };
    const axis = { stroke: ink("--soft"), grid, ticks: { ...grid, size: 4 }, font: "11px system-ui, sans-serif" };
    const range = curve.range(table) ?? ((_, low, high) => [0, high > 0 ? 1.05 * high : 1]);
    const marks = (_, times) => momentTexts(times, view, width - LEFT - RIGHT);
    const splits = curve.marks && ((_, axis, low, high) => curve.marks(low, high, MARKS));
    return {
      width,
      height: HEIGHT,
      padding: [6, RIGHT, 0, 0],
      legend: { show: false },
      scales: { x: { time: false, range: () => [view.seconds(view.from), view.seconds(view.to)] }, y: { range } },
      cursor: { y: false, drag: { x: true, y: false, setScale: false }, sync: { key: "explore" } },
      axes: [
        { ...axis, size: 26, incrs: TIME_MARKS, space: 90, values: marks },
        { ...axis, size: LEFT, space: 28, ...(splits && { splits }), values: (_, values) => values.map(curve.format) },
      ],
      series: [{}, ...this.runs.map((run) => this.#series(run))],
      hooks: { setSelect: [(plot) => this.#zoom(plot)], setCursor: [(plot) => this.#read(plot)] },
    };
  }

  #series(run) {
    const foremost = this.explorer.foremost.includes(run);
    const points = { show: this.curve.sparse && foremost ? undefined : false, size: 4 };
    return { label: run.label, width: 1.5, ...(foremost ? line(run) : faintLine()), spanGaps: this.curve.sparse, points };
  }

  /** Return a button that says where a run's line is highest, and looks at that moment. */
  #peak(run) {
    const { explorer, curve } = this;
    const said = make("span"), button = make("button", [key(run), said], { type: "button" });
    const highest = () => explorer.level(curve, run).peak(explorer.view.from, explorer.view.to);
    button.addEventListener("click", () => explorer.lookAt(highest().time));
    const update = () => {
      const peak = highest();
      said.textContent = `${run.label} ${curve.format(peak.value)}, ${moment(explorer.view.seconds(peak.time), explorer.view.span)}`;
    };
    return { button, update };
  }

  /** Look at the moment where the pointer is, unless it zooms. */
  #lookAt() {
    const { explorer, plot } = this;
    const { from, to } = explorer.view;
    const { left } = plot.cursor;
    if (left >= 0 && !this.zoomed) explorer.lookAt(from + (left / plot.over.clientWidth) * (to - from));
    this.zoomed = false;
  }

  #zoom(plot) {
    const { left, width } = plot.select;
    if (width < 4) return;
    // The click that ends the drag is not meant for a moment.
    this.zoomed = true;
    const { table, view } = this.explorer;
    const ends = [left, left + width].map((at) => (plot.posToVal(at, "x") - table.begin) * table.second);
    plot.setSelect({ width: 0, height: 0 }, false);
    view.show(...ends);
  }

  /** Say in the caption what the lines are where the pointer is. */
  #read(plot) {
    const { explorer, curve, caption } = this;
    const index = plot.cursor.idx;
    caption.dataset.value = "";
    if (index == null) return;
    const values = explorer.foremost.map((run) => plot.data[1 + this.runs.indexOf(run)][index]);
    const said = explorer.foremost.map((run, place) => `${run.label} ${values[place] == null ? "none" : curve.format(values[place])}`).join(", ");
    caption.dataset.value = `${moment(plot.data[0][index], explorer.view.span)}: ${said}`;
  }
}

/** Return the pieces of a line, each a list of [x, y]: one piece if it is joined over nulls, else one between every two nulls. */
function pieces(x, values, joined) {
  const found = [[]];
  values.forEach((value, index) => {
    if (value != null) found.at(-1).push([x[index], value]);
    else if (!joined && found.at(-1).length) found.push([]);
  });
  return found.filter((piece) => piece.length);
}
