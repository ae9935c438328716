// What all pictures share: margins, the page's inks, and the colour that stands for a run.

import { make } from "./dom.js";

/** Margins of every chart, px: the time axis begins and ends at the same place in all of them. */
export const LEFT = 64;
export const RIGHT = 12;

const SERIES = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00"];

/** Return how the line of a run looks: its colour, and its dashes once all colours are taken. */
export function line(run) {
  return { stroke: SERIES[run.index % SERIES.length], dash: run.index >= SERIES.length ? [6, 3] : undefined };
}

/** Return how the line of a run looks that is there to compare others with. */
export const faintLine = () => ({ stroke: ink("--line"), width: 1 });

/** Return the spot of colour that stands beside the name of a run or a class. */
export const spot = (colour) => make("span", "", { class: "key", style: `background: ${colour}` });
export const key = (run) => spot(line(run).stroke);

/** Return a colour of the page's style, such as --ink. */
export const ink = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

/** Whether the page is dark, and who wants to know when that changes. */
export const dark = matchMedia("(prefers-color-scheme: dark)");

/** How many pixels of the screen one of the page's has. */
export const density = () => window.devicePixelRatio || 1;
