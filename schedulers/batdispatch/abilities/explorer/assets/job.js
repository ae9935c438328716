// What is known about the job that is looked at: what it asked for, and what became of it under each run.

import { moment } from "./calendar.js";
import { asked, ended, whose } from "./asked.js";
import { element, make } from "./dom.js";
import { heldHosts } from "./hosts.js";
import { lineageOf, ranFor } from "./lineage.js";
import { key } from "./look.js";
import { shownOf } from "./shown.js";
import { whileItWaited } from "./waited.js";
import { duration, durationIn, number } from "./words.js";

/** Run times count as so many seconds at least in a slowdown. */
const THRESHOLD = 10;

export function tellOfJob(explorer) {
  element("job-before").addEventListener("click", () => explorer.step(-1));
  element("job-next").addEventListener("click", () => explorer.step(1));
  explorer.on(["job"], () => {
    const { table, view, job } = explorer;
    element("job").hidden = job < 0;
    if (job < 0) return;
    element("job-title").textContent = `Job ${table.name(job)}`;
    element("job-asked").textContent =
      [`Submitted ${moment(view.seconds(table.submission[job]), 0)}`, whose(table, job)].filter(Boolean).join(", ") +
      `, asked for ${asked(table, job)}.`;
    element("job-rows").replaceChildren(...table.runs.flatMap((run) => [row(explorer, run, job), ...segmentRows(explorer, run, job)]));
  });
}

function row({ table, view, reasons }, run, job) {
  const state = ended(table, run, job);
  const name = make("th", [key(run), run.label], { scope: "row", class: "name" });
  const first = run.of[job], segments = run.of[job + 1] - first;
  if (!segments) return make("tr", [name, make("td", state, { colspan: 5 })]);
  const wait = run.wait[job] / table.second, took = ranFor(run, job) / table.second;
  const slowdown = Math.max(1, (wait + took) / Math.max(took, THRESHOLD));
  const why = reasons[run.label]?.[table.prefix + table.name(job)] ?? whileItWaited(table, run, job);
  return make("tr", [
    name,
    make("td", durationIn(wait, table.wait_units.longest)),
    make("td", moment(view.seconds(run.start[first]), 0)),
    make("td", duration(took) + (segments > 1 ? ` in ${segments} segments` : "")),
    make("td", number(slowdown)),
    make("td", [`${state}, on ${heldHosts(table, run, first)}${segments > 1 ? "" : shownOf(table, run, first)}`, ...(why ? [make("div", why, { class: "why" })] : [])]),
  ]);
}

/** Return a row for each segment of a job that has several. */
function segmentRows({ table, view }, run, job) {
  const first = run.of[job], end = run.of[job + 1];
  const lineage = end - first > 1 ? lineageOf(table, run) : null;
  if (!lineage) return [];
  return Array.from({ length: end - first }, (_, place) => {
    const segment = first + place;
    return make(
      "tr",
      [
        make("th", lineage.words(segment, view), { scope: "row" }),
        make("td", place ? duration((run.start[segment] - run.end[segment - 1]) / table.second) : ""),
        make("td", moment(view.seconds(run.start[segment]), 0)),
        make("td", duration((run.end[segment] - run.start[segment]) / table.second)),
        make("td", ""),
        make("td", `${lineage.ended(segment)}, on ${heldHosts(table, run, segment)}${shownOf(table, run, segment)}`),
      ],
      { class: "segment" },
    );
  });
}
