// Go to a job, a moment, or the jobs of somebody, by what is typed. Of a number that is both a job's and a user's, "user 36" says which is meant.

import { stretchOf } from "./calendar.js";
import { element } from "./dom.js";

export function listenToFind(explorer, filters) {
  const { table, view } = explorer;
  element("find").addEventListener("submit", (event) => {
    event.preventDefault();
    const text = element("name").value.trim();
    if (!text) return;
    element("said").textContent = "";
    const [, kind, name] = text.match(/^(job|user|account|queue|partition)\s+(.+)$/i) ?? [null, "", text];
    const job = !kind || kind.toLowerCase() === "job" ? jobOf(table, name) : -1;
    const other = filters.named(name, kind.toLowerCase());
    if (job >= 0) {
      explorer.choose(job, true);
      if (other) element("said").textContent = `${name} is a job and a ${other.name}, too: for the ${other.name}, type ${other.name} ${name}.`;
      return;
    }
    if (other) return filters.choose(other, name);
    const stretch = stretchOf(text)?.map((seconds) => view.time(seconds));
    if (stretch && stretch[0] < table.length && stretch[1] > 0) return show(view, text, stretch);
    element("said").textContent = stretch ? `${text} is not in what was simulated.` : `No job, user or date is called ${text}.`;
  });
}

function show(view, text, [from, to]) {
  const middle = (from + to) / 2, unit = /\d:\d/.test(text) ? "" : to - from > 27 * 86400 * view.table.second ? "month" : "day";
  if (unit) view.showUnit(unit, middle);
  else view.show(from, to);
}

function jobOf(table, text) {
  const name = text.startsWith(table.prefix) ? text.slice(table.prefix.length) : text;
  for (let job = 0; job < table.count; job++) if (table.name(job) === name) return job;
  return -1;
}
