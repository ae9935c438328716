// Who: each user, account, queue, partition, size, run time or hour of submission, with what becomes of its jobs in view, and who loses.

import { certain, changes } from "./changes.js";
import { element, fill, make } from "./dom.js";
import { ranFor } from "./lineage.js";
import { columnOf, number, signed } from "./words.js";

/** Most rows; the filter above the table finds the others. */
const MOST_ROWS = 200;

/** Let the label of a run go over several lines in a heading. */
const breakable = (label) => label.replace(/[[=,]/g, "$&\u200b");

export class Who {
  constructor(explorer, filters) {
    Object.assign(this, { explorer, filters, groups: [], written: {}, sorted: "jobs", falling: true });
    explorer.group = filters.dimensions[0].name;
    fill("group", filters.dimensions.map((one) => one.title));
    element("group").addEventListener("change", () => explorer.groupBy(filters.dimensions[element("group").selectedIndex].name));
    element("who-name").addEventListener("input", () => this.show());
    explorer.on(["rest", "pair", "group"], () => this.tell());
  }

  get dimension() {
    return this.filters.dimensions.find((one) => one.name === this.explorer.group);
  }

  /** Sum up the jobs that are submitted in view and pass the other filters, and show them. */
  tell() {
    const { base, other } = this.explorer;
    element("group").selectedIndex = this.filters.dimensions.indexOf(this.dimension);
    element("who-title").textContent = other && base !== other ? `Who gains and loses from ${base.label} to ${other.label}` : "Who waits";
    this.groups = this.#sums();
    this.written = this.#written();
    this.#head();
    this.show();
  }

  show() {
    const text = element("who-name").value.trim().toLowerCase();
    const column = this.columns.find(({ name }) => name === this.sorted) ?? this.columns[1];
    const value = (group) => column.value(group) ?? NaN;
    const known = this.groups.filter((group) => group.label.toLowerCase().includes(text));
    const by = (a, b) => (typeof value(a) === "string" ? value(a).localeCompare(value(b), "en", { numeric: true }) : value(a) - value(b));
    // Groups without a value come last, whatever the direction.
    known.sort((a, b) => Number.isNaN(value(a)) - Number.isNaN(value(b)) || (this.falling ? by(b, a) : by(a, b)) || a.key - b.key);
    element("who-rows").replaceChildren(...known.slice(0, MOST_ROWS).map((group) => this.#row(group)));
    const left = known.length - MOST_ROWS;
    element("who-left").textContent = left > 0 ? `${number(left)} more: type part of a name.` : "";
  }

  get columns() {
    const { base, other } = this.explorer;
    const { mean, longest: most } = this.written;
    const wait = (which, run) => ({ name: `wait-${which}`, title: `Mean wait, ${breakable(run.label)}`, value: (group) => group[which] / group.jobs, text: mean });
    const longest = (which, run) => ({ name: `longest-${which}`, title: `Longest, ${breakable(run.label)}`, value: (group) => group[`${which}Longest`], text: most });
    const common = [
      { name: "label", title: this.dimension.title, value: (group) => group.label },
      { name: "jobs", title: "Jobs", value: (group) => group.jobs, text: number },
      { name: "work", title: "Host-hours", value: (group) => group.work / 3600, text: (value) => number(value) },
      wait("base", base),
    ];
    if (!other || base === other) return [...common, longest("base", base)];
    return [
      ...common,
      wait("other", other),
      { name: "change", title: "Change of the mean", value: (group) => group.change.mean, text: (value) => signed(value, mean) },
      { name: "less", title: "Wait less / longer", value: (group) => group.change.less - group.change.more, text: (_, { change: { less, more } }) => `${number(less)} / ${number(more)}` },
      { name: "median", title: "Median change", value: (group) => group.change.quartiles[1], text: (value) => signed(value, mean) },
      { name: "quartiles", title: "Quartiles", value: (group) => group.change.quartiles[2] - group.change.quartiles[0], text: (_, { change: { quartiles } }) => `${signed(quartiles[0], mean)} to ${signed(quartiles[2], mean)}` },
      longest("base", base),
      longest("other", other),
    ];
  }

  /** Return what writes mean waits and their changes, and longest waits, each in one unit for all groups. */
  #written() {
    const { wait_units: units } = this.explorer.table;
    const of = (values, unit) => columnOf(this.groups.flatMap(values), unit);
    return {
      mean: of((group) => [group.base / group.jobs, group.other / group.jobs], units.mean),
      longest: of((group) => [group.baseLongest, group.otherLongest], units.longest),
    };
  }

  #sums() {
    const { explorer, dimension } = this;
    const { table, base, other } = explorer;
    const chosen = this.filters.passing(dimension), [first, end] = explorer.submitted;
    const change = other ? changes(table, base, other) : null;
    const groups = new Map();
    for (let job = first; job < end; job++) {
      if (!chosen[job] || Number.isNaN(base.wait[job]) || (change && Number.isNaN(change[job]))) continue;
      const key = dimension.of(job);
      let group = groups.get(key);
      if (!group) groups.set(key, (group = { key, label: key < 0 ? "not known" : dimension.label(key), jobs: 0, work: 0, base: 0, other: 0, baseLongest: 0, otherLongest: 0, changes: [] }));
      group.jobs++;
      group.work += (base.held[base.of[job]] * ranFor(base, job)) / table.second;
      for (const [which, run] of [["base", base], ...(change ? [["other", other]] : [])]) {
        const wait = run.wait[job] / table.second;
        group[which] += wait;
        group[`${which}Longest`] = Math.max(group[`${which}Longest`], wait);
      }
      if (change) group.changes.push(change[job]);
    }
    for (const group of groups.values()) group.change = certain(group.changes);
    return [...groups.values()];
  }

  #head() {
    element("who-head").replaceChildren(...this.columns.map(({ name, title }) => {
      const button = make("button", title, { type: "button" });
      button.addEventListener("click", () => {
        this.falling = this.sorted === name ? !this.falling : name !== "label";
        this.sorted = name;
        this.#head();
        this.show();
        element("who-head").querySelector("[aria-sort] button").focus();
      });
      const sort = name === this.sorted ? { "aria-sort": this.falling ? "descending" : "ascending" } : {};
      return make("th", button, { scope: "col", ...(name === "label" && { class: "name" }), ...sort });
    }));
  }

  #row(group) {
    const { dimension, filters } = this;
    const now = filters.wanted.get(dimension) === group.key;
    const button = make("button", group.label, { type: "button", "aria-pressed": now, title: now ? "show all again" : "show these jobs alone" });
    button.disabled = group.key < 0;
    button.addEventListener("click", () => filters.set(dimension, now ? undefined : group.key));
    const cells = this.columns.slice(1).map(({ value, text }) => {
      const amount = value(group);
      return make("td", amount === null || Number.isNaN(amount) ? "–" : text(amount, group));
    });
    return make("tr", [make("th", button, { scope: "row", class: "name" }), ...cells]);
  }
}
