// Hosts that stay idle while jobs wait that are small enough for them.

import { above } from "./numbers.js";

/** Most stretches of time that are returned. */
const MOST = 8;

/**
 * Return how much of a run's machine is idle between two times while some waiting job asks for no more hosts than are idle: `sum`, in
 * hosts times units of the table, and the `stretches` with most of it: [{from, to, area, job}], `job` being the one that had waited longest.
 * Jobs may have been kept waiting for a reason, such as the reservation of another one.
 */
export function idleWhileWaiting(table, run, from, to) {
  const waiting = new Waiting(table, run);
  let held = 0;
  const { start, end, order, byEnd } = run;
  for (let place = above(run.latest, from); place < order.length && start[order[place]] <= from; place++) {
    if (end[order[place]] > from) held += run.held[order[place]];
  }
  let come = above(table.submission, from), begun = above(order, from, (place) => start[order[place]]), ended = above(byEnd, from, (place) => end[byEnd[place]]);
  for (let job = 0; job < come; job++) if (run.of[job] < run.of[job + 1] && start[run.of[job]] > from) waiting.add(job, 1);
  const found = [];
  let time = from, sum = 0, stretch = null;
  for (;;) {
    const next = Math.min(table.submission[come] ?? Infinity, start[order[begun]] ?? Infinity, end[byEnd[ended]] ?? Infinity, to);
    const idle = run.hosts - held;
    if (next > time) {
      if (idle > 0 && waiting.fits(idle)) {
        const area = idle * (next - time);
        sum += area;
        stretch ??= { from: time, to: next, area: 0 };
        stretch.area += area;
        stretch.to = next;
      } else if (stretch) {
        found.push(stretch);
        stretch = null;
      }
    }
    if (next >= to) break;
    time = next;
    for (; end[byEnd[ended]] === time; ended++) held -= run.held[byEnd[ended]];
    for (; table.submission[come] === time; come++) waiting.add(come, 1);
    for (; start[order[begun]] === time; begun++) {
      const segment = order[begun], job = run.job[segment];
      held += run.held[segment];
      if (segment === run.of[job]) waiting.add(job, -1);
    }
  }
  if (stretch) found.push(stretch);
  found.sort((a, b) => b.area - a.area);
  return { sum, stretches: found.slice(0, MOST) };
}

/** How many jobs of each size wait. */
class Waiting {
  constructor(table, run) {
    Object.assign(this, { table, run });
    const sizes = new Set(table.units);
    this.sizes = Float64Array.from(sizes).sort();
    this.place = new Map(Array.from(this.sizes, (size, place) => [size, place]));
    this.counts = new Int32Array(sizes.size);
  }

  add(job, by) {
    if (this.run.of[job] < this.run.of[job + 1]) this.counts[this.place.get(this.table.units[job])] += by;
  }

  /** Whether some job that waits asks for so many hosts or fewer. */
  fits(idle) {
    for (let place = 0; place < this.sizes.length && this.sizes[place] <= idle; place++) if (this.counts[place] > 0) return true;
    return false;
  }
}

/** Return the job that has waited longest at a time, of those that ask for no more hosts than are idle; -1: none. */
export function firstThatFits(table, run, time) {
  let held = 0;
  for (let place = above(run.latest, time); place < run.order.length && run.start[run.order[place]] <= time; place++) {
    if (run.end[run.order[place]] > time) held += run.held[run.order[place]];
  }
  for (let job = 0; job < table.count && table.submission[job] <= time; job++) {
    const first = run.of[job];
    if (first < run.of[job + 1] && run.start[first] > time && table.units[job] <= run.hosts - held) return job;
  }
  return -1;
}
