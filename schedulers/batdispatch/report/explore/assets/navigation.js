// Moving along the time axis and from job to job by keys and buttons, and what is in view in words.

import { element } from "./dom.js";
import { DAY, HOUR, duration, moment } from "./words.js";

const LENGTHS = { hour: HOUR, day: DAY, week: 7 * DAY };

export function navigate(explorer) {
  const { table, view } = explorer;
  const keys = {
    ArrowLeft: () => view.pan(-0.25),
    ArrowRight: () => view.pan(0.25),
    "+": () => view.zoom(0.5),
    "=": () => view.zoom(0.5),
    "-": () => view.zoom(2),
    Home: () => view.showAll(),
    n: () => explorer.step(1),
    p: () => explorer.step(-1),
    m: () => explorer.lookAt((view.from + view.to) / 2),
    Escape: () => {
      explorer.choose(-1);
      explorer.lookAt(null);
    },
  };
  const buttons = { left: "ArrowLeft", right: "ArrowRight", in: "+", out: "-", all: "Home" };
  for (const [name, key] of Object.entries(buttons)) element(name).addEventListener("click", keys[key]);
  for (const name of ["charts", "strip"]) {
    element(name).addEventListener("keydown", (event) => {
      // In a slider and in a selection these keys mean something else.
      if (event.ctrlKey || event.metaKey || event.altKey || !(event.key in keys) || event.target.closest("input, select")) return;
      event.preventDefault();
      keys[event.key]();
    });
  }
  for (const [name, length] of Object.entries(LENGTHS)) {
    element(name).disabled = length * table.second > table.length;
    element(name).addEventListener("click", () => view.zoomTo(length));
  }
  explorer.on(["frame"], () => {
    const ends = [view.from, view.to].map((time) => moment(view.seconds(time), view.span));
    element("view").textContent = `${ends[0]} to ${ends[1]} (${duration(view.span)})`;
  });
}
