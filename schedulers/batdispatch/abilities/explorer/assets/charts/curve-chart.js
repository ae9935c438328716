// A curve over time, with a line for each run in view, drawn by uPlot.

import { moment, timeMarks } from "../calendar.js";
import { CURVES } from "../curves/all.js";
import { make } from "../dom.js";
import { LEFT, RIGHT, faintLine, ink, key, line } from "../look.js";
import { points, shape } from "../svg.js";
import { ROOM, timeAxis, valueAxis } from "./axes.js";
import { markText, momentTexts, roundMarks } from "./marks.js";

const HEIGHT = 130;
/** Height of the lines in an SVG picture, and of the axis below, px. */
const VECTOR_HEIGHT = 100, AXIS = 28;
/** Most distances between the marks of the axis of values. */
const MARKS = 4;
/** Most points of a line, and how many pixels each has at least. */
const MOST_POINTS = 1200, WIDTH_OF_POINT = 1.5;
/** Most runs that have a band, its opacity in hexadecimal, and the diameter of a dot, px. */
const MOST_BANDS = 3, BAND = "33", DOT = 3;

export function curveCharts(explorer) {
  return CURVES.filter((curve) => curve.applies?.(explorer.table) ?? true).map((curve) => new CurveChart(explorer, curve));
}

/** The edge of a band. */
const EDGE = { stroke: "transparent", width: 0, points: { show: false } };

export class CurveChart {
  constructor(explorer, curve) {
    Object.assign(this, { explorer, curve, title: curve.title, folded: curve.folded, plot: null });
    const { shown, foremost } = explorer;
    // What is drawn last is on top.
    this.runs = [...shown.filter((run) => !foremost.includes(run)), ...foremost];
    // Of many runs, bands would hide each other.
    this.banded = foremost.length <= MOST_BANDS ? foremost.filter((run) => explorer.level(curve, run)?.extremes) : [];
    this.box = make("div", "", { class: "curve" });
    const band = this.banded.length ? "; the band is from the least to the most of each pixel's time, the line its mean" : "";
    this.caption = make("figcaption", [make("strong", curve.title), `: ${curve.about(explorer.table)}${band}`]);
    this.figure = make("figure", [this.caption, this.box]);
    this.box.addEventListener("click", () => this.#lookAt());
  }

  resize(width) {
    this.destroy();
    this.stretches = Math.max(50, Math.min(MOST_POINTS, Math.floor((width - LEFT - RIGHT) / WIDTH_OF_POINT)));
    this.plot = new uPlot(this.#options(width), [[], ...this.runs.map(() => []), ...this.banded.flatMap(() => [[], []])], this.box);
  }

  paint(from, to) {
    const { explorer, curve, stretches } = this;
    const step = (to - from) / stretches;
    const x = Array.from({ length: stretches }, (_, index) => explorer.view.seconds(from + (index + 0.5) * step));
    const scaled = (values, run) => {
      const scale = curve.scale(explorer.table, run);
      return values.map((value) => (value === null ? null : value * scale));
    };
    const means = this.runs.map((run) => scaled(explorer.level(curve, run)?.means(from, to, stretches) ?? x.map(() => null), run));
    const bands = this.banded.flatMap((run) => explorer.level(curve, run).extremes(from, to, stretches).map((values) => scaled(values, run)));
    this.plot.setData([x, ...means, ...bands]);
  }

  vector(width) {
    const { explorer, curve, plot } = this;
    const { min, max } = plot.scales.y;
    const [x, ...lines] = plot.data;
    const [from, to] = [explorer.view.seconds(explorer.view.from), explorer.view.seconds(explorer.view.to)];
    const place = (time, value) => [((time - from) / (to - from)) * width, VECTOR_HEIGHT * (1 - (value - min) / (max - min))];
    const group = shape("g", { class: "curve" });
    const marks = (curve.marks ?? roundMarks)(min, max, MARKS).map((value) => [place(0, value)[1], markText(curve.format(value))]);
    group.append(valueAxis(marks, width, VECTOR_HEIGHT), timeAxis(explorer.view, width, VECTOR_HEIGHT));
    this.banded.forEach((run, index) => {
      const [least, most] = [0, 1].map((end) => lines[this.runs.length + 2 * index + end].flatMap((value, at) => (value === null ? [] : [place(x[at], value)])));
      group.append(shape("polygon", { points: points([...least, ...most.reverse()]), fill: line(run).stroke, "fill-opacity": 0.2 }));
    });
    this.runs.forEach((run, index) => {
      const { stroke, dash = [] } = explorer.foremost.includes(run) ? line(run) : faintLine();
      const drawn = { fill: "none", stroke, "stroke-width": 1.2, "stroke-dasharray": dash.join(" ") || "none" };
      for (const piece of pieces(x, lines[index])) {
        const at = piece.map((one) => place(...one));
        if (curve.sparse) group.append(...at.map(([cx, cy]) => shape("circle", { cx, cy, r: DOT / 2, fill: stroke })));
        else group.append(shape("polyline", { points: points(at), ...drawn }));
      }
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
    const wide = width - LEFT - RIGHT;
    const bands = this.banded.map((run, index) => {
      const least = 1 + this.runs.length + 2 * index;
      return { series: [least + 1, least], fill: line(run).stroke + BAND };
    });
    const splits = curve.marks && ((_, axis, low, high) => curve.marks(low, high, MARKS));
    return {
      width,
      height: HEIGHT,
      padding: [6, RIGHT, 0, 0],
      legend: { show: false },
      scales: { x: { time: false, range: () => [view.seconds(view.from), view.seconds(view.to)] }, y: { range } },
      cursor: { y: false, drag: { x: true, y: false, setScale: false }, sync: { key: "explore" } },
      axes: [
        { ...axis, size: 26, splits: (_, __, from, to) => timeMarks(from, to, wide, ROOM), values: (_, times) => momentTexts(times, view, wide) },
        { ...axis, size: LEFT, space: 28, ...(splits && { splits }), values: (_, values) => values.map((value) => markText(curve.format(value))) },
      ],
      series: [{}, ...this.runs.map((run) => this.#series(run)), ...bands.flatMap(() => [EDGE, EDGE])],
      bands,
      hooks: { setSelect: [(plot) => this.#zoom(plot)], setCursor: [(plot) => this.#read(plot)] },
    };
  }

  #series(run) {
    const look = this.explorer.foremost.includes(run) ? line(run) : faintLine();
    const dots = { paths: () => null, points: { show: true, size: DOT, fill: look.stroke } };
    return { label: run.label, width: 1.5, ...look, points: { show: false }, ...(this.curve.sparse && dots) };
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
    const at = (series) => plot.data[series][index];
    const said = explorer.foremost.map((run) => {
      const value = at(1 + this.runs.indexOf(run)), band = this.banded.indexOf(run);
      if (value == null) return `${run.label} none`;
      const ends = band < 0 ? [] : [0, 1].map((end) => at(1 + this.runs.length + 2 * band + end));
      return `${run.label} ${curve.format(value)}${ends.length && ends[0] < ends[1] ? ` (${ends.map(curve.format).join(" to ")})` : ""}`;
    });
    caption.dataset.value = `${moment(plot.data[0][index], explorer.view.span)}: ${said.join(", ")}`;
  }
}

/** Return the pieces of a line between nulls, each a list of [x, y]. */
function pieces(x, values) {
  const found = [[]];
  values.forEach((value, index) => {
    if (value != null) found.at(-1).push([x[index], value]);
    else if (found.at(-1).length) found.push([]);
  });
  return found.filter((piece) => piece.length);
}
