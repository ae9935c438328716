// How long the dispatcher took to decide: the mean of each stretch of time, and its slowest decision.

import { durationMarks } from "../charts/marks.js";
import { addUp } from "../numbers.js";
import { duration } from "../words.js";
import { Largest, Means } from "./sums.js";

/** Decisions are timed in microseconds. */
const MICROSECOND = 1e-6;
const timed = (run) => Boolean(run.columns.decided_at);
const moments = (run) => addUp(Float64Array.from(run.columns.decided_at));
const common = {
  applies: (table) => table.runs.some(timed),
  scale: () => MICROSECOND,
  range: () => null,
  format: duration,
  marks: durationMarks,
  sparse: true,
  folded: "decision times",
};

export const decisionTime = {
  ...common,
  name: "decision",
  title: "Decisions",
  about: () => "mean time that the dispatcher took to decide",
  level: (_, run) => (timed(run) ? new Means(moments(run), run.columns.decided_sum, run.columns.decided_count) : null),
};

export const slowestDecision = {
  ...common,
  name: "slowest",
  title: "Slowest decision",
  about: () => "longest time that it took for one",
  level: (_, run) => (timed(run) ? new Largest(moments(run), run.columns.decided_most) : null),
};
