// Why a job waited, as far as starts and ends tell: who held the hosts, how many were idle, who overtook it.

import { running } from "./holders.js";
import { above } from "./numbers.js";
import { counted, number } from "./words.js";

/** Return in a sentence what happened while a job waited in a run; "" if it did not wait, or jobs share hosts. */
export function whileItWaited(table, run, job) {
  const begin = table.submission[job], end = run.start[run.of[job]];
  if (table.shared || !(end > begin)) return "";
  const held = new Map(), changes = [];
  const count = (segment) => {
    const from = Math.max(begin, run.start[segment]), to = Math.min(end, run.end[segment]);
    if (to <= from) return;
    held.set(run.job[segment], (held.get(run.job[segment]) ?? 0) + run.held[segment] * (to - from));
    changes.push([from, run.held[segment]], [to, -run.held[segment]]);
  };
  running(run, begin).forEach(count);
  let overtakers = 0;
  for (let place = above(run.order, begin, (one) => run.start[run.order[one]]); place < run.order.length; place++) {
    const segment = run.order[place];
    if (run.start[segment] >= end) break;
    count(segment);
    if (run.job[segment] > job && segment === run.of[run.job[segment]]) overtakers++;
  }
  if (!held.size) return "";
  const [most] = [...held].sort((a, b) => b[1] - a[1]);
  const idle = mostIdle(run, changes, end);
  const wanted = table.units[job];
  return (
    `While it waited, most hosts were held by job ${table.name(most[0])} (${counted(run.held[run.of[most[0]]], "host")}), and at most ${number(idle)} of ` +
    `${counted(run.hosts, "host")} were idle at once; it asked for ${number(wanted)}${idle >= wanted ? ", which were free at times but kept for others" : ""}. ` +
    `${counted(overtakers, "later job")} started before it.`
  );
}

/** Return the largest number of hosts that were idle at once before a time. */
function mostIdle(run, changes, end) {
  // What ends makes room for what begins at the same moment, and only then is it told how many are idle.
  changes.sort((a, b) => a[0] - b[0]);
  let busy = 0, most = 0;
  changes.forEach(([time, by], place) => {
    busy += by;
    const next = changes[place + 1]?.[0] ?? end;
    if (time < end && next > time) most = Math.max(most, run.hosts - busy);
  });
  return most;
}
