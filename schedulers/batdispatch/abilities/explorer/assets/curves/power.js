// What all hosts burn, in watts: the mean between the moments at which the simulator looked.

import { unfold } from "../decode.js";
import { addUp } from "../numbers.js";
import { NBSP, number } from "../words.js";
import { LevelOfRun } from "./level.js";

const counted = (run) => Boolean(run.columns.power_at);

/** Return what all hosts of a run burn between two times of the table, kWh; null: it counted no energy. */
export function energy(explorer, run, from, to) {
  const level = explorer.level(power, run);
  return level && (level.upTo(to) - level.upTo(from)) / explorer.table.second / 3.6e6;
}

export const power = {
  name: "power",
  title: "Power",
  about: () => "of all hosts",
  applies: (table) => table.runs.some(counted),
  level(_, run) {
    if (!counted(run)) return null;
    return new LevelOfRun(addUp(Float64Array.from(run.columns.power_at)), Array.from(run.columns.power_step, unfold), [], []);
  },
  scale: () => 1,
  range: () => null,
  format: (watts) => (Math.abs(watts) < 1000 ? `${number(watts)}${NBSP}W` : `${number(watts / 1000)}${NBSP}kW`),
};
