// The explorer of a page with networks, I/O nodes or nodes that jobs share: it has more charts, and maps of a moment.

import { begin } from "../start.js";
import { heatCharts } from "./heat-chart.js";
import { familyCurves, held } from "./curves.js";
import { mapCharts } from "./map-chart.js";
import { Moment } from "./moment.js";
import { readFamilies } from "./read.js";

begin(async (explorer) => {
  explorer.table.families = await readFamilies(explorer.table);
  const used = explorer.table.shared ? held(explorer.table) : [];
  if (used.length) explorer.uses = used;
  explorer.moment = new Moment(explorer);
  // On a map, jobs beside each other should not look like one.
  if ([...explorer.table.families.values()].some((family) => family.machine.network)) explorer.colourBy("job");
  return { first: [mapCharts], last: [familyCurves, heatCharts] };
});
