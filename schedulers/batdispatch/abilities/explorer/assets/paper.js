// What paper has of the explorer: who ran where and when, as it is in view, in inks for white paper.

import { element } from "./dom.js";
import { dark } from "./look.js";
import { vectorPicture } from "./vector.js";

/** Width of the picture, px, so that its letters are as large as those of the page on paper, and height of a chart. */
const WIDTH = 860, TALL = 84;
/** Most charts: of more, a page has no room for anything else. */
const MOST = 4;

export function offerPaper(explorer) {
  addEventListener("beforeprint", () => {
    const charts = explorer.layout.charts.filter((chart) => chart.onPaper?.(dark.matches)).slice(0, MOST);
    element("paper").querySelector("div").replaceChildren(vectorPicture(explorer, { charts, width: WIDTH, tall: TALL }));
  });
}
