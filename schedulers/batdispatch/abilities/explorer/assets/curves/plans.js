// How far the plans of dispatchers that solve models may be from the best: the mean of each stretch of time.

import { addUp } from "../numbers.js";
import { percent } from "../words.js";
import { Means } from "./sums.js";

/** Gaps are in parts of ten thousand of the cost. */
const PART = 1e-4;
const planned = (run) => Boolean(run.columns.plan_at);

export const gap = {
  name: "gap",
  title: "Gap",
  about: () => "how far the cost of a plan may be above the least one, as a share of it; mean of the plans with a known bound",
  applies: (table) => table.runs.some(planned),
  level(_, run) {
    const { plan_at: at, plan_sum: sum, plan_gaps: many } = run.columns;
    return planned(run) ? new Means(addUp(Float64Array.from(at)), sum, many) : null;
  },
  scale: () => PART,
  range: () => null,
  format: percent,
  sparse: true,
  folded: "plans",
};
