// A Gantt chart as rectangles of an SVG picture, as long as few enough jobs are in view to tell them apart.

import { hostName } from "../hosts.js";
import { points, shape } from "../svg.js";
import { INK, timeAxis, valueAxis } from "./axes.js";
import { links } from "./gantt-links.js";
import { roundMarks } from "./marks.js";

const HALO = "#ffffff";
/** Jobs that the filters leave out. */
const PALE = "#eceff2";
/** Bars of so many pixels have an edge. */
const EDGED = 4;
/** Room that the time axis takes below, px. */
export const AXIS = 24;

/** Return a chart of some width and height as a group, or null if too many segments are in view for rectangles. */
export function ganttVector(explorer, gantt, width, height) {
  const { table, view, colouring, chosen } = explorer;
  const { run, lineage } = gantt;
  const seen = gantt.seen(view.from, view.to);
  if (!seen) return null;
  const across = width / (view.to - view.from), up = height / table.rows;
  const bars = shape("g", { class: "bars" });
  for (const segment of seen) {
    const job = run.job[segment];
    const left = Math.max(0, (run.start[segment] - view.from) * across);
    const right = Math.min(width, (run.end[segment] - view.from) * across);
    const said = [table.name(job), lineage?.words(segment, view)].filter(Boolean).join(", ");
    const bar = shape("g", { "data-job": table.name(job) }, shape("title", {}, said));
    for (let part = run.at[segment]; part < run.at[segment + 1]; part++) {
      const place = { x: left, y: height - (run.last[part] + 1) * up, width: right - left, height: (run.last[part] - run.first[part] + 1) * up };
      // An edge would be all that is seen of a narrow one.
      const edge = right - left < EDGED ? {} : { stroke: HALO, "stroke-width": 0.4 };
      bar.append(shape("rect", { ...place, ...edge, fill: chosen[job] ? colouring.classes[colouring.of(run, job)][0] : PALE }));
      if (lineage?.repeated(segment)) bar.append(shape("rect", { ...place, fill: "url(#stripes)", class: "stripes" }));
    }
    bars.append(bar);
  }
  const chart = shape("g", { class: "gantt" }, bars);
  if (lineage) {
    const lines = shape("g", { class: "links", fill: "none", stroke: INK, "stroke-width": 0.8 });
    for (const line of links(run, seen, { from: view.from, across, up, height })) {
      lines.append(shape("polyline", { points: points(line.map(([x, y]) => [Math.min(Math.max(x, 0), width), y])) }));
    }
    chart.append(lines);
  }
  return chart;
}

/** Return the hosts that are named beside a Gantt chart, about so many: [host, share of the height from the bottom at its middle]. */
export function hostMarks({ rows, scale }, run, most) {
  return roundMarks(0, run.hosts - 1, most).filter(Number.isInteger).map((host) => [host, (Math.floor(host / scale) + 0.5) / rows]);
}

/** Return the axes of a Gantt chart: hosts from the bottom to the top, and the time. */
export function ganttAxes({ table, view }, run, width, height) {
  const marks = hostMarks(table, run, 4).map(([host, share]) => [height * (1 - share), hostName(table, host)]);
  return shape("g", {}, valueAxis(marks, width, height), timeAxis(view, width, height));
}

/** Return the pattern over attempts that were in vain. */
export function stripes() {
  const line = shape("rect", { width: 2, height: 6, fill: HALO, "fill-opacity": 0.65 });
  return shape("pattern", { id: "stripes", width: 5, height: 6, patternUnits: "userSpaceOnUse", patternTransform: "rotate(45)" }, line);
}
