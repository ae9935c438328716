// What a job asked, waited and got, beside the pointer.

import { element, make } from "../dom.js";
import { ranFor } from "../lineage.js";
import { duration, number } from "../words.js";

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
  const user = table.users[table.user[job]];
  const limit = table.walltime[job] ? ` for ${duration(table.walltime[job] - 1)}` : "";
  const took = ranFor(run, job) / table.second;
  const said = [
    make("strong", table.name(job)),
    ` ${user ? `of ${user}, ` : ""}${number(table.units[job])} units${limit}`,
    make("br"),
    `waited ${duration(run.wait[job] / table.second)}, ran ${duration(took)}`,
  ];
  if (part) said.push(make("br"), part);
  showText(said, event);
}
