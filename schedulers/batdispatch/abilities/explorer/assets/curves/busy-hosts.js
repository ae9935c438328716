// How many hosts jobs hold, as a share of all.

import { percent } from "../words.js";
import { Level, heldLevel } from "./level.js";

/** Return the level of hosts on which a chosen job runs, however many of them share one. */
function sharedLevel({ rows, scale }, run, chosen) {
  const jobs = new Int32Array(rows), moments = [], changes = [];
  const turn = (segment, by, moment) => {
    if (!chosen[run.job[segment]] || run.start[segment] >= run.end[segment]) return;
    let turned = 0;
    for (let part = run.at[segment]; part < run.at[segment + 1]; part++) {
      for (let row = run.first[part]; row <= run.last[part]; row++) {
        turned += (jobs[row] === 0) !== (jobs[row] + by === 0);
        jobs[row] += by;
      }
    }
    moments.push(moment);
    changes.push(by * scale * turned);
  };
  let begun = 0;
  for (const ended of run.byEnd) {
    for (; run.start[run.order[begun]] < run.end[ended]; begun++) turn(run.order[begun], 1, run.start[run.order[begun]]);
    turn(ended, -1, run.end[ended]);
  }
  return new Level(moments, changes, [], []);
}

export const busyHosts = {
  name: "busy",
  title: "Busy hosts",
  about: (table) => (table.shared ? "share of the hosts on which jobs run" : "share of the hosts that jobs hold"),
  level: (table, run, chosen) => (table.shared ? sharedLevel(table, run, chosen) : heldLevel(run, chosen, run.held)),
  scale: (_, run) => 1 / run.hosts,
  range: () => [0, 1],
  format: percent,
};
