// How many hosts jobs hold, as a share of all.

import { percent } from "../words.js";
import { heldLevel } from "./level.js";

export const busyHosts = {
  name: "busy",
  title: "Busy hosts",
  about: (table) => `share of the hosts that jobs hold${table.shared ? "; one that several share counts for each" : ""}`,
  level: (table, run, chosen) => heldLevel(run, chosen, run.held),
  scale: (_, run) => 1 / run.hosts,
  range: (table) => (table.shared ? null : [0, 1]),
  format: percent,
};
