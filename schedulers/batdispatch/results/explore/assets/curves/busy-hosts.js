// How many hosts jobs hold, as a share of all.

import { percent } from "../words.js";
import { Level } from "./level.js";

export const busyHosts = {
  name: "busy",
  title: "Busy hosts",
  about: (table) => `share of the hosts that jobs hold${table.shared ? "; one that several share counts for each" : ""}`,
  level(table, run, chosen) {
    const wanted = (segment) => chosen[run.job[segment]];
    const begun = run.order.filter(wanted), ended = run.byEnd.filter(wanted);
    const of = (column, segments) => Float64Array.from(segments, (segment) => column[segment]);
    return new Level(of(run.start, begun), of(run.held, begun), of(run.end, ended), of(run.held, ended));
  },
  scale: (table) => 1 / table.hosts,
  range: (table) => (table.shared ? null : [0, 1]),
  format: percent,
};
