// What is explored: the state that all parts share, and who is told when it changes.

import { colourings } from "./classes.js";
import { CURVES } from "./curves/all.js";
import { above } from "./numbers.js";
import { View } from "./view.js";

/** Most runs in view at first, and most that have a colour of their own in the curves. */
const MOST_SHOWN = 4, MOST_COLOURS = 6;
/** How long nothing changes before `rest`, ms. */
const REST = 80;

/**
 * The state. Parts change it through its methods alone, and hear of it by `on`, after these events:
 * `view` (what stretch of time), `runs` (which are in view), `filter` (which jobs are chosen), `pair` (which two runs are compared), `job`
 * (which one is looked at), `instant` (which one is), `colour` (what colours stand for), `group` (by what the jobs are summed up), `all` (whether
 * all charts are shown, or those that are rarely wanted are folded), `frame`: the charts have been painted, and `rest`: they have, and nothing has
 * changed for a moment, so that what takes longer can be worked out.
 */
export class Explorer extends EventTarget {
  /** `reasons` has by label of a run and full id of a job why it waited. */
  constructor(table, reasons) {
    super();
    Object.assign(this, { table, reasons, job: -1, instant: null, group: "", all: false });
    this.view = new View(table, () => this.tell("view"));
    this.few = table.runs.slice(0, MOST_SHOWN);
    this.shown = this.few;
    this.chosen = new Uint8Array(table.count).fill(1);
    this.base = table.runs[0];
    this.other = table.runs[1];
    this.colourings = colourings(table, this.base, this.other);
    this.colouring = Object.values(this.colourings)[0];
    this.levels = new Map();
    /** The curves that say what of the machine is used. */
    this.uses = [this.curve("busy")];
    let waiting = 0;
    this.on(["frame"], () => {
      clearTimeout(waiting);
      waiting = setTimeout(() => this.tell("rest"), REST);
    });
  }

  tell(event) {
    this.dispatchEvent(new Event(event));
  }

  on(events, act) {
    for (const event of events) this.addEventListener(event, act);
  }

  /** The runs in view that stand out: all, or of many the two that are compared. */
  get foremost() {
    const { shown, base, other } = this;
    const pair = shown.filter((run) => run === base || run === other);
    return shown.length <= MOST_COLOURS ? shown : pair.length ? pair : shown.slice(0, 1);
  }

  /** Have the first few runs in view. */
  showFew() {
    this.showRuns(this.few);
  }

  showRuns(runs) {
    this.shown = runs;
    this.tell("runs");
  }

  /** Choose jobs: 1 for each that is chosen, else 0. */
  filter(chosen) {
    this.chosen = chosen;
    this.levels.clear();
    this.tell("filter");
  }

  /** Compare two runs. */
  compare(base, other) {
    const place = Object.values(this.colourings).indexOf(this.colouring);
    Object.assign(this, { base, other, colourings: colourings(this.table, base, other) });
    this.colouring = Object.values(this.colourings)[place];
    this.tell("pair");
  }

  colourBy(name) {
    this.colouring = this.colourings[name];
    this.tell("colour");
  }

  /** Sum jobs up by another dimension. */
  groupBy(name) {
    this.group = name;
    this.tell("group");
  }

  /** Show all charts, or fold those that are rarely wanted. */
  showCharts(all) {
    this.all = all;
    this.tell("all");
  }

  /** Look at a job (-1: at none), and have it in view if wanted. */
  choose(job, move = false) {
    this.job = job;
    if (job >= 0 && move) this.bring(job);
    this.tell("job");
  }

  /** Look at the next chosen job in order of submission, or at the one before; first at the first one that comes while in view. */
  step(by) {
    const { table, view, chosen } = this;
    let job = this.job + by;
    if (this.job < 0) job = above(table.submission, view.from - 1e-9) - (by < 0 ? 1 : 0);
    while (job >= 0 && job < table.count && !chosen[job]) job += by;
    if (job >= 0 && job < table.count) this.choose(job, true);
  }

  /** Look at a time of the table; null: at none. */
  lookAt(time) {
    this.instant = time;
    this.tell("instant");
  }

  /** Return the first job that is submitted in view, and the one behind the last. */
  get submitted() {
    const { table, view } = this;
    return [above(table.submission, view.from - 1e-9), above(table.submission, view.to - (view.to < table.length ? 1e-9 : 0))];
  }

  /** Bring all of a job into view, unless it is there and large enough to be seen. */
  bring(job) {
    const { table, view } = this;
    const runs = table.runs.filter((run) => run.of[job] < run.of[job + 1]);
    if (!runs.length) return;
    const begin = Math.min(...runs.map((run) => run.start[run.of[job]]));
    const end = Math.max(...runs.map((run) => run.end[run.of[job + 1] - 1]));
    const wide = end - begin;
    if (begin < view.from || end > view.to || wide < (view.to - view.from) / 100) view.show(begin - 2 * wide, end + 2 * wide);
  }

  /** Return the level that a curve draws of a run; null: the run has none. */
  level(curve, run) {
    const of = this.levels.get(curve.name) ?? new Map();
    this.levels.set(curve.name, of);
    if (!of.has(run)) of.set(run, curve.level(this.table, run, this.chosen));
    return of.get(run);
  }

  /** Return a curve by its name. */
  curve(name) {
    return CURVES.find((one) => one.name === name);
  }
}
