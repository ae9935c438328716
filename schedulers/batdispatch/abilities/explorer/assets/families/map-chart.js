// Maps of the runs in view at one moment, with what chooses it.

import { moment } from "../calendar.js";
import { hideTip, showText, showTip } from "../charts/tip.js";
import { make } from "../dom.js";
import { LEFT, RIGHT, dark, density, ink, key } from "../look.js";
import { counted, number } from "../words.js";
import { absent, holders, running } from "../holders.js";
import { MapImage } from "./map-image.js";
import { Pieces } from "./pieces.js";

/** Between maps, px; from this width of each on, they stand beside each other. */
const GAP = 24, LEAST_WIDTH = 420;
/** Most height of a map as a share of its width, and the least, px. */
const TALL = 0.6, LEAST_HEIGHT = 300;
/** Most jobs named of an I/O node. */
const MOST_NAMED = 5;
/** Jobs that the filters leave out. */
const PALE = { light: "#dde2e6", dark: "#37444f" };

export function mapCharts(explorer) {
  const mapped = explorer.shown.filter((run) => explorer.table.families.get(run)?.machine.network);
  return mapped.length ? [new MapChart(explorer, mapped)] : [];
}

class MapChart {
  constructor(explorer, runs) {
    Object.assign(this, { explorer, title: "Maps", due: false, width: 0 });
    this.maps = runs.map((run) => new RunMap(explorer, run));
    const { axes } = this.maps[0].network;
    const about = `: a square is a router, each part of it a host${axes ? `, with ${axes}` : ""}. Free hosts are blank, I/O nodes have a dark square, hosts that are away are striped.`;
    this.caption = make("figcaption", [make("strong", "Where jobs run"), about]);
    this.line = make("div", "", { class: "moment" });
    this.grid = make("div", this.maps.map((map) => map.figure), { class: "maps" });
    this.figure = make("figure", [this.caption, this.#controls(), this.grid, this.line]);
    this.ended = new AbortController();
    const { signal } = this.ended;
    explorer.addEventListener("moment", () => this.#redraw(), { signal });
    explorer.addEventListener("play", () => this.#told(), { signal });
  }

  resize(width) {
    this.width = width;
    const beside = Math.max(1, Math.min(this.maps.length, Math.floor((width + GAP) / (LEAST_WIDTH + GAP))));
    const wide = Math.floor((width - GAP * (beside - 1)) / beside);
    for (const map of this.maps) map.resize(wide, Math.max(LEAST_HEIGHT, TALL * wide));
  }

  paint(from, to) {
    const { explorer, slider } = this;
    const { view, table } = explorer;
    const { time } = explorer.moment;
    for (const map of this.maps) map.paint(time);
    Object.assign(slider, { min: from, max: to, step: Math.max(1, Math.round((to - from) / 500)) });
    slider.value = time;
    const said = moment(view.seconds(time), Math.min(view.span, 3600));
    slider.setAttribute("aria-valuetext", said);
    this.said.textContent = said;
    const share = (time - from) / (to - from), { figure, line } = this;
    line.hidden = share < 0 || share > 1 || !table.length;
    line.style.left = `${LEFT + share * (this.width - LEFT - RIGHT)}px`;
    line.style.top = `${figure.offsetTop + figure.offsetHeight}px`;
  }

  /** What is painted for dark paper is not for white. */
  onPaper(dark) {
    return !dark;
  }

  /** Return one canvas with all maps, one below the other. */
  picture() {
    const canvas = make("canvas");
    const canvases = this.maps.map((map) => map.canvas);
    canvas.width = Math.max(...canvases.map((one) => one.width));
    canvas.height = canvases.reduce((high, one) => high + one.height, 0);
    let top = 0;
    for (const one of canvases) {
      canvas.getContext("2d").drawImage(one, 0, top);
      top += one.height;
    }
    return { canvas, left: 0 };
  }

  destroy() {
    this.ended.abort();
    this.explorer.moment.stop();
    hideTip();
  }

  #controls() {
    const { explorer } = this;
    this.slider = make("input", "", { type: "range", "aria-label": "Moment that the maps show" });
    this.slider.addEventListener("input", () => explorer.moment.set(Number(this.slider.value)));
    this.said = make("output", "");
    const button = (text, about, act) => {
      const made = make("button", text, { type: "button", title: about, "aria-label": about });
      made.addEventListener("click", act);
      return made;
    };
    this.play = button("Play", "play what is in view", () => explorer.moment.play());
    const steps = [button("‹ change", "previous start or end of a job", () => explorer.moment.step(-1)), button("change ›", "next start or end of a job", () => explorer.moment.step(1))];
    return make("div", [make("label", ["Moment ", this.slider]), ...steps, this.play, this.said], { class: "explore-bar" });
  }

  #told() {
    this.play.textContent = this.explorer.moment.playing ? "Stop" : "Play";
  }

  /** Paint maps alone: that the moment changes changes nothing else. */
  #redraw() {
    if (this.due) return;
    this.due = true;
    requestAnimationFrame(() => {
      this.due = false;
      if (this.ended.signal.aborted || !this.width) return;
      performance.mark("explore-map-begin");
      this.paint(this.explorer.view.from, this.explorer.view.to);
      performance.measure("explore-map", "explore-map-begin");
    });
  }
}

/** The map of one run. */
class RunMap {
  constructor(explorer, run) {
    const family = explorer.table.families.get(run);
    Object.assign(this, { explorer, run, family, network: family.machine.network });
    this.canvas = make("canvas", "", { role: "img" });
    this.image = new MapImage(this.network, this.canvas);
    this.pieces = new Pieces(this.network);
    this.caption = make("figcaption", "");
    this.figure = make("figure", [make("div", [key(run), run.label]), this.canvas, this.caption]);
    this.#listen();
  }

  resize(width, height) {
    this.image.resize(width, height);
  }

  paint(time) {
    const { explorer, run, family, image } = this;
    const { table, colouring, chosen, job } = explorer;
    const { hosts, storage } = family.machine;
    const segments = holders(run, time, hosts);
    this.held = segments.map((segment) => (segment < 0 ? -1 : run.job[segment]));
    this.away = absent(family.away, time, hosts);
    const pale = dark.matches ? PALE.dark : PALE.light;
    const colour = (one) => (chosen[one] ? colouring.classes[colouring.of(run, one)][0] : pale);
    const marked = (family.asked?.[job] ?? []).map((node) => storage[node][0]);
    image.paint({ held: this.held, colour, away: this.away, storage, framed: job, marked });
    const said = this.#says();
    this.caption.textContent = said;
    this.canvas.setAttribute("aria-label", `Map of ${run.label}: ${said}`);
  }

  /** Say in words what is to be seen. */
  #says() {
    const { explorer, held, away, network } = this;
    const { table, job } = explorer;
    const jobs = new Set(held.filter((one) => one >= 0));
    const hosts = network.compute.reduce((sum, one) => sum + one, 0);
    const busy = held.reduce((sum, one) => sum + (one >= 0 ? 1 : 0), 0);
    const free = network.compute.map((is, host) => (is && held[host] < 0 && !away[host] ? 1 : 0));
    const found = this.pieces.of(free);
    const rest = found.pieces > 1 ? `, in ${number(found.pieces)} pieces; the largest has ${number(found.largest)}` : found.free > 1 ? ", all in one piece" : "";
    const left = found.free === 0 ? "No host is free" : found.free === 1 ? "One host is free" : `${number(found.free)} hosts are free`;
    const gone = away.reduce((sum, one) => sum + one, 0);
    const said = [`${counted(jobs.size, "job")} on ${number(busy)} of ${counted(hosts, "host")}.`, `${left}${rest}${gone ? `; ${counted(gone, "host")} away` : ""}.`];
    if (job >= 0) {
      const own = held.reduce((sum, one) => sum + (one === job ? 1 : 0), 0);
      said.push(own ? `Job ${table.name(job)}, framed, is on ${counted(own, "host")}${this.#asks(job)}.` : `Job ${table.name(job)} does not run now.`);
    }
    return said.join(" ");
  }

  #asks(job) {
    const { asked, machine } = this.family;
    const nodes = (asked?.[job] ?? []).map((node) => machine.storage[node][1]);
    return nodes.length ? ` and asks for ${nodes.join(", ")}` : "";
  }

  #listen() {
    const { canvas } = this;
    const host = (event) => {
      const box = canvas.getBoundingClientRect();
      return this.image.at(event.clientX - box.left, event.clientY - box.top);
    };
    canvas.addEventListener("pointermove", (event) => this.#tip(host(event), event));
    canvas.addEventListener("pointerleave", hideTip);
    canvas.addEventListener("click", (event) => {
      const where = host(event);
      this.explorer.choose(where < 0 ? -1 : this.held[where]);
    });
  }

  #tip(host, event) {
    const { explorer, run, family } = this;
    if (host < 0) return hideTip();
    const node = family.machine.storage.findIndex(([one]) => one === host);
    if (node >= 0) showText(this.#users(node), event);
    else if (this.held[host] >= 0) showTip(explorer.table, run, this.held[host], event);
    else showText(`Host ${host} is ${this.away[host] ? "away" : "free"}.`, event);
  }

  /** Say which jobs that run ask for an I/O node. */
  #users(node) {
    const { explorer, run, family } = this;
    const { table } = explorer;
    const name = `I/O node ${family.machine.storage[node][1]}`;
    if (!family.asked) return `${name}.`;
    const jobs = Array.from(running(run, explorer.moment.time), (segment) => run.job[segment]).filter((job) => family.asked[job].includes(node));
    if (!jobs.length) return `${name}: no job that runs asks for it.`;
    const names = jobs.slice(0, MOST_NAMED).map((job) => table.name(job));
    const more = jobs.length > names.length ? ` and ${number(jobs.length - names.length)} more` : "";
    return `${name}: ${counted(jobs.length, "job")} that run${jobs.length > 1 ? "" : "s"} ask${jobs.length > 1 ? "" : "s"} for it: ${names.join(", ")}${more}.`;
  }
}
