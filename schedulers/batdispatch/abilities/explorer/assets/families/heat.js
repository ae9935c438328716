// What a heat map shows: rows over time, as shares of what each row has, or as numbers of jobs.

import { above } from "../numbers.js";
import { TimeGrid } from "./time-grid.js";

/** Return the segments that a view may show, by start. */
function inView(run, from, to) {
  return run.order.subarray(above(run.latest, from), above(run.order, to, (place) => run.start[run.order[place]]));
}

/**
 * Return what heat maps of a run can show, by name:
 * - title and about: in its caption; unit: "share" or "jobs"; rows: how many there are; row(first, last): what some of them are called;
 * - values(from, to, columns, most, chosen): {values, rows, scale, most}, the mean of each of so many stretches of equal length for each of at
 *   most so many rows, the first row first, NaN where there is nothing; how many rows there are, how many of all each of them stands for, and
 *   the largest value that there can be.
 */
export function heatsOf(run, family) {
  const found = new Map();
  const { machine, parts, asked } = family;
  for (const name of machine.resources) if (parts) found.set(name, ofResource(run, family, name));
  if (asked) found.set("I/O nodes", ofNodes(run, family));
  return found;
}

/** The share of a resource of each node that jobs hold; of a large machine, some nodes share a row. */
function ofResource(run, { machine, parts }, name) {
  const capacity = machine.capacity.get(name), amount = parts.amount.get(name);
  return {
    rows: machine.hosts,
    unit: "share",
    title: name,
    about: `share of each node's ${name} that jobs hold`,
    row: (first, last) => (first === last ? `node ${first}` : `nodes ${first} to ${last}`),
    values(from, to, columns, most, chosen) {
      const scale = Math.ceil(machine.hosts / most), rows = Math.ceil(machine.hosts / scale);
      const grid = new TimeGrid(rows, columns, from, to);
      for (const segment of inView(run, from, to)) {
        if (run.end[segment] <= from || !chosen[run.job[segment]]) continue;
        for (let part = parts.at[segment]; part < parts.at[segment + 1]; part++) {
          const first = parts.first[part], last = parts.last[part];
          for (let row = Math.floor(first / scale); row * scale <= last; row++) {
            const nodes = Math.min(last, (row + 1) * scale - 1) - Math.max(first, row * scale) + 1;
            grid.add(row, run.start[segment], run.end[segment], nodes * amount[part]);
          }
        }
      }
      const whole = new Float64Array(rows);
      capacity.forEach((value, host) => (whole[Math.floor(host / scale)] += value));
      // A node that has none of the resource is no part of the picture.
      const values = grid.means().map((value, place) => (whole[Math.floor(place / columns)] ? value / whole[Math.floor(place / columns)] : NaN));
      return { values, rows, scale, most: 1 };
    },
  };
}

/** How many jobs that run ask for each I/O node. */
function ofNodes(run, { machine, asked }) {
  return {
    rows: machine.storage.length,
    unit: "jobs",
    title: "I/O nodes",
    about: "jobs that run and ask for each I/O node",
    row: (node) => machine.storage[node][1],
    values(from, to, columns, _, chosen) {
      const rows = machine.storage.length;
      const grid = new TimeGrid(rows, columns, from, to);
      for (const segment of inView(run, from, to)) {
        const job = run.job[segment];
        if (run.end[segment] <= from || !chosen[job]) continue;
        for (const node of asked[job]) grid.add(node, run.start[segment], run.end[segment], 1);
      }
      const values = grid.means();
      return { values, rows, scale: 1, most: values.reduce((one, other) => Math.max(one, other), 1) };
    },
  };
}
