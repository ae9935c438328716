// What is in view as an SVG picture: for papers, with inks for white paper, whatever the page's are.

import { INK } from "./charts/axes.js";
import { stripes } from "./charts/gantt-vector.js";
import { LEFT, RIGHT, density, line } from "./look.js";
import { shape, written } from "./svg.js";

/** Room above each chart, of a line of the legend, between two entries, and of a letter, px. */
const TITLE = 22, LINE = 18, GAP = 16, LETTER = 6.6;
/** Maps of all runs in view are as tall as so many other charts, at most. */
const MANY = 4;

/** Return the charts in view as the text of an SVG file. */
export const pictureAsSvg = (explorer, layout) => written(vectorPicture(explorer, layout));

/** Return charts as an SVG element; `tall`: of how many px a chart is, if not as on the page. */
export function vectorPicture(explorer, { charts, width, tall }) {
  const svg = shape("svg", { xmlns: "http://www.w3.org/2000/svg", "font-family": "sans-serif", "font-size": 11 });
  svg.append(shape("defs", {}, stripes()));
  const paper = shape("rect", { width, fill: "#ffffff" });
  svg.append(paper);
  let top = legend(svg, explorer, width, charts.some((chart) => chart.curve));
  for (const chart of charts) {
    svg.append(shape("text", { x: LEFT, y: top + 15, fill: INK, "font-size": 12, "font-weight": "bold" }, chart.title));
    const { group, height } = chart.vector?.(width - LEFT - RIGHT, tall) ?? asImage(chart, width, tall && MANY * tall);
    group.setAttribute("transform", `translate(${LEFT} ${top + TITLE})`);
    svg.append(group);
    top += TITLE + height;
  }
  const height = Math.ceil(top + 8);
  paper.setAttribute("height", height);
  svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
  svg.setAttribute("width", width);
  svg.setAttribute("height", height);
  return svg;
}

/** Say what colours stand for: of jobs, and of runs if there are `curves` of several; return the height that this takes. */
function legend(svg, { colourings, colouring, shown }, width, curves) {
  const what = Object.keys(colourings).find((name) => colourings[name] === colouring);
  const entries = [[`${what}:`, null], ...colouring.classes.map(([colour, name]) => [name, { fill: colour }])];
  if (curves && shown.length > 1) entries.push(["curves:", null], ...shown.map((run) => [run.label, { fill: line(run).stroke, ry: 5 }]));
  let x = LEFT, y = LINE;
  for (const [name, look] of entries) {
    const begin = look ? 14 : 0, wide = begin + name.length * LETTER;
    if (x > LEFT && x + wide > width - RIGHT) [x, y] = [LEFT, y + LINE];
    if (look) svg.append(shape("rect", { x, y: y - 9, width: 10, height: 10, ...look }));
    svg.append(shape("text", { x: x + begin, y, fill: INK }, name));
    x += wide + GAP;
  }
  return y + 6;
}

/** Return a chart as the picture that the page has of it, made smaller where it is wider or taller than so many px. */
function asImage(chart, widest, tallest = Infinity) {
  const { canvas, left } = chart.picture();
  // One that is made for this is not on the page.
  const { width, height } = canvas.isConnected ? canvas.getBoundingClientRect() : { width: canvas.width / density(), height: canvas.height / density() };
  const scale = Math.min(1, (widest - left) / width, tallest / height), x = left - LEFT;
  const image = shape("image", { x, width: width * scale, height: height * scale, href: canvas.toDataURL() });
  return { group: shape("g", {}, image), height: height * scale };
}
