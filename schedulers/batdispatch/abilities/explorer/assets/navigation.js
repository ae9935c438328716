// Moving along the time axis and from job to job by keys and buttons, and what is in view in words.

import { moment } from "./calendar.js";
import { element } from "./dom.js";
import { DAY, HOUR, duration } from "./words.js";

const UNITS = { hour: HOUR, day: DAY, week: 7 * DAY, month: 30 * DAY };

export function navigate(explorer) {
  const { table, view } = explorer;
  const keys = {
    ArrowLeft: () => view.turn(-1),
    ArrowRight: () => view.turn(1),
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
  for (const name of ["charts", "strip", "panel"]) {
    element(name).addEventListener("keydown", (event) => {
      // In a slider and in a selection these keys mean something else.
      if (event.ctrlKey || event.metaKey || event.altKey || !(event.key in keys) || event.target.closest("input, select, [role=region]")) return;
      event.preventDefault();
      keys[event.key]();
    });
  }
  for (const [unit, length] of Object.entries(UNITS)) {
    element(unit).disabled = length * table.second > table.length;
    element(unit).addEventListener("click", () => view.showUnit(unit));
  }
  explorer.on(["frame"], () => {
    const ends = [view.from, view.to].map((time) => moment(view.seconds(time), view.span));
    for (const unit of Object.keys(UNITS)) element(unit).setAttribute("aria-pressed", view.unit === unit);
    const day = view.unit === "day" && ends[0].endsWith(" 00:00");
    const stretch = day ? ends[0].slice(0, -" 00:00".length) : `${ends[0]} to ${ends[1]}`;
    element("view").textContent = `${stretch} (${duration(view.span)})`;
  });
}
