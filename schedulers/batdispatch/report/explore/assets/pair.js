// Two runs, job by job: which jobs wait less and longer, and where the change comes from.

import { changes, extremes, grouped, meanOfBatches } from "./changes.js";
import { classOf, sizeClasses } from "./classes.js";
import { element, fill, make } from "./dom.js";
import { DAY, HOUR, NBSP, duration, number, percent, signed } from "./words.js";

/** Most jobs named of each kind, and most groups. */
const MOST_NAMED = 8, MOST_GROUPS = 10;
/** A wait that changes by less, s, counts as the same. */
const SAME = 0.5;

export class Pair {
  constructor(explorer) {
    this.explorer = explorer;
    const { table } = explorer;
    element("pair").hidden = table.runs.length < 2;
    if (table.runs.length < 2) return;
    this.ways = groupings(explorer);
    if (!table.users.some(Boolean)) element("group").value = "size";
    element("group").querySelector("[value=queue]").hidden = !table.queues.some(Boolean);
    for (const which of ["base", "other"]) {
      fill(which, table.runs.map((run) => run.label), explorer[which].index);
      element(which).addEventListener("change", () => {
        explorer.compare(table.runs[element("base").selectedIndex], table.runs[element("other").selectedIndex]);
      });
    }
    element("group").addEventListener("change", () => this.tell());
    element("show-pair").addEventListener("click", () => this.show());
    explorer.on(["filter", "pair"], () => this.tell());
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
    element("pair-said").textContent = summary(change, chosen, base, other);
    const [winners, losers] = extremes(change, chosen, MOST_NAMED);
    // A job is explained where it waits longer.
    element("winners").replaceChildren(...winners.flatMap((job) => this.#job(job, change[job], base)));
    element("losers").replaceChildren(...losers.flatMap((job) => this.#job(job, change[job], other)));
    const unexplained = winners.some((job) => !this.#why(job, base)) || losers.some((job) => !this.#why(job, other));
    element("pair-unexplained").hidden = !unexplained;
    const groups = grouped(change, chosen, ...this.ways[element("group").value]);
    const whole = groups.reduce((sum, one) => sum + Math.abs(one.sum), 0) || 1;
    element("groups").replaceChildren(...groups.slice(0, MOST_GROUPS).map((one) => group(one, whole)));
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
    const button = make("button", table.name(job), { type: "button" });
    button.addEventListener("click", () => {
      explorer.choose(job, true);
      element("job").scrollIntoView({ block: "nearest" });
    });
    const waits = [base, other].map((run) => duration(run.wait[job] / table.second));
    const cells = [table.users[table.user[job]] || "–", number(table.units[job]), ...waits, signed(change, duration)];
    const told = make("tr", [make("th", button, { scope: "row" }), ...cells.map((text) => make("td", text))]);
    const why = this.#why(job, run);
    if (!why) return [told];
    return [told, make("tr", make("td", `Under ${run.label}: ${why}`, { class: "why", colspan: cells.length + 1 }))];
  }
}

function summary(change, chosen, base, other) {
  const both = change.filter((value, job) => chosen[job] && !Number.isNaN(value));
  if (!both.length) return "No job started in both.";
  const less = both.filter((value) => value < -SAME).length, more = both.filter((value) => value > SAME).length;
  const { mean, off, why } = meanOfBatches(both);
  const interval = off === null
    ? ` (no interval: ${why}; batdispatch compare --replicates has one)`
    : `, with a 95${NBSP}% interval of ${signed(mean - off, duration)} to ${signed(mean + off, duration)} by means of batches of jobs`;
  return (
    `Under ${other.label}, ${number(less)} of ${number(both.length)} jobs wait less than under ${base.label}, ` +
    `and ${number(more)} wait longer; the mean wait ${mean < 0 ? "falls" : "grows"} by ${duration(Math.abs(mean))}${interval}.`
  );
}

function group({ name, jobs, sum }, whole) {
  const cells = [number(jobs), signed(sum / jobs, duration), percent(Math.abs(sum) / whole)];
  return make("tr", [make("th", name, { scope: "row" }), ...cells.map((text) => make("td", text))]);
}

/** Return by what jobs are grouped: name -> [group of a job, name of a group]. */
function groupings({ table, view }) {
  const sizes = sizeClasses(table.units);
  const hour = (job) => Math.floor((((view.seconds(table.submission[job]) % DAY) + DAY) % DAY) / HOUR);
  const clock = (key) => String(key).padStart(2, "0");
  return {
    user: [(job) => table.user[job], (key) => (table.users[key] ? `user ${table.users[key]}` : "not known")],
    size: [(job) => classOf(sizes, table.units[job]), (key) => `${sizes[key][1]} units`],
    queue: [(job) => table.queue[job], (key) => (table.queues[key] ? `queue ${table.queues[key]}` : "no queue")],
    hour: [hour, (key) => `submitted ${clock(key)}:00 to ${clock(key)}:59`],
  };
}
