// The explorer: what people do in a report with the jobs of some runs: how it is built, and how it begins.
//
// One state. `Explorer` (explorer.js) has all that can change: the view, the runs in view, the chosen jobs, the pair of runs, the job that is
// looked at, the colours. Parts change it through its methods alone, hear of it by `explorer.on([event], act)`, and never call each other,
// except that who needs another part is given it here.
// One time axis. `View` (view.js) says what is in view. Times are those of the table: whole units from its begin (decode.js).
// One list each. A chart has the interface that charts/all.js states, a curve is a record that curves/all.js describes; a new one is a file
// and a name in that list. `Layout` makes, resizes, paints and destroys charts, and nothing else does.
// Painting once a frame. Who draws hears of `frame`, or is a chart; nobody paints when something changes.
// Numbers before pictures. What is computed (numbers.js, changes.js, curves/, classes.js) does not know the page; words.js says how
// numbers, durations and moments are written, look.js has margins and colours, dom.js makes elements.
// What only some pages have (families/) comes in by `begin(extend)`, so that other pages do not carry it.
// Modules. Each has one purpose, and says in its first line which. `bundle.py` puts those that are imported into one script, since a page has
// one: an import names each thing it takes, an export stands before what it exports, and no module imports itself by a detour.

import { addressState } from "./address.js";
import { useDates } from "./calendar.js";
import { layOutCards } from "./cards.js";
import { CHARTS } from "./charts/all.js";
import { offerColours } from "./colouring.js";
import { readTable } from "./decode.js";
import { dimensions } from "./dimensions.js";
import { Explorer } from "./explorer.js";
import { Filters } from "./filters.js";
import { listenToFind } from "./find.js";
import { tellOfInstants } from "./instant.js";
import { tellOfJob } from "./job.js";
import { Layout } from "./layout.js";
import { navigate } from "./navigation.js";
import { Pair } from "./pair.js";
import { openPanel } from "./panel.js";
import { offerPaper } from "./paper.js";
import { rank } from "./ranked.js";
import { tellOfRuns } from "./runs.js";
import { offerPicture } from "./save.js";
import { Strip } from "./strip.js";
import { Who } from "./who.js";

/**
 * Begin, if the page has jobs and the browser can read them. `extend` makes an explorer more than one of plain hosts: it may add to it, and
 * returns further kinds of charts, `first` above all others and `last` below them (families/main.js).
 */
export async function begin(extend = () => ({ first: [], last: [] })) {
  const data = document.getElementById("explore-data");
  if (!data || typeof DecompressionStream === "undefined") return;
  const { reasons, ...header } = JSON.parse(data.textContent);
  useDates(header.dates);
  const explorer = new Explorer(await readTable(header), reasons);
  document.documentElement.classList.add("explored");
  document.getElementById("explore").hidden = false;
  layOutCards();
  const filters = new Filters(explorer, dimensions(explorer));
  listenToFind(explorer, filters);
  tellOfRuns(explorer);
  offerColours(explorer);
  navigate(explorer);
  new Strip(explorer);
  tellOfJob(explorer);
  tellOfInstants(explorer);
  openPanel(explorer);
  rank(explorer);
  new Who(explorer, filters);
  new Pair(explorer);
  const { first, last } = await extend(explorer);
  explorer.layout = new Layout(explorer, [...first, ...CHARTS, ...last]);
  offerPicture(explorer);
  offerPaper(explorer);
  addressState(explorer, filters);
  // For the browser's console, and for tests.
  window.explorer = explorer;
}
