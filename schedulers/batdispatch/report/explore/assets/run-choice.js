// Which runs are in view: a box for each, and all or a few at once.

import { element, make } from "./dom.js";
import { key } from "./look.js";

export function offerRuns(explorer) {
  const { table } = explorer;
  const place = element("runs");
  place.hidden = table.runs.length < 2;
  if (place.hidden) return;
  const boxes = table.runs.map((run, index) => {
    const box = make("input", "", { type: "checkbox", value: index });
    box.addEventListener("change", () => {
      const wanted = table.runs.filter((_, place) => boxes[place].checked);
      // One is always in view.
      explorer.showRuns(wanted.length ? wanted : [run]);
    });
    place.append(make("label", [box, key(run), run.label]));
    return box;
  });
  element("runs-all").addEventListener("click", () => explorer.showRuns(table.runs));
  element("runs-few").addEventListener("click", () => explorer.showFew());
  const tick = () => boxes.forEach((box, index) => (box.checked = explorer.shown.includes(table.runs[index])));
  explorer.on(["runs"], tick);
  tick();
}
