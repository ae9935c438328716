// The runs, which of them are in view, and what each makes of the jobs in view: the legend of all charts.

import { moment } from "./calendar.js";
import { energy, power } from "./curves/power.js";
import { element, make } from "./dom.js";
import { key } from "./look.js";
import { idleWhileWaiting } from "./idle.js";
import { NBSP, columnOf, number } from "./words.js";

export function tellOfRuns(explorer) {
  const { table, view } = explorer;
  const burnt = power.applies(table);
  if (burnt) element("runs").closest("table").tHead.rows[0].append(make("th", "Energy", { scope: "col" }));
  const rows = table.runs.map((run, index) => {
    const box = make("input", "", { type: "checkbox", value: index, "aria-label": `${run.label} in view` });
    box.addEventListener("change", () => {
      const wanted = table.runs.filter((_, place) => rows[place].box.checked);
      // One is always in view.
      explorer.showRuns(wanted.length ? wanted : [run]);
    });
    const cells = Array.from({ length: burnt ? 7 : 6 }, () => make("td"));
    const boxes = table.runs.length > 1 ? [box] : [];
    element("runs").append(make("tr", [make("th", make("label", [...boxes, key(run), make("span", run.label)]), { scope: "row", class: "name" }), ...cells]));
    return { box, cells };
  });
  element("runs-all").addEventListener("click", () => explorer.showRuns(table.runs));
  element("runs-few").addEventListener("click", () => explorer.showFew());
  element("runs-few").parentElement.hidden = table.runs.length <= explorer.few.length;
  const tick = () => rows.forEach(({ box }, index) => (box.checked = explorer.shown.includes(table.runs[index])));
  const tell = () => {
    const waits = explorer.shown.map((run) => waiting(explorer, run));
    const written = { mean: columnOf(waits.map(({ mean }) => mean), table.wait_units.mean), longest: columnOf(waits.map(({ longest }) => longest), table.wait_units.longest) };
    rows.forEach(({ cells }, index) => {
      const place = explorer.shown.indexOf(table.runs[index]);
      const told = place < 0 ? cells.map(() => "") : figures(explorer, table.runs[index], waits[place], written);
      cells.forEach((cell, column) => cell.replaceChildren(told[column]));
    });
  };
  explorer.on(["runs"], tick);
  explorer.on(["rest", "pair"], tell);
  tick();
}

/** Return of the chosen jobs that are submitted in view how many started in a run, their mean and longest wait, s, and who waits longest; -1: nobody. */
function waiting({ table, chosen, submitted: [first, end] }, run) {
  let jobs = 0, sum = 0, who = -1;
  for (let job = first; job < end; job++) {
    if (!chosen[job] || Number.isNaN(run.wait[job])) continue;
    jobs++;
    sum += run.wait[job];
    if (who < 0 || run.wait[job] > run.wait[who]) who = job;
  }
  return { jobs, mean: jobs ? sum / jobs / table.second : 0, longest: jobs ? run.wait[who] / table.second : 0, who };
}

/** Return what a run makes of the jobs and the machine in view, in the order of the table's columns. */
function figures(explorer, run, { jobs, mean, longest, who }, written) {
  const { table, view } = explorer;
  const { from, to } = view;
  const queue = explorer.level(explorer.curve("queue"), run).peak(from, to);
  // Hosts burn after a run's last job, too, which its metric leaves out.
  const burnt = (view.whole ? table.energies[run.index] : null) ?? energy(explorer, run, from, to);
  const idle = table.shared ? null : idleWhileWaiting(table, run, from, to);
  return [
    number(jobs),
    jobs ? written.mean(mean) : "–",
    who < 0 ? "–" : pressed(written.longest(longest), `, job ${table.name(who)}`, () => explorer.choose(who, true)),
    make("span", explorer.uses.map((curve) => make("div", used(explorer, run, curve)))),
    queue.value
      ? pressed(number(queue.value), `, ${moment(view.seconds(queue.time), view.span)}`, () => explorer.lookAt(queue.time))
      : "0",
    idle ? `${number(idle.sum / table.second / 3600)}\u00a0h` : "–",
    burnt === null ? "–" : `${number(burnt)}${NBSP}kWh`,
  ];
}

/** Return the share of the machine, or of one of its resources, that a run uses in view. */
function used(explorer, run, curve) {
  const { table, view } = explorer, { from, to } = view, level = explorer.level(curve, run);
  if (!level) return "–";
  // If all is in view, each run counts until its own end, as in the table of metrics.
  const end = view.whole ? run.end[run.byEnd.at(-1)] : to;
  const share = ((level.upTo(end) - level.upTo(from)) / (end - from)) * curve.scale(table, run);
  return `${number(100 * share)}${NBSP}%${curve.of ? ` ${curve.of}` : ""}`;
}

/** Return a button that says a figure and does something, with more words beside the figure. */
function pressed(text, more, act) {
  const button = make("button", [text, make("span", more, { class: "more" })], { type: "button" });
  button.addEventListener("click", act);
  return button;
}
