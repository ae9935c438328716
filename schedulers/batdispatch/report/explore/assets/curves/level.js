// Curves over time, averaged over as many stretches as there are pixels: what happens within one is not lost.

import { above, valuesAt } from "../numbers.js";

/** A level that rises at some moments and falls at others, each list in order of time. */
export class Level {
  constructor(rises, amounts, falls, losses) {
    const count = rises.length + falls.length;
    this.at = new Float64Array(count);
    this.after = new Float64Array(count);
    this.area = new Float64Array(count);
    let up = 0, down = 0, level = 0, area = 0, before = 0;
    for (let place = 0; place < count; place++) {
      // What ends makes room for what begins at the same moment.
      const falling = down < falls.length && (up === rises.length || falls[down] <= rises[up]);
      const moment = falling ? falls[down] : rises[up];
      if (place) area += level * (moment - before);
      level += falling ? -losses[down++] : amounts[up++];
      before = moment;
      this.at[place] = moment;
      this.after[place] = level;
      this.area[place] = area;
    }
  }

  /** Return the area under the level up to a moment. */
  upTo(moment) {
    const place = above(this.at, moment) - 1;
    return place < 0 ? 0 : this.area[place] + this.after[place] * (moment - this.at[place]);
  }

  /** Return the highest level between two moments, and when it is first reached. */
  peak(from, to) {
    let place = above(this.at, from) - 1;
    const found = { time: from, value: place < 0 ? 0 : this.after[place] };
    for (place++; place < this.at.length && this.at[place] < to; place++) {
      // Of several changes at one moment, the last one counts.
      const last = place + 1 === this.at.length || this.at[place + 1] > this.at[place];
      if (last && this.after[place] > found.value) Object.assign(found, { time: this.at[place], value: this.after[place] });
    }
    return found;
  }

  /** Return the mean level of each of some stretches of equal length between two moments. */
  means(from, to, stretches) {
    const length = (to - from) / stretches;
    let before = this.upTo(from);
    return Array.from({ length: stretches }, (_, index) => {
      const area = this.upTo(from + (index + 1) * length);
      const mean = (area - before) / length;
      before = area;
      return mean;
    });
  }
}

/** Return the level of what the segments of chosen jobs hold, each its amount from its start to its end. */
export function heldLevel(run, chosen, amounts) {
  const wanted = (segment) => chosen[run.job[segment]];
  const begun = run.order.filter(wanted), ended = run.byEnd.filter(wanted);
  const of = (column, segments) => valuesAt(segments, (segment) => column[segment]);
  return new Level(of(run.start, begun), of(amounts, begun), of(run.end, ended), of(amounts, ended));
}

/** Return the first segment of each chosen job that started, in order of start. */
export function firstSegments(run, chosen) {
  return run.order.filter((segment) => segment === run.of[run.job[segment]] && chosen[run.job[segment]]);
}
