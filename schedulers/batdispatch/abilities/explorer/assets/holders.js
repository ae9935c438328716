// Who is on which host at a moment.

import { above } from "./numbers.js";

/** Return the segments that run at a moment, in order of start. */
export function running(run, moment) {
  const low = above(run.latest, moment), high = above(run.order, moment, (place) => run.start[run.order[place]]);
  return run.order.subarray(low, high).filter((segment) => run.end[segment] > moment);
}

/** Return the segment on each of a machine's hosts at a moment, -1 for none; of several the one that started last. */
export function holders(run, moment, hosts) {
  const held = new Int32Array(hosts).fill(-1);
  for (const segment of running(run, moment)) {
    for (let part = run.at[segment]; part < run.at[segment + 1]; part++) held.fill(segment, run.first[part], run.last[part] + 1);
  }
  return held;
}

/** Return which hosts are away at a moment: 1 for each that is, else 0. */
export function absent({ begin, end, host }, moment, hosts) {
  const away = new Uint8Array(hosts);
  begin.forEach((time, place) => {
    if (time <= moment && moment < end[place]) away[host[place]] = 1;
  });
  return away;
}
