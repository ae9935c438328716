// Hosts by name, and which of them are idle at a moment.

import { holders } from "./holders.js";
import { counted, number } from "./words.js";

/** Most stretches of hosts that are named one by one. */
const MOST_NAMED = 12;

/** Return the name of a host, or its number where the page knows no names. */
export function hostName({ host_names: names }, host) {
  let first = 0;
  for (const [prefix, width, from, count, suffix] of names) {
    if (host < first + count) return width < 0 ? prefix : prefix + String(from + host - first).padStart(width, "0") + suffix;
    first += count;
  }
  return number(host);
}

/** Return a property of a host that tells it from others, such as what it offers; "" if all are alike. */
function kindOf({ host_names: names }, host) {
  let first = 0;
  for (const [, , , count, , kind] of names) {
    if (host < first + count) return kind;
    first += count;
  }
  return "";
}

/** Return stretches of hosts, [first, last] each, by name; the first ones if there are many. */
function named(table, stretches) {
  const names = stretches.slice(0, MOST_NAMED).map((ends) => [...new Set(ends)].map((host) => hostName(table, host)).join("–"));
  const left = stretches.slice(MOST_NAMED).reduce((sum, [first, last]) => sum + last - first + 1, 0);
  return `${names.join(", ")}${left ? ` and ${counted(left, "more host")}` : ""}`;
}

/** Return how many hosts a segment of a run holds, and which; only how many where rows of the chart stand for several hosts. */
export function heldHosts(table, run, segment) {
  const many = counted(run.held[segment], "host");
  if (table.scale > 1) return many;
  const parts = Array.from({ length: run.at[segment + 1] - run.at[segment] }, (_, index) => run.at[segment] + index);
  return `${many}: ${named(table, parts.map((part) => [run.first[part], run.last[part]]))}`;
}

/** Return how many hosts of a run are idle at a time, and which in words, by kind and name; null where rows of the chart stand for several hosts. */
export function idleHosts(table, run, time) {
  if (table.scale > 1) return null;
  const holding = holders(run, time, run.hosts);
  const kinds = new Map();
  let count = 0;
  for (let host = 0; host < run.hosts; host++) {
    if (holding[host] >= 0) continue;
    count++;
    const kind = kindOf(table, host), stretches = kinds.get(kind) ?? [];
    kinds.set(kind, stretches);
    if (stretches.length && stretches.at(-1)[1] === host - 1) stretches.at(-1)[1] = host;
    else stretches.push([host, host]);
  }
  return { count, words: [...kinds].map(([kind, stretches]) => `${kind ? `${kind}: ` : ""}${named(table, stretches)}`).join("; ") };
}
