// Numbers and durations as people read them; calendar.js has moments.

export const NBSP = "\u00a0";
export const DAY = 86400;
export const HOUR = 3600;
const MINUTE = 60;

/** By how many digits stand behind the point; making one takes much longer than using it. */
const FORMATS = Array.from({ length: 7 }, (_, digits) => new Intl.NumberFormat("en", { minimumFractionDigits: digits, maximumFractionDigits: digits }));

/** Return a number with three significant digits or more, and whole ones without a fraction, as `results/numbers.py` does. */
export function number(value) {
  const digits = Number.isInteger(value) ? 0 : Math.min(6, Math.max(0, 2 - Math.floor(Math.log10(Math.abs(value)))));
  return FORMATS[digits].format(value);
}

/** Return so many of something in words: 1 host, 2 hosts. */
export const counted = (value, what) => `${number(value)} ${what}${value === 1 ? "" : "s"}`;

/** Return a share as a whole number of percent. */
export const percent = (share) => `${Math.round(100 * share)}${NBSP}%`;

/** Return a length of time in the unit that suits it. */
export const duration = (seconds) => durationBeside(seconds, seconds);

/** Return a length of time in a unit that others on the page have, [seconds, name], if it is at least half of it; null: in the one that suits it. */
export const durationIn = (seconds, unit) => (unit && Math.abs(seconds) >= unit[0] / 2 ? inUnit(seconds, unit) : duration(seconds));

/**
 * Return what writes the durations of a column, all in the unit that the page has for such values. In a view of which all values are below a twentieth
 * of it, they have the unit that suits the largest. Without such a unit, each has its own.
 */
export function columnOf(values, unit) {
  if (!unit) return duration;
  const largest = values.reduce((most, value) => (Number.isNaN(value) ? most : Math.max(most, Math.abs(value))), 0);
  return largest && largest < unit[0] / 20 ? (seconds) => durationBeside(seconds, largest) : (seconds) => inUnit(seconds, unit);
}

const inUnit = (seconds, [scale, name]) => number(seconds / scale) + NBSP + name;

/** Return a length of time in the unit that suits another one. */
export function durationBeside(seconds, other) {
  const size = Math.abs(other);
  if (size >= 2 * DAY) return number(seconds / DAY) + NBSP + "d";
  if (size >= 2 * HOUR) return number(seconds / HOUR) + NBSP + "h";
  if (size >= 2 * MINUTE) return number(seconds / MINUTE) + NBSP + "min";
  if (size >= 1 || !size) return number(seconds) + NBSP + "s";
  return size >= 1e-3 ? number(seconds / 1e-3) + NBSP + "ms" : number(seconds / 1e-6) + NBSP + "µs";
}

const ENDINGS = { COMPLETED_SUCCESSFULLY: "completed", COMPLETED_WALLTIME_REACHED: "killed at its walltime" };

/** Return how something ended, of the state that Batsim calls so. */
export const ending = (state) => ENDINGS[state] ?? state.toLowerCase().replace("completed_", "").replaceAll("_", " ");

/** Return a change with its sign, written by a function for amounts. */
export const signed = (value, format) => `${value > 0 ? "+" : value < 0 ? "−" : ""}${format(Math.abs(value))}`;

/** Distances between the marks of an axis of durations, s: `duration` writes the first few multiples of each as whole numbers. */
export const DURATION_MARKS = [
  ...[1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 1200, 1800, 3600, 7200, 14400, 21600, 43200],
  ...[1, 2, 5, 10, 20, 50, 100, 200, 500, 1000].map((days) => days * DAY),
];
