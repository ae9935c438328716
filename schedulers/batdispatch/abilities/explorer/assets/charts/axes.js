// Axes of a chart in an SVG picture.

import { points, shape } from "../svg.js";
import { timeMarks } from "../calendar.js";
import { momentTexts } from "./marks.js";

/** Inks of pictures that stand alone, on white paper. */
export const INK = "#1a1a1a";
export const FAINT = "#8a8a8a";
/** Least distance between two moments that are written, px. */
export const ROOM = 90;

/** Return a time axis below a chart of some width and height, whose left end is at 0. */
export function timeAxis(view, width, height) {
  const [from, to] = [view.seconds(view.from), view.seconds(view.to)];
  const axis = shape("g", { class: "time-axis" }, shape("line", { x1: 0, x2: width, y1: height, y2: height, stroke: FAINT }));
  const marks = timeMarks(from, to, width, ROOM), texts = momentTexts(marks, view, width);
  for (const [index, mark] of marks.entries()) {
    const x = ((mark - from) / (to - from)) * width;
    axis.append(shape("line", { x1: x, x2: x, y1: height, y2: height + 4, stroke: FAINT }));
    axis.append(shape("text", { x, y: height + 16, "text-anchor": "middle", fill: INK }, texts[index]));
  }
  return axis;
}

/** Return an axis of values left of a chart; `marks` has [height from the top, text]. */
export function valueAxis(marks, width, height) {
  const axis = shape("g", { class: "value-axis" }, shape("polyline", { points: points([[0, 0], [0, height]]), stroke: FAINT, fill: "none" }));
  for (const [y, text] of marks) {
    axis.append(shape("line", { x1: -4, x2: width, y1: y, y2: y, stroke: FAINT, "stroke-opacity": 0.35 }));
    axis.append(shape("text", { x: -7, y: y + 4, "text-anchor": "end", fill: INK }, text));
  }
  return axis;
}
