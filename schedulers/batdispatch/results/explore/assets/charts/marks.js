// Where an axis has marks: at round numbers, and at moments that people know.

import { TIME_MARKS } from "../words.js";

/** Return at most about `most` round numbers between two values. */
export function roundMarks(low, high, most) {
  if (!(high > low)) return [low];
  const least = (high - low) / most, power = 10 ** Math.floor(Math.log10(least));
  const step = [1, 2, 5, 10].map((times) => times * power).find((one) => one >= least * (1 - 1e-9));
  return between(low, high, step);
}

/** Return moments between two, s, so that each has so many pixels of the width at least. */
export function timeMarks(from, to, width, room) {
  const least = ((to - from) * room) / width;
  return between(from, to, TIME_MARKS.find((step) => step >= least) ?? TIME_MARKS.at(-1));
}

function between(low, high, step) {
  const first = Math.ceil(low / step - 1e-9), last = Math.floor(high / step + 1e-9);
  return Array.from({ length: Math.max(0, last - first + 1) }, (_, index) => (first + index) * step);
}
