// Lines that join the segments of a logical job in a Gantt chart: from where one ended to where the next one began.

import { density } from "../look.js";

const COLOUR = "rgba(20, 20, 20, .75)", HALO = "rgba(255, 255, 255, .8)";

/**
 * Return the lines between segments of which one is in view, as corners [x, y] in the unit of the scale: from the end of one, half way down
 * the largest part of its hosts, to the start of the next one. Segments that touch need none.
 */
export function links(run, seen, { from, across, up, height }) {
  const middle = (segment) => {
    let widest = run.at[segment];
    for (let part = widest; part < run.at[segment + 1]; part++) {
      if (run.last[part] - run.first[part] > run.last[widest] - run.first[widest]) widest = part;
    }
    return height - ((run.first[widest] + run.last[widest] + 1) / 2) * up;
  };
  const joined = (segment) => run.job[segment] === run.job[segment + 1];
  const found = [];
  const add = (segment) => {
    if (run.start[segment + 1] <= run.end[segment] && touch(run, segment, segment + 1)) return;
    const [end, start] = [run.end[segment], run.start[segment + 1]].map((time) => (time - from) * across);
    const high = middle(segment), low = middle(segment + 1);
    found.push([[end, high], [start, high], [start, low]]);
  };
  for (const segment of seen) {
    if (segment + 1 < run.job.length && joined(segment)) add(segment);
    // The one before has left the view, and its line may not have.
    if (segment && joined(segment - 1) && run.end[segment - 1] <= from) add(segment - 1);
  }
  return found;
}

/** Whether two segments have a host in common. */
function touch(run, one, other) {
  for (let part = run.at[one]; part < run.at[one + 1]; part++) {
    for (let place = run.at[other]; place < run.at[other + 1]; place++) {
      if (run.first[part] <= run.last[place] && run.first[place] <= run.last[part]) return true;
    }
  }
  return false;
}

/** Draw these lines into a chart's canvas. */
export function drawLinks(context, { run, canvas }, seen, scale) {
  context.beginPath();
  for (const [begin, ...corners] of links(run, seen, { ...scale, height: canvas.height })) {
    context.moveTo(...begin);
    for (const corner of corners) context.lineTo(...corner);
  }
  for (const [colour, width] of [[HALO, 2.5], [COLOUR, 1]]) {
    context.strokeStyle = colour;
    context.lineWidth = width * density();
    context.stroke();
  }
}
