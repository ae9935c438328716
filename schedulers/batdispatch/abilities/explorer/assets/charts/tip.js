// What a job asked, waited and got, beside the pointer.

import { asked, ended, whose } from "../asked.js";
import { element, make } from "../dom.js";
import { ranFor } from "../lineage.js";
import { duration, durationIn, number } from "../words.js";

export function hideTip() {
  element("tip").hidden = true;
}

/** Show a text, or a list of texts and elements, beside the pointer. */
export function showText(content, event) {
  const tip = element("tip");
  tip.hidden = false;
  tip.replaceChildren(...[content].flat());
  const room = document.documentElement.clientWidth - tip.offsetWidth - 8;
  tip.style.left = `${Math.max(4, Math.min(event.clientX + 14, room))}px`;
  tip.style.top = `${event.clientY + 16}px`;
}

/** Show what became of a job (-1: of none) in a run, and `part`: what is under the pointer of a job in several segments. */
export function showTip(table, run, job, event, part = "") {
  if (job < 0) return hideTip();
  const took = ranFor(run, job) / table.second;
  const held = run.held.subarray(run.of[job], run.of[job + 1]);
  const [fewest, most] = [Math.min(...held), Math.max(...held)];
  const hosts = `${fewest < most ? `${number(fewest)} to ` : ""}${number(most)} ${most === 1 ? "host" : "hosts"}`;
  const said = [
    make("strong", table.name(job)),
    ` ${whose(table, job)}`,
    make("br"),
    `asked ${asked(table, job)}`,
    make("br"),
    `waited ${durationIn(run.wait[job] / table.second, table.wait_units.longest)}`,
    make("br"),
    `got ${hosts} for ${duration(took)}, ${ended(table, run, job)}`,
  ];
  if (part) said.push(make("br"), part);
  showText(said, event);
}
