// Classes of jobs: for colours and for filters. Each has names, and says of a job which class it is in.

import { DAY, HOUR } from "./words.js";

export const colourNumber = (text) => {
  const value = parseInt(text.slice(1), 16);
  // As a little-endian number of the bytes red, green, blue, opaque.
  return ((255 << 24) | ((value & 255) << 16) | (value & 0xff00) | (value >> 16)) >>> 0;
};
const RAMP = ["#2a66a8", "#5b93cc", "#a3c3de", "#d8c678", "#e8a33d", "#c8501e"];
const HUES = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00", "#7a5195", "#8c9a3b"];
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

/** Return the ways to colour jobs: name -> {classes: [[colour, name]], of(run, job) -> class}. */
export function colourings(table, baseline, other) {
  const sizes = sizeClasses(table.units);
  const ran = (run, job) => (run.end[run.of[job + 1] - 1] - run.start[run.of[job]]) / table.second;
  const counts = new Float64Array(table.users.length);
  for (const one of table.user) counts[one]++;
  const busiest = Array.from(counts.keys()).filter((one) => table.users[one]).sort((a, b) => counts[b] - counts[a]).slice(0, HUES.length - 1);
  const rank = new Map(busiest.map((one, index) => [one, index]));
  const ramp = (limits) => limits.map(([, name], index) => [RAMP[index], name]);
  const found = {
    "wait": { classes: ramp(WAITS), of: (run, job) => classOf(WAITS, run.wait[job] / table.second) },
    "size": { classes: ramp(sizes), of: (run, job) => classOf(sizes, table.units[job]) },
    "run time": { classes: ramp(LENGTHS), of: (run, job) => classOf(LENGTHS, ran(run, job)) },
  };
  if (busiest.length) {
    const others = [["#98a4ae", "others"]];
    found["user"] = {
      classes: [...busiest.map((one, index) => [HUES[index], table.users[one]]), ...others],
      of: (run, job) => rank.get(table.user[job]) ?? busiest.length,
    };
  }
  if (other) {
    found[`change from ${baseline.label} to ${other.label}`] = {
      classes: [["#2a66a8", "waits less"], ["#b9c2ca", "same"], ["#c8501e", "waits longer"], ["#e0b93f", "same wait, other hosts"]],
      of: (_, job) => {
        const change = other.wait[job] - baseline.wait[job];
        if (Math.abs(change) > 0.5 * table.second) return change < 0 ? 0 : 2;
        return sameHosts(baseline, other, job) ? 1 : 3;
      },
    };
  }
  return found;
}
