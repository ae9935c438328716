// What stretch of time is in view. Times are those of the table: units of 1/second from its begin.

/** The shortest view, s. */
const SHORTEST = 10;

export class View {
  /** `changed` is called after each change. */
  constructor(table, changed) {
    Object.assign(this, { table, changed, from: 0, to: table.length });
  }

  /** Return a time of the table in seconds of the simulation. */
  seconds(time) {
    return this.table.begin + time / this.table.second;
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

  /** Show so many seconds around the middle. */
  zoomTo(seconds) {
    this.zoom(seconds / this.span);
  }

  /** Move by a share of the view. */
  pan(share) {
    this.moveBy(share * (this.to - this.from));
  }

  /** Move by some time, until an end is in view. */
  moveBy(time) {
    const by = Math.min(Math.max(time, -this.from), this.table.length - this.to);
    this.show(this.from + by, this.to + by);
  }
}
