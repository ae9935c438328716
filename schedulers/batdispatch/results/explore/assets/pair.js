// Two runs, job by job: which jobs wait less and longer, and where the change comes from.

import { changes, extremes, grouped } from "./changes.js";
import { classOf, sizeClasses } from "./classes.js";
import { element, fill, make } from "./dom.js";
import { DAY, HOUR, duration, number, percent, signed } from "./words.js";

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
    element("winners").replaceChildren(...winners.map((job) => this.#job(job, change[job])));
    element("losers").replaceChildren(...losers.map((job) => this.#job(job, change[job])));
    const groups = grouped(change, chosen, ...this.ways[element("group").value]);
    const whole = groups.reduce((sum, one) => sum + Math.abs(one.sum), 0) || 1;
    element("groups").replaceChildren(...groups.slice(0, MOST_GROUPS).map((one) => group(one, whole)));
  }

  #job(job, change) {
    const { explorer } = this;
    const { table, base, other } = explorer;
    const button = make("button", table.name(job), { type: "button" });
    button.addEventListener("click", () => {
      explorer.choose(job, true);
      element("job").scrollIntoView({ block: "nearest" });
    });
    const waits = [base, other].map((run) => duration(run.wait[job] / table.second));
    const cells = [table.users[table.user[job]] || "–", number(table.units[job]), ...waits, signed(change, duration)];
    return make("tr", [make("th", button, { scope: "row" }), ...cells.map((text) => make("td", text))]);
  }
}

function summary(change, chosen, base, other) {
  const both = change.filter((value, job) => chosen[job] && !Number.isNaN(value));
  if (!both.length) return "No job started in both.";
  const less = both.filter((value) => value < -SAME).length, more = both.filter((value) => value > SAME).length;
  const mean = both.reduce((sum, value) => sum + value, 0) / both.length;
  return (
    `Under ${other.label}, ${number(less)} of ${number(both.length)} jobs wait less than under ${base.label}, ` +
    `and ${number(more)} wait longer; the mean wait ${mean < 0 ? "falls" : "grows"} by ${duration(Math.abs(mean))}.`
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
    hour: [hour, (key) => `submitted ${clock(key)}:00 to ${clock(key)}:59`],
  };
}
