// What a job asked for, in words.

import { duration, ending, number } from "./words.js";

/** Return who asked: user and queue, as far as they are known. */
export function whose(table, job) {
  const user = table.users[table.user[job]], queue = table.queues[table.queue[job]];
  return [user && `of user ${user}`, queue && `in queue ${queue}`].filter(Boolean).join(" ");
}

/** Return what was asked for: units, what they need, and the limit of time. */
export function asked(table, job) {
  const needs = table.needs[table.needed[job]];
  const units = `${number(table.units[job])} ${table.units[job] === 1 ? "unit" : "units"}`;
  const limit = table.walltime[job] ? ` for at most ${duration(table.walltime[job] - 1)}` : "";
  return `${units}${needs ? ` (${needs})` : ""}${limit}`;
}

/** Return how a job ended in a run. */
export function ended(table, run, job) {
  return run.state[job] ? ending(table.states[run.state[job] - 1]) : "not in this run";
}
