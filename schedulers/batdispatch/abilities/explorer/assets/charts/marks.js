// Where an axis has marks: at round numbers, and at moments that people know.

import { RIGHT } from "../look.js";
import { markTexts } from "../calendar.js";
import { DURATION_MARKS } from "../words.js";

/** Width of a character of an axis, px. */
const CHARACTER = 6.2;

/** Return at most about `most` round numbers between two values. */
export function roundMarks(low, high, most) {
  if (!(high > low)) return [low];
  const least = (high - low) / most, power = 10 ** Math.floor(Math.log10(least));
  const step = [1, 2, 5, 10].map((times) => times * power).find((one) => one >= least * (1 - 1e-9));
  return between(low, high, step);
}

/** Return at most about `most` durations between two, s: whole seconds, minutes, hours or days, or round parts of a second. */
export function durationMarks(low, high, most) {
  const least = (high - low) / most;
  const step = least > 1 ? DURATION_MARKS.find((one) => one >= least * (1 - 1e-9)) : undefined;
  return step ? between(low, high, step) : roundMarks(low, high, most);
}

/** Return what is written at each mark of a time axis of some width: nothing where the right edge would cut it. */
export function momentTexts(marks, view, width) {
  const [from, to] = [view.seconds(view.from), view.seconds(view.to)];
  return markTexts(marks).map((text, index) => {
    const right = ((to - marks[index]) / (to - from)) * width;
    return (text.length * CHARACTER) / 2 > right + RIGHT ? "" : text;
  });
}

/** Return what is written at a round value, without zeros behind its last digit. */
export const markText = (text) => text.replace(/(\.\d*?)0+(?!\d)/, "$1").replace(/\.(?!\d)/, "");

function between(low, high, step) {
  const first = Math.ceil(low / step - 1e-9), last = Math.floor(high / step + 1e-9);
  return Array.from({ length: Math.max(0, last - first + 1) }, (_, index) => (first + index) * step);
}
