// All charts, from top to bottom. A new kind is a file of its own, and a name in this list.

import { curveCharts } from "./curve-chart.js";
import { ganttCharts } from "./gantt-chart.js";
import { statusCharts } from "./status-chart.js";

/**
 * Each is a function of the explorer that returns charts of what is in view (none, if the page has nothing of the kind). A chart has
 * - figure: its element; title: what it shows, in a few words; folded, if it is rarely wanted: the name under which it is offered;
 * - resize(width): called before it is first painted, and whenever it gets another width, px;
 * - paint(from, to): show what is between two times of the table; called at most once a frame;
 * - picture(): the canvas that shows it, and how far from the left of the charts it begins, px;
 * - onPaper(dark), if there is one: whether paper has it, given whether the page is dark;
 * - vector(width, tall), if it can: the same as {group, height}, an SVG element and the height that it takes, px; without it, the canvas is taken;
 * - destroy(): let go of what the browser would keep.
 * It has the margins LEFT and RIGHT of look.js, between which its time axis lies.
 */
export const CHARTS = [ganttCharts, curveCharts, statusCharts];
