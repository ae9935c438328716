// Classes of jobs: for colours and for filters. Each has names, and says of a job which class it is in.

import { DAY, HOUR } from "./words.js";

export const colourNumber = (text) => {
  const value = parseInt(text.slice(1), 16);
  // As a little-endian number of the bytes red, green, blue, opaque.
  return ((255 << 24) | ((value & 255) << 16) | (value & 0xff00) | (value >> 16)) >>> 0;
};
// None of these is the colour of a run (look.js): colours of jobs and of curves stand side by side.
const RAMP = ["#d8cdee", "#bfa9e3", "#a384d4", "#865fc1", "#6a3ba8", "#4c1786"];
const HUES = ["#4b4fa8", "#7fb8a4", "#a8a33c", "#b35a73", "#7a2f5b", "#2f7f4f", "#d9b44a", "#8f7bc4", "#6b6b3a", "#c98f6b"];
const [LESS, SAME, LONGER, ELSEWHERE] = ["#2c8a57", "#b9c2ca", "#a8328f", "#d9c24a"];
const WAITS = [[60, "< 1 min"], [600, "< 10 min"], [HOUR, "< 1 h"], [6 * HOUR, "< 6 h"], [DAY, "< 1 day"], [Infinity, "1 day +"]];
export const LENGTHS = [[60, "< 1 min"], [600, "< 10 min"], [HOUR, "< 1 h"], [6 * HOUR, "< 6 h"], [DAY, "< 1 day"], [Infinity, "1 day +"]];

export const classOf = (limits, value) => limits.findIndex(([limit]) => value < limit);

/** Return up to six classes of sizes, each about twice or more as wide as the one before. */
export function sizeClasses(units) {
  let largest = 1;
  for (const value of units) largest = Math.max(largest, value);
  const steps = Math.max(1, Math.ceil(Math.log2(largest + 1) / 5));
  const limits = [];
  for (let begin = 1; begin <= largest; ) {
    const end = begin === 1 ? 2 : begin * 2 ** steps;
    limits.push([end > largest ? Infinity : end, end - begin === 1 || begin === largest ? `${begin}` : `${begin} to ${Math.min(end - 1, largest)}`]);
    begin = end;
  }
  return limits.slice(0, 6).map(([limit, name], index) => (index === 5 ? [Infinity, name.replace(/ to .*/, " +")] : [limit, name]));
}

/** Whether a job begins on the same hosts in two runs, or does not run in one of them. */
function sameHosts(one, other, job) {
  const [a, b] = [one, other].map((run) => run.of[job]);
  if (a === one.of[job + 1] || b === other.of[job + 1]) return true;
  const parts = one.at[a + 1] - one.at[a];
  if (parts !== other.at[b + 1] - other.at[b]) return false;
  for (let part = 0; part < parts; part++) {
    const [left, right] = [one.at[a] + part, other.at[b] + part];
    if (one.first[left] !== other.first[right] || one.last[left] !== other.last[right]) return false;
  }
  return true;
}

/** Colours of the users who hold most in view; the others share one. */
class UserColours {
  constructor(table) {
    Object.assign(this, { table, rank: new Map(), classes: [] });
  }

  /** Give colours to the users whose chosen jobs hold most between two times of a run. */
  prepare(run, chosen, from, to) {
    const { users, user } = this.table;
    const held = new Float64Array(users.length);
    for (let segment = 0; segment < run.job.length; segment++) {
      const job = run.job[segment], time = Math.min(run.end[segment], to) - Math.max(run.start[segment], from);
      if (time > 0 && chosen[job]) held[user[job]] += run.held[segment] * time;
    }
    const busiest = Array.from(held.keys()).filter((one) => users[one] && held[one]).sort((a, b) => held[b] - held[a]).slice(0, HUES.length);
    this.rank = new Map(busiest.map((one, index) => [one, index]));
    this.classes = [...busiest.map((one, index) => [HUES[index], users[one]]), ["#98a4ae", "others"]];
  }

  of(_, job) {
    return this.rank.get(this.table.user[job]) ?? this.rank.size;
  }
}

/**
 * Return the ways to colour jobs: name -> {classes: [[colour, name]], of(run, job) -> class}; what the classes are may depend on what is in view,
 * and is then found by prepare(run, chosen, from, to) before jobs are painted.
 */
export function colourings(table, baseline, other) {
  const sizes = sizeClasses(table.units);
  const ran = (run, job) => (run.end[run.of[job + 1] - 1] - run.start[run.of[job]]) / table.second;
  const ramp = (limits) => limits.map(([, name], index) => [RAMP[index], name]);
  const found = {
    "wait": { classes: ramp(WAITS), of: (run, job) => classOf(WAITS, run.wait[job] / table.second) },
    "size": { classes: ramp(sizes), of: (run, job) => classOf(sizes, table.units[job]) },
    "run time": { classes: ramp(LENGTHS), of: (run, job) => classOf(LENGTHS, ran(run, job)) },
  };
  found["job"] = { classes: HUES.map((colour, index) => [colour, index ? "" : "a job has one colour everywhere; there are more jobs than colours"]), of: (_, job) => job % HUES.length };
  if (table.users.some(Boolean)) found["user"] = new UserColours(table);
  if (other) {
    found[`change from ${baseline.label} to ${other.label}`] = {
      classes: [[LESS, "waits less"], [SAME, "same"], [LONGER, "waits longer"], [ELSEWHERE, "same wait, other hosts"]],
      of: (_, job) => {
        const change = other.wait[job] - baseline.wait[job];
        if (Math.abs(change) > 0.5 * table.second) return change < 0 ? 0 : 2;
        return sameHosts(baseline, other, job) ? 1 : 3;
      },
    };
  }
  return found;
}
