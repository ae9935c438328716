// Curves over time, averaged over as many stretches as there are pixels: what happens within one is not lost.

/** A level that rises at some moments and falls at others, each list in order of time. */
class Level {
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

/** How many hosts jobs hold. */
function heldLevel(run, chosen) {
  const wanted = (segment) => chosen[run.job[segment]];
  const begun = run.order.filter(wanted), ended = run.byEnd.filter(wanted);
  const of = (column, segments) => Float64Array.from(segments, (segment) => column[segment]);
  return new Level(of(run.start, begun), of(run.held, begun), of(run.end, ended), of(run.held, ended));
}

/** How many jobs have come and not yet started. */
function queueLevel(table, run, chosen) {
  const first = run.order.filter((segment) => segment === run.of[run.job[segment]] && chosen[run.job[segment]]);
  const come = table.submission.filter((_, job) => chosen[job] && run.of[job] < run.of[job + 1]);
  const one = new Float64Array(come.length).fill(1);
  return new Level(come, one, Float64Array.from(first, (segment) => run.start[segment]), one);
}

/** The mean wait of the jobs that start in each of some stretches, in seconds; null where none does. */
class Waits {
  constructor(table, run, chosen) {
    const first = run.order.filter((segment) => segment === run.of[run.job[segment]] && chosen[run.job[segment]]);
    this.at = Float64Array.from(first, (segment) => run.start[segment]);
    this.sum = addUp(Float64Array.from(first, (segment) => run.wait[run.job[segment]] / table.second));
  }

  means(from, to, stretches) {
    const length = (to - from) / stretches;
    let before = above(this.at, from - 1e-9);
    return Array.from({ length: stretches }, (_, index) => {
      const after = above(this.at, from + (index + 1) * length);
      const sum = (after ? this.sum[after - 1] : 0) - (before ? this.sum[before - 1] : 0);
      const mean = after > before ? sum / (after - before) : null;
      before = after;
      return mean;
    });
  }
}
