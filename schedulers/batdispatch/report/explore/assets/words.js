// Numbers, durations and moments as people read them.

export const NBSP = "\u00a0";
export const DAY = 86400;
export const HOUR = 3600;
const MINUTE = 60;

export function number(value) {
  const digits = Math.abs(value) >= 100 ? 0 : Math.abs(value) >= 10 ? 1 : 2;
  return value.toLocaleString("en", { maximumFractionDigits: digits });
}

/** Return so many of something in words: 1 host, 2 hosts. */
export const counted = (value, what) => `${number(value)} ${what}${value === 1 ? "" : "s"}`;

/** Return a share as a whole number of percent. */
export const percent = (share) => `${Math.round(100 * share)}${NBSP}%`;

/** Return a length of time in the unit that suits it. */
export function duration(seconds) {
  const size = Math.abs(seconds);
  if (size >= 2 * DAY) return number(seconds / DAY) + NBSP + "days";
  if (size >= 2 * HOUR) return number(seconds / HOUR) + NBSP + "h";
  if (size >= 2 * MINUTE) return number(seconds / MINUTE) + NBSP + "min";
  if (size >= 0.1 || !size) return number(seconds) + NBSP + "s";
  return size >= 1e-3 ? number(1e3 * seconds) + NBSP + "ms" : number(1e6 * seconds) + NBSP + "µs";
}

/** Return a change with its sign, written by a function for amounts. */
export const signed = (value, format) => `${value > 0 ? "+" : value < 0 ? "−" : ""}${format(Math.abs(value))}`;

/** Return a moment of simulated time; the shorter what is in view, the more precise. */
export function moment(seconds, span) {
  const rest = ((seconds % DAY) + DAY) % DAY;
  const day = `day${NBSP}${Math.floor(seconds / DAY)}`;
  if (span > 20 * DAY) return day;
  const two = (value) => String(Math.floor(value)).padStart(2, "0");
  const clock = `${two(rest / HOUR)}:${two((rest % HOUR) / MINUTE)}`;
  if (span > 3 * HOUR) return `${day} ${clock}`;
  return `${day} ${clock}:${two(rest % MINUTE)}`;
}

/** Distances between the marks of a time axis, s. */
export const TIME_MARKS = [
  ...[1, 2, 5, 10, 30, 60, 120, 300, 600, 1800, 3600, 7200, 21600, 43200],
  ...[1, 2, 5, 10, 20, 50, 100, 200, 500, 1000].map((days) => days * DAY),
];

/** Distances between the marks of an axis of durations, s: `duration` writes the first few multiples of each as whole numbers. */
export const DURATION_MARKS = [
  ...[1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 1200, 1800, 3600, 7200, 14400, 21600, 43200],
  ...[1, 2, 5, 10, 20, 50, 100, 200, 500, 1000].map((days) => days * DAY),
];
