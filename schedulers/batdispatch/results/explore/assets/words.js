// Numbers, durations and moments as people read them.

const NBSP = "\u00a0";
const DAY = 86400, HOUR = 3600, MINUTE = 60;

function number(value) {
  const digits = Math.abs(value) >= 100 ? 0 : Math.abs(value) >= 10 ? 1 : 2;
  return value.toLocaleString("en", { maximumFractionDigits: digits });
}

/** Return a length of time in the unit that suits it. */
function duration(seconds) {
  const size = Math.abs(seconds);
  if (size >= 2 * DAY) return number(seconds / DAY) + NBSP + "days";
  if (size >= 2 * HOUR) return number(seconds / HOUR) + NBSP + "h";
  if (size >= 2 * MINUTE) return number(seconds / MINUTE) + NBSP + "min";
  return number(seconds) + NBSP + "s";
}

/** Return a moment of simulated time; the shorter what is in view, the more precise. */
function moment(seconds, span) {
  const rest = ((seconds % DAY) + DAY) % DAY;
  const day = `day${NBSP}${Math.floor(seconds / DAY)}`;
  if (span > 20 * DAY) return day;
  const two = (value) => String(Math.floor(value)).padStart(2, "0");
  const clock = `${two(rest / HOUR)}:${two((rest % HOUR) / MINUTE)}`;
  if (span > 3 * HOUR) return `${day} ${clock}`;
  return `${day} ${clock}:${two(rest % MINUTE)}`;
}

/** Distances between the marks of a time axis, s. */
const TIME_MARKS = [1, 2, 5, 10, 30, 60, 120, 300, 600, 1800, 3600, 7200, 21600, 43200, ...[1, 2, 5, 10, 20, 50, 100, 200, 500, 1000].map((days) => days * DAY)];
