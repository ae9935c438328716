// A map of a network: the planes of its routers, each with its hosts, painted on a canvas for one moment.

import { density, ink } from "../look.js";
import { sheet } from "./sheet.js";

/** From this side of a place on, px, jobs have edges; below that of the next, marks fill their place. */
const EDGED = 3, TINY = 7;
/** From this side of a router on, px, lines between routers are drawn. */
const RULED = 9;

export class MapImage {
  constructor(network, canvas) {
    Object.assign(this, { network, canvas });
    const { planes, wide, high, across, up, hosts } = network;
    this.columns = wide * across;
    this.rows = high * up;
    this.there = new Int32Array(planes.length * this.rows * this.columns).fill(-1);
    for (let host = 0; host < hosts; host++) if (network.plane[host] >= 0) this.there[this.#index(host)] = host;
  }

  /** Fit the map into some pixels. */
  resize(width, height) {
    const { canvas, network } = this;
    this.sheet = sheet(network, width, height);
    this.wide = this.sheet.side / network.across;
    this.high = this.sheet.side / network.up;
    canvas.width = Math.round(this.sheet.width * density());
    canvas.height = Math.round(this.sheet.height * density());
    canvas.style.width = `${this.sheet.width}px`;
    canvas.style.height = `${this.sheet.height}px`;
  }

  /**
   * Paint who holds what: `held` has the job on each host (-1: none), `colour(job)` is a text, `away` has 1 for each host that is away,
   * `storage` lists I/O nodes; `framed` is a job with a frame (-1: none), and `marked` lists I/O nodes with one.
   */
  paint({ held, colour, away, storage, framed, marked }) {
    const { canvas, network } = this;
    const context = canvas.getContext("2d");
    context.setTransform(density(), 0, 0, density(), 0, 0);
    context.clearRect(0, 0, this.sheet.width, this.sheet.height);
    context.font = "11px system-ui, sans-serif";
    network.planes.forEach((name, plane) => {
      const [left, top] = this.sheet.corner(plane);
      context.fillStyle = ink("--soft");
      if (name) context.fillText(name, left, top - 4);
      this.#ground(context, left, top);
    });
    this.#fill(context, held, colour);
    if (Math.min(this.wide, this.high) >= EDGED) this.#edges(context, held, ink("--paper"), 1, () => true);
    away.forEach((is, host) => is && this.#hatch(context, host));
    for (const [host] of storage) this.#mark(context, host, marked.includes(host));
    if (framed >= 0) this.#edges(context, held, ink("--ink"), 2.5, (job) => job === framed);
  }

  /** Return the host at a place of the canvas, px, or -1. */
  at(x, y) {
    const { network } = this;
    for (let plane = 0; plane < network.planes.length; plane++) {
      const [left, top] = this.sheet.corner(plane);
      const column = Math.floor((x - left) / this.wide), below = Math.floor((y - top) / this.high);
      if (column < 0 || below < 0 || column >= this.columns || below >= this.rows) continue;
      return this.there[(plane * this.rows + this.rows - 1 - below) * this.columns + column];
    }
    return -1;
  }

  /** Return the upper left corner of a host's place, px. */
  place(host) {
    const { network } = this;
    const [left, top] = this.sheet.corner(network.plane[host]);
    return [left + network.column[host] * this.wide, top + (this.rows - 1 - network.row[host]) * this.high];
  }

  #index(host) {
    const { plane, row, column } = this.network;
    return (plane[host] * this.rows + row[host]) * this.columns + column[host];
  }

  #ground(context, left, top) {
    const { network, sheet } = this;
    const wide = network.wide * sheet.side, high = network.high * sheet.side;
    context.fillStyle = ink("--raised");
    context.fillRect(left, top, wide, high);
    context.lineWidth = 1;
    context.strokeStyle = ink("--line");
    if (sheet.side >= RULED) {
      context.beginPath();
      for (let place = 1; place < network.wide; place++) context.rect(left + place * sheet.side, top, 0, high);
      for (let place = 1; place < network.high; place++) context.rect(left, top + place * sheet.side, wide, 0);
      context.stroke();
    }
    context.strokeStyle = ink("--faint");
    context.strokeRect(left, top, wide, high);
  }

  /** Fill the places of jobs; those beside each other that one job holds are one rectangle. */
  #fill(context, held, colour) {
    const { there, columns } = this;
    const job = (index) => (there[index] < 0 ? -1 : held[there[index]]);
    for (let index = 0; index < there.length; ) {
      const begin = index, holder = job(begin);
      const end = Math.ceil((begin + 1) / columns) * columns;
      while (index < end && job(index) === holder) index++;
      if (holder < 0) continue;
      const [left, top] = this.place(there[begin]);
      context.fillStyle = colour(holder);
      context.fillRect(left, top, (index - begin) * this.wide, this.high);
    }
  }

  /** Draw lines between hosts of wanted jobs and others. */
  #edges(context, held, stroke, width, wanted) {
    const { there, columns, rows } = this;
    context.strokeStyle = stroke;
    context.lineWidth = width;
    context.beginPath();
    there.forEach((host, index) => {
      const job = host < 0 ? -1 : held[host];
      if (job < 0 || !wanted(job)) return;
      const column = index % columns, row = Math.floor(index / columns) % rows;
      const same = (is, neighbour) => is && there[neighbour] >= 0 && held[there[neighbour]] === job;
      const [left, top] = this.place(host), right = left + this.wide, bottom = top + this.high;
      const line = (...ends) => (context.moveTo(ends[0], ends[1]), context.lineTo(ends[2], ends[3]));
      if (!same(column > 0, index - 1)) line(left, top, left, bottom);
      if (!same(column < columns - 1, index + 1)) line(right, top, right, bottom);
      if (!same(row > 0, index - columns)) line(left, bottom, right, bottom);
      if (!same(row < rows - 1, index + columns)) line(left, top, right, top);
    });
    context.stroke();
  }

  /** Mark a host that is away by stripes. */
  #hatch(context, host) {
    if (this.network.plane[host] < 0) return;
    const { wide, high } = this;
    const [left, top] = this.place(host);
    context.save();
    context.beginPath();
    context.rect(left, top, wide, high);
    context.clip();
    context.strokeStyle = context.fillStyle = ink("--ink");
    context.lineWidth = 1.2;
    if (Math.min(wide, high) < TINY) {
      context.globalAlpha = 0.5;
      context.fillRect(left, top, wide, high);
    } else {
      context.beginPath();
      for (let offset = -high; offset < wide; offset += 4) {
        context.moveTo(left + offset, top + high);
        context.lineTo(left + offset + high, top);
      }
      context.stroke();
    }
    context.restore();
  }

  /** Mark an I/O node by a dark square, and by a frame if the job that is looked at asks for it. */
  #mark(context, host, framed) {
    if (this.network.plane[host] < 0) return;
    const { wide, high } = this;
    const [left, top] = this.place(host);
    const side = Math.min(wide, high) < TINY ? Math.min(wide, high) : Math.min(wide, high) / 2;
    context.fillStyle = ink("--ink");
    context.fillRect(left + (wide - side) / 2, top + (high - side) / 2, side, side);
    if (!framed) return;
    context.lineWidth = 2;
    context.strokeStyle = ink("--ink");
    context.strokeRect(left + 1, top + 1, wide - 2, high - 2);
  }
}
