// The mean wait of the jobs that start in each stretch of time, s.

import { durationMarks } from "../charts/marks.js";
import { valuesAt } from "../numbers.js";
import { duration } from "../words.js";
import { firstSegments } from "./level.js";
import { Means } from "./sums.js";

export const meanWait = {
  name: "wait",
  title: "Wait",
  about: () => "mean wait of the jobs that start",
  level(table, run, chosen) {
    const first = firstSegments(run, chosen);
    const waits = valuesAt(first, (segment) => run.wait[run.job[segment]] / table.second);
    return new Means(valuesAt(first, (segment) => run.start[segment]), waits, waits.map(() => 1));
  },
  scale: () => 1,
  range: () => null,
  format: duration,
  marks: durationMarks,
  sparse: true,
};
