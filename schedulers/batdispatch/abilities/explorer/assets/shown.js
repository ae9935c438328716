// Columns of jobs.csv that the page shows of a job because `JobTable` states a page form for them.

import { unfold } from "./decode.js";
import { NBSP, duration, number } from "./words.js";

/** Return what such columns say of a segment, to stand behind what else is said of it. */
export function shownOf(table, run, segment) {
  return (table.shown ?? [])
    .map(([name, label, unit, parts]) => [label, unit, run.columns[`shown_${name}`][segment], parts])
    .filter(([, , told]) => told)
    .map(([label, unit, told, parts]) => `, ${label} ${inUnit(unfold(told - 1) / parts, unit)}`)
    .join("");
}

const inUnit = (value, unit) => (unit === "s" ? duration(value) : number(value) + (unit && NBSP + unit));
