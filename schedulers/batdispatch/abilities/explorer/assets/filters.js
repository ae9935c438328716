// Which jobs are chosen: by each dimension, of one of its keys. The others turn pale and do not count.

import { element, make } from "./dom.js";
import { number } from "./words.js";

/** More keys than these are typed instead of chosen from a list, and at most so many are proposed. */
const MOST_LISTED = 30, MOST_PROPOSED = 2000;

export class Filters {
  /** `dimensions`: see dimensions.js. */
  constructor(explorer, dimensions) {
    Object.assign(this, { explorer, dimensions });
    /** Dimension -> the key that is chosen; jobs of an unknown text pass none. */
    this.wanted = new Map();
    element("filter").replaceChildren(...dimensions.map((one) => make("label", [one.title, " ", this.#control(one)].flat())));
    element("reset").addEventListener("click", () => this.restore({}));
    this.#tell();
  }

  /** Return the dimension that has a key of some label; `kind`: the only one to look into, "": any. */
  named(text, kind) {
    return this.dimensions.find((one) => (!kind || one.name === kind) && one.keys.some((key) => one.label(key) === text));
  }

  /** Choose the jobs of a key by its label. */
  choose(dimension, text) {
    this.set(dimension, dimension.keys.find((key) => dimension.label(key) === text));
  }

  /** Choose the jobs of a key; undefined: whatever key they have. */
  set(dimension, key) {
    if (key === undefined) this.wanted.delete(dimension);
    else this.wanted.set(dimension, key);
    this.apply();
  }

  /** Return what is chosen, {name of a dimension: label of a key}, as `restore` takes it. */
  get state() {
    return Object.fromEntries([...this.wanted].map(([dimension, key]) => [dimension.name, dimension.label(key)]));
  }

  restore(state) {
    this.wanted.clear();
    for (const dimension of this.dimensions) {
      const key = dimension.keys.find((one) => dimension.label(one) === state[dimension.name]);
      if (key !== undefined) this.wanted.set(dimension, key);
    }
    this.apply();
  }

  /** Return jobs as 1 and 0: whether they pass all filters, but for that of one dimension. */
  passing(but = null) {
    const tests = [...this.wanted].filter(([dimension]) => dimension !== but);
    const chosen = new Uint8Array(this.explorer.table.count);
    for (let job = 0; job < chosen.length; job++) chosen[job] = tests.every(([{ of }, key]) => of(job) === key) ? 1 : 0;
    return chosen;
  }

  apply() {
    this.#tell();
    this.explorer.filter(this.passing());
  }

  #control(dimension) {
    const { name, keys, label } = dimension;
    const listed = keys.length <= MOST_LISTED;
    const options = keys.slice(0, MOST_PROPOSED).map((key) => make("option", listed ? label(key) : "", { value: label(key) }));
    const control = listed
      ? make("select", [make("option", "any", { value: "" }), ...options], { id: `explore-of-${name}` })
      : make("input", "", { id: `explore-of-${name}`, list: `explore-of-${name}-names`, size: 9, placeholder: "any", autocomplete: "off", spellcheck: "false" });
    control.addEventListener("change", () => this.#typed(dimension, control.value.trim()));
    return listed ? control : [control, make("datalist", options, { id: `explore-of-${name}-names` })];
  }

  #typed(dimension, text) {
    const key = dimension.keys.find((one) => dimension.label(one) === text);
    this.set(dimension, !text ? undefined : (key ?? NaN));
    if (text && key === undefined) element("said").textContent = `No job passes the filters: no ${dimension.title.toLowerCase()} is called ${text}.`;
  }

  #tell() {
    for (const dimension of this.dimensions) {
      const key = this.wanted.get(dimension);
      if (!Number.isNaN(key)) element(`of-${dimension.name}`).value = key === undefined ? "" : dimension.label(key);
    }
    const named = [...this.wanted].map(([{ title, label }, key]) => `${title.toLowerCase()} ${label(key)}`).join(", ");
    const { table } = this.explorer;
    const left = this.wanted.size ? this.passing().reduce((sum, one) => sum + one, 0) : table.count;
    element("filtered").textContent = this.wanted.size ? ` (${this.wanted.size})` : "";
    element("reset").hidden = !this.wanted.size;
    element("said").textContent = this.wanted.size
      ? left ? `${number(left)} of ${number(table.count)} jobs pass the filters (${named}): they have colours, and all figures are theirs.` : `No job passes the filters (${named}).`
      : "";
  }
}
