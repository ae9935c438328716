// Moments as people name them: dates in the log's time zone where the log has them, else days since the simulation's begin.

import { DAY, HOUR, NBSP } from "./words.js";

const MINUTE = 60;
/** Distances between marks of a time axis that are shorter than a day, and days between others where there are no dates, s. */
const STEPS = [1, 2, 5, 10, 30, 60, 120, 300, 600, 1800, HOUR, 2 * HOUR, 6 * HOUR, 12 * HOUR];
const DAYS = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000].map((days) => days * DAY);
const MONTHS = [1, 2, 3, 6, 12, 24, 60, 120];
const NAMES = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
const WEEKDAYS = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"];
/** 1970 began on a Thursday, this many days after a Monday; and a span of so many days is told without weekdays and hours. */
const MONDAY = -3 * DAY, LONG = 20 * DAY;

/** What data.py says of dates: {begin, zone, offsets}; null: none. */
let dates = null;

export function useDates(told) {
  dates = told;
}

/** Return the name of the log's time zone; "" if it has no dates. */
export const zone = () => (dates ? dates.zone.replaceAll("_", " ") : "");

function offsetAt(seconds) {
  let found = dates.offsets[0][1];
  for (const [from, offset] of dates.offsets) if (from <= seconds) found = offset;
  return found;
}

/** Return what a clock on the wall shows at a moment, s: since 1970, or since the begin. */
const shownAt = (seconds) => (dates ? seconds + dates.begin + offsetAt(seconds) : seconds);

/** Return the moment at which a clock on the wall shows something. */
function momentOf(shown) {
  if (!dates) return shown;
  const found = dates.offsets.map(([, offset]) => [shown - dates.begin - offset, offset]).find(([at, offset]) => offsetAt(at) === offset);
  return found ? found[0] : shown - dates.begin - offsetAt(shown - dates.begin);
}

const two = (value) => String(Math.floor(value)).padStart(2, "0");
const clock = (shown) => `${two((((shown % DAY) + DAY) % DAY) / HOUR)}:${two((((shown % HOUR) + HOUR) % HOUR) / MINUTE)}`;

function dayOf(shown, { weekday = false, year = false } = {}) {
  if (!dates) return `day${NBSP}${Math.floor(shown / DAY)}`;
  const date = new Date(shown * 1000);
  const parts = [weekday && WEEKDAYS[date.getUTCDay()], date.getUTCDate(), NAMES[date.getUTCMonth()], year && date.getUTCFullYear()];
  return parts.filter(Boolean).join(NBSP);
}

/** Return a moment in words; the shorter what is in view, the more precise. */
export function moment(seconds, span) {
  const shown = shownAt(seconds);
  if (span > LONG) return dayOf(shown, { year: true });
  const precise = span > 3 * HOUR ? "" : `:${two(((shown % MINUTE) + MINUTE) % MINUTE)}`;
  return `${dayOf(shown, { weekday: true, year: true })} ${clock(shown)}${precise}`;
}

/** Return the hour, day, week (from Monday) or month of a moment: [begin, end], s. */
export function limits(seconds, unit) {
  const shown = shownAt(seconds);
  if (unit === "month" && dates) {
    const date = new Date(shown * 1000);
    const first = (more) => momentOf(Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + more, 1) / 1000);
    return [first(0), first(1)];
  }
  const length = { hour: HOUR, day: DAY, week: 7 * DAY, month: 30 * DAY }[unit];
  const shift = unit === "week" && dates ? MONDAY : 0;
  const begin = Math.floor((shown - shift) / length) * length + shift;
  return [momentOf(begin), momentOf(begin + length)];
}

/**
 * Return the stretch of time that a text names: [begin, end], s; null: it names none. Read are 1997-03-04, 4 Mar 1997, either with a time of day,
 * 1997-03 and Mar 1997, and day 12, day 12 14:30 where there are no dates.
 */
export function stretchOf(text) {
  const time = text.match(/[T ](\d{1,2}):(\d\d)(?::(\d\d))?$/);
  const day = (time ? text.slice(0, time.index) : text).trim();
  const begin = dates ? dateOf(day) : dayNumber(day);
  if (!begin) return null;
  if (!time) return limits(momentOf(begin.shown), begin.unit);
  const [hours, minutes, seconds] = time.slice(1).map((part) => Number(part ?? 0));
  const at = momentOf(begin.shown + hours * HOUR + minutes * MINUTE + seconds);
  return begin.unit === "day" && hours < 24 && minutes < 60 ? [at - HOUR / 2, at + HOUR / 2] : null;
}

function dayNumber(text) {
  const found = text.match(/^day\s*(\d{1,6})$/i);
  return found && { shown: Number(found[1]) * DAY, unit: "day" };
}

function dateOf(text) {
  const iso = text.match(/^(\d{4})-(\d\d)(?:-(\d\d))?$/), words = text.match(/^(?:[a-z]{3} )?(?:(\d{1,2})\.? )?([a-z]{3})[a-z]* (\d{4})$/i);
  const month = words ? NAMES.findIndex((name) => name.toLowerCase() === words[2].toLowerCase()) : iso ? Number(iso[2]) - 1 : -1;
  if (month < 0 || month > 11) return null;
  const [year, day] = iso ? [iso[1], iso[3]] : [words[3], words[1]];
  const shown = Date.UTC(Number(year), month, Number(day ?? 1)) / 1000;
  return new Date(shown * 1000).getUTCMonth() === month ? { shown, unit: day ? "day" : "month" } : null;
}

/** Return moments between two, s, at round times of day, days, Mondays or first days of months, so that each has so many pixels at least. */
export function timeMarks(from, to, width, room) {
  const least = ((to - from) * room) / width;
  const steps = [...STEPS, ...(dates ? [DAY, 2 * DAY, 7 * DAY] : DAYS)];
  const step = steps.find((one) => one >= least);
  if (step === undefined && dates) return monthMarks(from, to, least);
  const wide = step ?? steps.at(-1), shift = wide === 7 * DAY ? MONDAY : 0;
  const first = Math.ceil((shownAt(from) - shift) / wide - 1e-9), last = Math.floor((shownAt(to) - shift) / wide + 1e-9);
  const marks = Array.from({ length: Math.max(0, last - first + 1) }, (_, index) => momentOf((first + index) * wide + shift));
  return marks.filter((mark, index) => !index || mark > marks[index - 1]);
}

function monthMarks(from, to, least) {
  const step = MONTHS.find((months) => months * 28 * DAY >= least) ?? MONTHS.at(-1);
  const marks = [];
  const date = new Date(shownAt(from) * 1000);
  for (let month = Math.floor(date.getUTCMonth() / step) * step; ; month += step) {
    const mark = momentOf(Date.UTC(date.getUTCFullYear(), month, 1) / 1000);
    if (mark > to) return marks;
    if (mark >= from) marks.push(mark);
  }
}

/** Return what stands at each mark of a time axis: as much as tells it from its neighbours. */
export function markTexts(marks) {
  const apart = marks.length > 1 ? marks[1] - marks[0] : DAY;
  return marks.map((mark) => {
    const shown = Math.round(shownAt(mark));
    if (apart < 0.9 * DAY && shown % DAY) return apart < MINUTE ? `${clock(shown)}:${two(shown % MINUTE)}` : clock(shown);
    if (apart > 27 * DAY && dates) return `${NAMES[new Date(shown * 1000).getUTCMonth()]}${NBSP}${new Date(shown * 1000).getUTCFullYear()}`;
    return dayOf(shown, { weekday: apart < 6 * DAY });
  });
}

/** Return the hour of the day that a clock on the wall shows at a moment, from 0 to 23. */
export const hourOf = (seconds) => Math.floor((((shownAt(seconds) % DAY) + DAY) % DAY) / HOUR);
