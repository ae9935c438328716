// Two runs, job by job: which jobs wait less and longer, and what held them.

import { certain, changes, extremes } from "./changes.js";
import { element, fill, make } from "./dom.js";
import { jobButton } from "./ranked.js";
import { durationIn, number, signed } from "./words.js";

/** Most jobs named of each kind. */
const MOST_NAMED = 8;

export class Pair {
  constructor(explorer) {
    this.explorer = explorer;
    const { table } = explorer;
    element("pair").hidden = table.runs.length < 2;
    if (table.runs.length < 2) return;
    for (const which of ["base", "other"]) {
      fill(which, table.runs.map((run) => run.label), explorer[which].index);
      element(which).addEventListener("change", () => {
        explorer.compare(table.runs[element("base").selectedIndex], table.runs[element("other").selectedIndex]);
      });
    }
    element("show-pair").addEventListener("click", () => this.show());
    explorer.on(["filter", "pair"], () => this.tell());
    explorer.on(["pair"], () => ["base", "other"].forEach((which) => (element(which).selectedIndex = explorer[which].index)));
    this.tell();
  }

  /** Have both runs in view, with colours for what changes. */
  show() {
    const { explorer } = this;
    explorer.colourBy(Object.keys(explorer.colourings).at(-1));
    explorer.showRuns([...new Set([explorer.base, explorer.other])]);
    element("charts").scrollIntoView({ block: "start" });
  }

  tell() {
    const { table, base, other, chosen } = this.explorer;
    const change = changes(table, base, other);
    element("pair-said").textContent = summary(change, chosen, base, other, table.wait_units.mean);
    const [winners, losers] = extremes(change, chosen, MOST_NAMED);
    // A job is explained where it waits longer.
    element("winners").replaceChildren(...winners.flatMap((job) => this.#job(job, change[job], base)));
    element("losers").replaceChildren(...losers.flatMap((job) => this.#job(job, change[job], other)));
    const unexplained = winners.some((job) => !this.#why(job, base)) || losers.some((job) => !this.#why(job, other));
    element("pair-unexplained").hidden = !unexplained;
  }

  /** Return what held a job in a run, if the page knows. */
  #why(job, run) {
    const { table, reasons } = this.explorer;
    return reasons[run.label]?.[table.prefix + table.name(job)];
  }

  /** Return the rows of a job: what changes, and what held it in a run. */
  #job(job, change, run) {
    const { explorer } = this;
    const { table, base, other } = explorer;
    const written = (seconds) => durationIn(seconds, table.wait_units.longest);
    const waits = [base, other].map((run) => written(run.wait[job] / table.second));
    const cells = [table.users[table.user[job]] || "–", number(table.units[job]), ...waits, signed(change, written)];
    const told = make("tr", [make("th", jobButton(explorer, job), { scope: "row" }), ...cells.map((text) => make("td", text))]);
    const why = this.#why(job, run);
    if (!why) return [told];
    return [told, make("tr", make("td", `Under ${run.label}: ${why}`, { class: "why", colspan: cells.length + 1 }))];
  }
}

function summary(change, chosen, base, other, unit) {
  const both = change.filter((value, job) => chosen[job] && !Number.isNaN(value));
  if (!both.length) return "No job started in both.";
  const { mean, less, more, quartiles } = certain(both), written = (seconds) => durationIn(seconds, unit);
  if (!less && !more) return `${both.length === 1 ? "The only job waits" : `All ${number(both.length)} jobs wait`} alike under ${base.label} and ${other.label}.`;
  const [low, median, high] = quartiles.map((value) => signed(value, written));
  return (
    `Under ${other.label}, ${number(less)} of ${number(both.length)} jobs wait less than under ${base.label}, ` +
    `and ${number(more)} wait longer; the mean wait ${mean < 0 ? "falls" : "grows"} by ${written(Math.abs(mean))}. ` +
    `The median change is ${median}, the quartiles are ${low} and ${high}.`
  );
}
