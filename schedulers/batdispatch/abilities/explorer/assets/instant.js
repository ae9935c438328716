// What happens at one moment under each of the foremost runs: who waits, what is idle, and whether the two would fit.

import { moment } from "./calendar.js";
import { asked, whose } from "./asked.js";
import { element, make } from "./dom.js";
import { idleHosts } from "./hosts.js";
import { key } from "./look.js";
import { duration, number } from "./words.js";

export function tellOfInstants(explorer) {
  const { table, view } = explorer;
  explorer.on(["instant", "runs", "pair"], () => {
    element("instant").hidden = explorer.instant === null;
    if (explorer.instant === null) return;
    element("instant-title").textContent = moment(view.seconds(explorer.instant), 0);
    element("instant-shared").hidden = !table.shared;
    element("instant-rows").replaceChildren(...explorer.foremost.map((run) => row(explorer, run)));
  });
}

/** Return the jobs that have come and not started at a time, in order of submission, and how many hosts jobs hold. */
export function situation(table, run, time) {
  const waiting = [];
  for (let job = 0; job < table.count && table.submission[job] <= time; job++) {
    const first = run.of[job];
    if (first < run.of[job + 1] && run.start[first] > time) waiting.push(job);
  }
  let held = 0;
  run.start.forEach((start, segment) => (held += start <= time && time < run.end[segment] ? run.held[segment] : 0));
  return { waiting, held };
}

function row(explorer, run) {
  const { table, instant: time } = explorer;
  const { waiting, held } = situation(table, run, time);
  const which = idleHosts(table, run, time), idle = which ? which.count : Math.max(0, run.hosts - held);
  const units = waiting.reduce((sum, job) => sum + table.units[job], 0);
  const fit = waiting.filter((job) => table.units[job] <= idle).length;
  const cells = [number(waiting.length), number(units), `${number(idle)} of ${number(run.hosts)}`, table.shared ? "–" : number(fit)];
  return make("tr", [
    make("th", [key(run), run.label], { scope: "row", class: "name" }),
    ...cells.map((text) => make("td", text)),
    make("td", which?.words || "–", { class: "head" }),
    make("td", waiting.length ? head(explorer, run, waiting[0]) : "nobody waits", { class: "head" }),
  ]);
}

/** Return who has waited longest: a button that looks at the job, and what it asked for. */
function head(explorer, run, job) {
  const { table, instant: time } = explorer;
  const button = make("button", `job ${table.name(job)}`, { type: "button" });
  button.addEventListener("click", () => explorer.choose(job));
  const since = duration((time - table.submission[job]) / table.second);
  return [button, ` ${whose(table, job)} asks for ${asked(table, job)}, and has waited for ${since}`];
}
