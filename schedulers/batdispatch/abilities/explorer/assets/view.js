// What stretch of time is in view. Times are those of the table: units of 1/second from its begin.

import { limits } from "./calendar.js";

/** The shortest view, s. */
const SHORTEST = 10;
/** Stretches of the calendar. */
export const UNITS = ["hour", "day", "week", "month"];

export class View {
  /** `changed` is called after each change. */
  constructor(table, changed) {
    Object.assign(this, { table, changed, from: 0, to: table.length });
  }

  /** Return a time of the table in seconds of the simulation. */
  seconds(time) {
    return this.table.begin + time / this.table.second;
  }

  /** Whether all is in view. */
  get whole() {
    return this.from <= 0 && this.to >= this.table.length;
  }

  /** The length of the view, s. */
  get span() {
    return (this.to - this.from) / this.table.second;
  }

  /** Show a stretch of time, or what of it is there; a shorter one than there may be, with what is around it. */
  show(from, to) {
    const { table } = this;
    const length = Math.min(Math.max(to - from, SHORTEST * table.second), table.length);
    const begin = Math.max(to - from, 0) < length ? from - (length - (to - from)) / 2 : from;
    this.from = Math.min(Math.max(begin, 0), table.length - length);
    this.to = this.from + length;
    this.changed();
  }

  showAll() {
    this.show(0, this.table.length);
  }

  /** Show so many times as much time, with one moment staying where it is. */
  zoom(factor, around = (this.from + this.to) / 2) {
    this.show(around - (around - this.from) * factor, around + (this.to - around) * factor);
  }

  /** Return a moment of the simulation, s, as a time of the table. */
  time(seconds) {
    return (seconds - this.table.begin) * this.table.second;
  }

  /** Show the hour, day, week or month of a time, as far as it is there. */
  showUnit(unit, time = (this.from + this.to) / 2) {
    this.show(...this.#ends(unit, time));
  }

  /** The hour, day, week or month that is in view, as far as it is there: its name; "" if what is in view is none, or all. */
  get unit() {
    const { from, to } = this;
    if (this.whole) return "";
    const fits = (unit) => {
      const [begin, end] = this.#ends(unit, (from + to) / 2);
      return Math.abs(begin - from) < 1e-3 && Math.abs(end - to) < 1e-3;
    };
    return UNITS.find(fits) ?? "";
  }

  /** Return the ends of the hour, day, week or month of a time, as far as it is there. */
  #ends(unit, time) {
    const [from, to] = limits(this.seconds(time), unit).map((seconds) => this.time(seconds));
    return [Math.max(0, from), Math.min(this.table.length, to)];
  }

  /** Go to the next hour, day, week or month, or to the one before (-1), if one is in view; else move by a quarter of the view. */
  turn(by) {
    const { unit, from, to } = this;
    if (unit && (by < 0 ? from > 0 : to < this.table.length)) this.showUnit(unit, by < 0 ? from - 1 : to + 1);
    else this.moveBy((by * (to - from)) / 4);
  }

  /** Move by some time, until an end is in view. */
  moveBy(time) {
    const by = Math.min(Math.max(time, -this.from), this.table.length - this.to);
    this.show(this.from + by, this.to + by);
  }
}
