// Lists of what is in view, the worst first: longest waits, largest slowdowns, hosts that idle while jobs wait.

import { moment } from "./calendar.js";
import { element, fill, make } from "./dom.js";
import { firstThatFits, idleWhileWaiting } from "./idle.js";
import { ranFor } from "./lineage.js";
import { duration, durationIn, number } from "./words.js";

/** Most rows of each list. Run times count as so many seconds at least in a slowdown. */
const MOST = 8, THRESHOLD = 10;

export function rank(explorer) {
  const { table } = explorer;
  fill("ranked-run", table.runs.map((run) => run.label));
  element("ranked-run").parentElement.hidden = table.runs.length < 2;
  element("idle-list").hidden = table.shared;
  const tell = () => {
    const run = table.runs[element("ranked-run").selectedIndex];
    const { longest, slowest } = worst(explorer, run);
    element("longest").replaceChildren(...longest.map((job) => row(explorer, run, job, durationIn(run.wait[job] / table.second, table.wait_units.longest))));
    element("slowest").replaceChildren(...slowest.map((job) => row(explorer, run, job, number(slowdown(table, run, job)))));
    if (!table.shared) element("idle").replaceChildren(...idleWhileWaiting(table, run, explorer.view.from, explorer.view.to).stretches.map((one) => idleRow(explorer, run, one)));
  };
  element("ranked-run").addEventListener("change", tell);
  explorer.on(["rest"], tell);
}

function slowdown(table, run, job) {
  const took = ranFor(run, job) / table.second;
  return Math.max(1, (run.wait[job] / table.second + took) / Math.max(took, THRESHOLD));
}

/** Return the chosen jobs that are submitted in view with the longest waits and the largest slowdowns. */
function worst(explorer, run) {
  const { table, chosen } = explorer;
  const [first, end] = explorer.submitted;
  const [longest, slowest] = [new Top(MOST), new Top(MOST)];
  for (let job = first; job < end; job++) {
    if (!chosen[job] || !(run.wait[job] > 0)) continue;
    longest.offer(job, run.wait[job]);
    slowest.offer(job, slowdown(table, run, job));
  }
  return { longest: longest.items, slowest: slowest.items };
}

/** The items of largest value among those that are offered, the first of equal ones. */
class Top {
  constructor(most) {
    Object.assign(this, { most, items: [], values: [] });
  }

  offer(item, value) {
    if (this.items.length === this.most && value <= this.values.at(-1)) return;
    const place = this.values.findIndex((one) => one < value), at = place < 0 ? this.items.length : place;
    this.items.splice(at, 0, item);
    this.values.splice(at, 0, value);
    this.items.length = this.values.length = Math.min(this.items.length, this.most);
  }
}

function row(explorer, run, job, text) {
  const { table, view } = explorer;
  const cells = [table.users[table.user[job]] || "–", number(table.units[job]), moment(view.seconds(table.submission[job]), view.span), text];
  return make("tr", [make("th", jobButton(explorer, job), { scope: "row" }), ...cells.map((cell) => make("td", cell))]);
}

function idleRow(explorer, run, { from, to, area }) {
  const { table, view } = explorer;
  const when = make("button", moment(view.seconds(from), view.span), { type: "button" }), job = firstThatFits(table, run, from);
  when.addEventListener("click", () => explorer.lookAt(from));
  const cells = [duration((to - from) / table.second), `${number(area / table.second / 3600)}\u00a0h`, job < 0 ? "–" : jobButton(explorer, job)];
  return make("tr", [make("th", when, { scope: "row" }), ...cells.map((cell) => make("td", cell))]);
}

/** Return a button with the name of a job, which looks at it. */
export function jobButton(explorer, job) {
  const button = make("button", explorer.table.name(job), { type: "button" });
  button.addEventListener("click", () => explorer.choose(job, true));
  return button;
}
