// What a run was given as a series over time: a cap on power, and what a kilowatt-hour costs and emits.

import { unfold } from "../decode.js";
import { addUp } from "../numbers.js";
import { number } from "../words.js";
import { LevelOfRun } from "./level.js";
import { power } from "./power.js";

/** Parts of a unit that columns count. */
const PART = 1e6;

function series(name, title, about, format, folded) {
  const has = (run) => Boolean(run.columns[`${name}_at`]);
  return {
    name,
    title,
    about: () => about,
    applies: (table) => table.runs.some(has),
    level(_, run) {
      if (!has(run)) return null;
      const level = new LevelOfRun(addUp(Float64Array.from(run.columns[`${name}_at`])), Array.from(run.columns[`${name}_step`], unfold), [], []);
      return { means: (from, to, stretches) => level.means(from, to, stretches) };
    },
    folded,
    scale: () => 1 / PART,
    range: () => null,
    format,
  };
}

export const cap = series("cap", "Cap", "on the power of all hosts", power.format);
export const carbon = series("carbon", "Carbon", "of a kilowatt-hour, in the unit of its file", number, "carbon");
export const price = series("price", "Price", "of a kilowatt-hour, in the unit of its file", number, "price");
