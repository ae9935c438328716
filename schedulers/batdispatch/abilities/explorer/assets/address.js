// The choice of view, runs, filters, job, moment and colours in the page's address, so that a link shows the same.

import { element } from "./dom.js";

const MARK = "#explore?";
/** How long nothing changes before the address does, ms: browsers refuse to change it many times a second. */
const DELAY = 250;

export function addressState(explorer, filters) {
  const { table, view } = explorer;
  let waiting = 0, written = "";
  const names = () => Object.keys(explorer.colourings);
  const state = () => {
    const told = new URLSearchParams();
    const tell = (name, value, unless) => value !== unless && told.set(name, value);
    if (view.from > 0 || view.to < table.length) {
      told.set("from", round(view.seconds(view.from)));
      told.set("to", round(view.seconds(view.to)));
    }
    tell("runs", explorer.shown.map((run) => run.index).join(), explorer.few.map((run) => run.index).join());
    if (explorer.other) tell("pair", `${explorer.base.index},${explorer.other.index}`, "0,1");
    for (const [name, label] of Object.entries(filters.state)) told.set(name, label);
    tell("colour", names().indexOf(Object.keys(explorer.colourings).find((name) => explorer.colourings[name] === explorer.colouring)), 0);
    tell("group", explorer.group, filters.dimensions[0].name);
    tell("charts", explorer.all ? "all" : "few", "few");
    if (explorer.job >= 0) told.set("job", table.name(explorer.job));
    if (explorer.instant !== null) told.set("at", round(view.seconds(explorer.instant)));
    return told;
  };
  const write = () => {
    const text = state().toString();
    const hash = text ? MARK + text : location.hash.startsWith(MARK) ? "#explore" : location.hash;
    if (hash === location.hash) return;
    written = hash;
    history.replaceState(null, "", hash);
  };
  const read = () => {
    if (!location.hash.startsWith(MARK) || location.hash === written) return;
    restore(explorer, filters, new URLSearchParams(location.hash.slice(MARK.length)));
    element("charts").closest("section").scrollIntoView();
  };
  explorer.on(["view", "runs", "pair", "filter", "colour", "group", "all", "job", "instant"], () => {
    clearTimeout(waiting);
    waiting = setTimeout(write, DELAY);
  });
  addEventListener("hashchange", read);
  read();
}

const round = (seconds) => String(Math.round(1000 * seconds) / 1000);

/** Set all that an address says; what it does not say is as at first, and what is not in the page is left out. */
function restore(explorer, filters, told) {
  const { table, view } = explorer;
  const numbers = (name) => (told.get(name) ?? "").split(",").filter(Boolean).map(Number);
  const runs = (name) => numbers(name).map((index) => table.runs[index]).filter(Boolean);
  const [base, other] = told.has("pair") ? runs("pair") : table.runs;
  if (other) explorer.compare(base, other);
  explorer.showRuns(told.has("runs") && runs("runs").length ? runs("runs") : explorer.few);
  explorer.colourBy(Object.keys(explorer.colourings)[numbers("colour")[0]] ?? Object.keys(explorer.colourings)[0]);
  explorer.groupBy(filters.dimensions.find(({ name }) => name === told.get("group"))?.name ?? filters.dimensions[0].name);
  if (explorer.all !== (told.get("charts") === "all")) explorer.showCharts(!explorer.all);
  filters.restore(Object.fromEntries(told));
  const [from, to] = ["from", "to"].map((name) => view.time(Number(told.get(name))));
  if (told.has("from") && from < to) view.show(from, to);
  else view.showAll();
  const job = told.has("job") ? Array.from({ length: table.count }).findIndex((_, one) => table.name(one) === told.get("job")) : -1;
  explorer.choose(job);
  const at = view.time(Number(told.get("at")));
  explorer.lookAt(told.has("at") && Number.isFinite(at) ? at : null);
}
