// The mean wait of the jobs that start in each stretch of time, s.

import { above, addUp } from "../numbers.js";
import { duration } from "../words.js";
import { firstSegments } from "./level.js";

class Waits {
  constructor(table, run, chosen) {
    const first = firstSegments(run, chosen);
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

export const meanWait = {
  name: "wait",
  title: "Wait",
  about: () => "mean wait of the jobs that start",
  level: (table, run, chosen) => new Waits(table, run, chosen),
  scale: () => 1,
  range: () => null,
  format: duration,
  sparse: true,
};
