// Heat maps over time, one for each run in view: nodes and what jobs hold of a resource, or I/O nodes and the jobs that ask for them.

import { moment } from "../calendar.js";
import { colourNumber } from "../classes.js";
import { hideTip, showText } from "../charts/tip.js";
import { make } from "../dom.js";
import { LEFT, RIGHT, dark, density, ink, key } from "../look.js";
import { number, percent } from "../words.js";
import { atRest } from "./at-rest.js";
import { heatsOf } from "./heat.js";

/** Most height of a row and of all rows, px; of a large machine, hosts share a row. */
const ROW = 14, HEIGHT = 240;
/** Least height of a row that has its name beside it, px. */
const NAMED = 11;
/** From nothing to all. */
const RAMP = {
  light: ["#f1f4f7", "#c6dbef", "#6baed6", "#2171b5", "#08306b"],
  dark: ["#1c252e", "#1f4a6b", "#2f7fb3", "#79bdf0", "#e3f1ff"],
};

export function heatCharts(explorer) {
  return explorer.shown.flatMap((run) => {
    const family = explorer.table.families.get(run);
    const found = family ? heatsOf(run, family) : new Map();
    return found.size ? [atRest(new HeatChart(explorer, run, family, found))] : [];
  });
}

/** Return so many colours between those of the ramp, as numbers for a Uint32Array. */
function shades(count) {
  const ramp = dark.matches ? RAMP.dark : RAMP.light;
  const part = (colour, place) => parseInt(colour.slice(1 + 2 * place, 3 + 2 * place), 16);
  return Uint32Array.from({ length: count }, (_, index) => {
    const at = (index / (count - 1)) * (ramp.length - 1), low = Math.min(Math.floor(at), ramp.length - 2);
    const mixed = [0, 1, 2].map((place) => Math.round(part(ramp[low], place) + (at - low) * (part(ramp[low + 1], place) - part(ramp[low], place))));
    return colourNumber(`#${mixed.map((value) => value.toString(16).padStart(2, "0")).join("")}`);
  });
}

class HeatChart {
  constructor(explorer, run, family, heats) {
    Object.assign(this, { explorer, run, family, heats, folded: "nodes over time" });
    this.canvas = make("canvas", "", { role: "img" });
    this.box = make("div", this.canvas, { class: "heat" });
    this.choice = make("select", [...heats.keys()].map((name) => make("option", name)), { "aria-label": `What the heat map of ${run.label} shows` });
    this.choice.hidden = heats.size < 2;
    this.choice.addEventListener("change", () => this.#change());
    this.about = make("span", "");
    this.figure = make("figure", [make("figcaption", [key(run), run.label, ": ", this.choice, this.about]), this.box]);
    this.canvas.addEventListener("pointermove", (event) => this.#tip(event));
    this.canvas.addEventListener("pointerleave", hideTip);
  }

  get heat() {
    return this.heats.get(this.choice.value);
  }

  get title() {
    return `${this.run.label}: ${this.heat.title}`;
  }

  resize(width) {
    this.width = width;
    // Numbers of jobs cannot be put together as shares can.
    this.height = Math.min(ROW * this.heat.rows, Math.max(HEIGHT, this.heat.unit === "jobs" ? this.heat.rows : 0));
    this.canvas.width = Math.round(width * density());
    this.canvas.height = Math.round(this.height * density());
    this.canvas.style.width = `${width}px`;
    this.canvas.style.height = `${this.height}px`;
  }

  paint(from, to) {
    const { canvas, heat, explorer } = this;
    const columns = canvas.width - Math.round((LEFT + RIGHT) * density());
    const { values, rows, scale, most } = heat.values(from, to, columns, canvas.height, explorer.chosen);
    Object.assign(this, { seen: { values, rows, scale, most, columns, from, to } });
    const context = canvas.getContext("2d");
    context.clearRect(0, 0, canvas.width, canvas.height);
    context.imageSmoothingEnabled = false;
    const high = canvas.height / rows, left = Math.round(LEFT * density());
    // The first row is at the bottom, as in the charts of hosts.
    context.drawImage(this.#image(), 0, 0, columns, rows, left, 0, columns, canvas.height);
    this.#absent(context, from, to, left, columns, high);
    this.#names(context, left, high);
    const shown = heat.unit === "share" ? [percent(0), percent(most)] : [0, `${number(most)} jobs`];
    const shades = dark.matches ? RAMP.dark : RAMP.light;
    this.about.replaceChildren(` ${heat.about}; `, make("span", "", { class: "ramp", style: `background: linear-gradient(to right, ${shades.join(", ")})` }), ` ${shown[0]} to ${shown[1]}`);
    canvas.setAttribute("aria-label", `Heat map of ${this.run.label}: ${heat.about}, over time`);
  }

  picture() {
    return { canvas: this.canvas, left: 0 };
  }

  destroy() {
    hideTip();
  }

  #change() {
    this.resize(this.width);
    // At once: it was asked for.
    HeatChart.prototype.paint.call(this, this.explorer.view.from, this.explorer.view.to);
  }

  #image() {
    const { values, rows, columns, most } = this.seen;
    const colours = shades(256);
    const small = new OffscreenCanvas(columns, rows);
    const image = new ImageData(columns, rows);
    const pixels = new Uint32Array(image.data.buffer);
    values.forEach((value, place) => {
      if (Number.isNaN(value)) return;
      const row = Math.floor(place / columns), below = rows - 1 - row;
      pixels[below * columns + (place % columns)] = colours[Math.round(255 * Math.min(1, Math.max(0, value / most)))];
    });
    small.getContext("2d").putImageData(image, 0, 0);
    return small;
  }

  /** Lay a veil over nodes that are away. */
  #absent(context, from, to, left, columns, high) {
    const { family, heat, canvas, seen } = this;
    if (heat.unit !== "share") return;
    context.fillStyle = ink("--faint");
    const across = columns / (to - from);
    family.away.host.forEach((host, place) => {
      const begin = Math.max(0, (family.away.begin[place] - from) * across), end = Math.min(columns, (family.away.end[place] - from) * across);
      if (end > begin) context.fillRect(left + begin, canvas.height - (Math.floor(host / seen.scale) + 1) * high, end - begin, high);
    });
  }

  /** Write the names of rows, or of the first and the last one where there is no room for all. */
  #names(context, left, high) {
    const { heat, canvas, seen } = this;
    context.font = `${10 * density()}px system-ui, sans-serif`;
    context.fillStyle = ink("--soft");
    context.textAlign = "right";
    context.textBaseline = "middle";
    const edge = 6 * density();
    const rows = high >= NAMED * density() ? Array.from({ length: seen.rows }, (_, row) => row) : [0, seen.rows - 1];
    for (const row of rows) {
      const middle = canvas.height - (row + 0.5) * high;
      context.fillText(heat.row(row * seen.scale, row * seen.scale), left - edge, Math.min(canvas.height - edge, Math.max(edge, middle)), left - edge);
    }
  }

  #tip(event) {
    const { canvas, seen, heat, explorer } = this;
    const box = canvas.getBoundingClientRect();
    const x = event.clientX - box.left - LEFT, wide = box.width - LEFT - RIGHT;
    const column = Math.floor((x / wide) * (seen?.columns ?? 0));
    const row = Math.floor((1 - (event.clientY - box.top) / box.height) * (seen?.rows ?? 0));
    const value = seen && column >= 0 && column < seen.columns && row >= 0 && row < seen.rows ? seen.values[row * seen.columns + column] : NaN;
    if (Number.isNaN(value)) return hideTip();
    const time = seen.from + ((column + 0.5) / seen.columns) * (seen.to - seen.from);
    const first = row * seen.scale, last = Math.min(heat.rows - 1, first + seen.scale - 1);
    const said = heat.unit === "share" ? percent(value) : `${number(value)} jobs`;
    showText(`${heat.row(first, last)}, ${moment(explorer.view.seconds(time), explorer.view.span)}: ${said}`, event);
  }
}
