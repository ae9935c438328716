// How many jobs ask for the I/O node that most jobs ask for.

import { Level } from "../curves/level.js";

/** Return the level of the largest number of running jobs that ask for one I/O node. */
export function busiestNode(run, { asked, machine }, chosen) {
  const wanted = (segment) => chosen[run.job[segment]] && asked[run.job[segment]].length;
  const begun = run.order.filter(wanted), ended = run.byEnd.filter(wanted);
  const jobs = new Uint32Array(machine.storage.length);
  // How many I/O nodes so many jobs ask for.
  const nodes = new Uint32Array(begun.length + 2);
  nodes[0] = jobs.length;
  const moments = [], changes = [];
  let most = 0, up = 0, down = 0;
  while (down < ended.length) {
    // What ends makes room for what begins at the same moment.
    const falls = up === begun.length || run.end[ended[down]] <= run.start[begun[up]];
    const segment = falls ? ended[down++] : begun[up++];
    const before = most;
    for (const node of asked[run.job[segment]]) {
      nodes[jobs[node]]--;
      jobs[node] += falls ? -1 : 1;
      nodes[jobs[node]]++;
      most = Math.max(most, jobs[node]);
    }
    while (most && !nodes[most]) most--;
    moments.push(falls ? run.end[segment] : run.start[segment]);
    changes.push(most - before);
  }
  return new Level(Float64Array.from(moments), Float64Array.from(changes), [], []);
}
