// Curves over time in as many stretches as there are pixels, of each its mean, least and most: what happens within one is not lost.

import { above, valuesAt } from "../numbers.js";

/** Events of which least and most are kept together. */
const BLOCK = 64;

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
    // Of several changes at one moment, the last one counts.
    for (let place = count - 2; place >= 0; place--) if (this.at[place] === this.at[place + 1]) this.after[place] = this.after[place + 1];
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
      if (this.after[place] > found.value) Object.assign(found, { time: this.at[place], value: this.after[place] });
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

  /** Return the least and the most level of each of some stretches of equal length between two moments. */
  extremes(from, to, stretches) {
    this.blocks ??= blocksOf(this.after);
    const least = new Array(stretches), most = new Array(stretches), length = (to - from) / stretches;
    let place = above(this.at, from) - 1;
    for (let index = 0; index < stretches; index++) {
      const end = index === stretches - 1 ? to : from + (index + 1) * length;
      let low = place < 0 ? 0 : this.after[place], high = low;
      const next = above(this.at, end);
      for (let at = place + 1; at < next; ) {
        const whole = at % BLOCK === 0 && at + BLOCK <= next;
        low = Math.min(low, whole ? this.blocks.low[at / BLOCK] : this.after[at]);
        high = Math.max(high, whole ? this.blocks.high[at / BLOCK] : this.after[at]);
        at += whole ? BLOCK : 1;
      }
      [least[index], most[index]] = [low, high];
      place = next - 1;
    }
    return [least, most];
  }
}

/** A level of which nothing is known once the last change is over: stretches that end later are null. */
export class LevelOfRun extends Level {
  means(from, to, stretches) {
    return this.#known(super.means(from, to, stretches), from, to);
  }

  extremes(from, to, stretches) {
    return super.extremes(from, to, stretches).map((values) => this.#known(values, from, to));
  }

  #known(values, from, to) {
    const length = (to - from) / values.length, end = this.at.at(-1);
    return values.map((value, index) => (from + (index + 1) * length > end ? null : value));
  }
}

/** Return the least and most of each whole block of values. */
function blocksOf(values) {
  const count = Math.floor(values.length / BLOCK);
  const low = new Float64Array(count).fill(Infinity), high = new Float64Array(count).fill(-Infinity);
  for (let at = 0; at < count * BLOCK; at++) {
    const block = (at / BLOCK) | 0;
    low[block] = Math.min(low[block], values[at]);
    high[block] = Math.max(high[block], values[at]);
  }
  return { low, high };
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
