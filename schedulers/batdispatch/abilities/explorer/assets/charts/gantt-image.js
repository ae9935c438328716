// The chart of who ran where and when: one image, painted anew for each view.

import { lineageOf } from "../lineage.js";
import { above } from "../numbers.js";
import { density } from "../look.js";
import { drawLinks } from "./gantt-links.js";

/** A job is painted where it covers the centre of a pixel, so that the share that is coloured is the utilisation. */
const covered = (value) => Math.ceil(value - 0.5);
/** Up to so many segments in view each has at least a pixel, and wide ones have an edge and their name. */
const FEW = 3000;
/** Width of the stripes of attempts that were in vain, px, and the opacity of every other one, of 255. */
const STRIPE = 3, PALER = 96;

/** Return a colour, a number for a Uint32Array, with less opacity. */
const paler = (colour) => ((colour & 0xffffff) | (PALER << 24)) >>> 0;

export class GanttImage {
  constructor(table, run, canvas) {
    Object.assign(this, { table, run, canvas, lineage: lineageOf(table, run) });
  }

  /** Return the range of places in run.order that a view may show. */
  range(from, to) {
    return [above(this.run.latest, from), above(this.run.order, to, (place) => this.run.start[this.run.order[place]])];
  }

  /** Return the segments in view, in order of start; null, if they are too many to be told apart. */
  seen(from, to) {
    const { run } = this;
    const [low, high] = this.range(from, to);
    const found = [];
    for (let place = low; place < high && found.length <= FEW; place++) if (run.end[run.order[place]] > from) found.push(run.order[place]);
    return found.length <= FEW ? found : null;
  }

  /** Paint a view; `colour(job)` is a number for a Uint32Array, `chosen[job]` says whether the job passes the filters. */
  paint(from, to, colour, chosen, pale) {
    const { run, table, canvas } = this;
    const width = canvas.width, height = canvas.height;
    const context = canvas.getContext("2d");
    const image = context.createImageData(width, height);
    const pixels = new Uint32Array(image.data.buffer);
    const across = width / (to - from), up = height / table.rows;
    const [low, high] = this.range(from, to);
    const seen = this.seen(from, to), few = seen !== null;
    for (const wanted of [0, 1]) {
      for (let place = low; place < high; place++) {
        const segment = run.order[place], job = run.job[segment];
        if (run.end[segment] <= from || chosen[job] !== wanted) continue;
        const left = Math.max(0, covered((run.start[segment] - from) * across));
        let right = Math.min(width, covered((run.end[segment] - from) * across));
        if (few && right <= left) right = Math.min(width, left + 1);
        if (right <= left) continue;
        const paint = wanted ? colour(job) : pale;
        for (let part = run.at[segment]; part < run.at[segment + 1]; part++) {
          let top = covered(height - (run.last[part] + 1) * up);
          const bottom = covered(height - run.first[part] * up);
          if (few && bottom <= top) top = Math.max(0, bottom - 1);
          for (let row = top; row < bottom; row++) pixels.fill(paint, row * width + left, row * width + right);
          if (this.lineage?.repeated(segment)) this.stripe(pixels, left, right, top, bottom, paler(paint));
        }
      }
    }
    context.putImageData(image, 0, 0);
    if (!few) return;
    this.write(context, from, across, up, seen, chosen);
    if (this.lineage) drawLinks(context, this, seen, { from, across, up });
  }

  /** Stripe a rectangle of the image: what ran there was stopped, and ran again. */
  stripe(pixels, left, right, top, bottom, paint) {
    const width = this.canvas.width, wide = Math.round(STRIPE * density());
    for (let row = top; row < bottom; row++) {
      for (let x = left; x < right; x++) if (Math.floor((x + row) / wide) % 2) pixels[row * width + x] = paint;
    }
  }

  /** Draw edges and names of the segments in view that have room for them. */
  write(context, from, across, up, seen, chosen) {
    const { run, table, canvas } = this;
    const scale = density();
    context.font = `${11 * scale}px system-ui, sans-serif`;
    context.textBaseline = "middle";
    context.strokeStyle = "rgba(255, 255, 255, .8)";
    context.lineWidth = scale / 2;
    const written = [];
    for (const segment of seen) {
      const left = (run.start[segment] - from) * across, right = (run.end[segment] - from) * across;
      if (right - left < 4 * scale) continue;
      let widest = null;
      for (let part = run.at[segment]; part < run.at[segment + 1]; part++) {
        const top = canvas.height - (run.last[part] + 1) * up, high = (run.last[part] - run.first[part] + 1) * up;
        if (high >= 3 * scale) context.strokeRect(left, top, right - left, high);
        if (!widest || high > widest[1]) widest = [top, high];
      }
      if (!widest || widest[1] < 13 * scale || !chosen[run.job[segment]]) continue;
      const name = table.name(run.job[segment]);
      const begin = Math.max(left, 0) + 3 * scale, room = Math.min(right, canvas.width) - begin;
      const wide = context.measureText(name).width, middle = widest[0] + widest[1] / 2;
      // Where jobs share hosts, one name could hide another.
      if (wide > room || (table.shared && written.some(([x, y, w]) => x < begin + wide + 5 * scale && begin < x + w + 5 * scale && Math.abs(y - middle) < 14 * scale))) continue;
      written.push([begin, middle, wide]);
      context.fillStyle = "rgba(0, 0, 0, .75)";
      context.fillRect(begin - 2 * scale, middle - 7 * scale, wide + 4 * scale, 14 * scale);
      context.fillStyle = "#fff";
      context.fillText(name, begin, middle);
    }
  }

  /** Draw a frame around the segments of a job. */
  mark(job, from, to, ink) {
    const { run, table, canvas } = this;
    const context = canvas.getContext("2d");
    const across = canvas.width / (to - from), up = canvas.height / table.rows;
    context.strokeStyle = ink;
    context.lineWidth = 2 * density();
    for (let segment = run.of[job]; segment < run.of[job + 1]; segment++) {
      const left = (run.start[segment] - from) * across, wide = (run.end[segment] - run.start[segment]) * across;
      for (let part = run.at[segment]; part < run.at[segment + 1]; part++) {
        const top = canvas.height - (run.last[part] + 1) * up, high = (run.last[part] - run.first[part] + 1) * up;
        context.strokeRect(left - 1, top - 1, Math.max(wide, 2) + 2, Math.max(high, 2) + 2);
      }
    }
  }

  /** Return the job at a moment and a height from 0 (bottom) to 1, or -1. */
  at(moment, height) {
    const segment = this.segmentAt(moment, height);
    return segment < 0 ? -1 : this.run.job[segment];
  }

  /** Return the segment at a moment and a height from 0 (bottom) to 1, or -1. */
  segmentAt(moment, height) {
    const { run, table } = this;
    const row = Math.floor(height * table.rows);
    const [low, high] = this.range(moment, moment);
    // What was painted last is on top.
    for (let place = high - 1; place >= low; place--) {
      const segment = run.order[place];
      if (run.end[segment] <= moment) continue;
      for (let part = run.at[segment]; part < run.at[segment + 1]; part++) {
        if (run.first[part] <= row && row <= run.last[part]) return segment;
      }
    }
    return -1;
  }
}
