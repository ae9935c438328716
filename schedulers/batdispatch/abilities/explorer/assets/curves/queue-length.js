// How many jobs have come and not yet started.

import { valuesAt } from "../numbers.js";
import { number } from "../words.js";
import { Level, firstSegments } from "./level.js";

export const queueLength = {
  name: "queue",
  title: "Queue",
  about: () => "jobs that wait to start",
  level(table, run, chosen) {
    const come = table.submission.filter((_, job) => chosen[job] && run.of[job] < run.of[job + 1]);
    const started = valuesAt(firstSegments(run, chosen), (segment) => run.start[segment]);
    const one = new Float64Array(come.length).fill(1);
    return new Level(come, one, started, one);
  },
  scale: () => 1,
  range: () => null,
  format: number,
};
