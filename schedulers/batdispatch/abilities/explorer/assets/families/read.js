// What families.py tells of machines, I/O nodes and runs.

import { readColumns, unfold } from "../decode.js";
import { addUp } from "../numbers.js";

/**
 * Return by run what is known of it beyond its jobs, a map; runs on plain hosts are not in it:
 * - machine: see `readMachine`; asked: of each job the I/O nodes that it asks for, as places in machine.storage, or null;
 * - away: {begin, end, host} of each time that a host was away;
 * - load: {used, shared, busiest} links behind each moment at which a segment starts or ends, or null;
 * - parts: the nodes of each segment, `at` where those of a segment begin, `first` and `last` node of each part, and by resource the `amount`
 *   that is held on each of its nodes; or null; licences: by name what each segment holds.
 */
export async function readFamilies({ families, runs }) {
  const tables = await readColumns(families);
  const machines = families.machines.map((facts, index) => readMachine(facts, tables[index]));
  const asked = tables.slice(machines.length, machines.length + families.asking).map(readAsked);
  const left = tables.slice(machines.length + families.asking);
  const known = new Map();
  families.runs.forEach((facts, index) => {
    if (!facts) return;
    const machine = machines[facts.machine];
    known.set(runs[index], { machine, asked: asked[facts.asking] ?? null, ...readRun(left.shift(), machine) });
  });
  return known;
}

const summed = (column) => Int32Array.from(addUp(column.map(unfold)));

/** Return a machine: number of hosts, storage [[host, name]], names of resources with the capacity of each host, licences, and its network or null. */
function readMachine(facts, columns) {
  const capacity = new Map(facts.resources.map((name) => [name, addUp(columns[`capacity ${name}`].map(unfold))]));
  return { ...facts, capacity, network: facts.network && readNetwork(facts, columns) };
}

/**
 * Return a network: of each host the plane (-1: none), column and row of its place on the map, and its router (-1: none); which hosts run
 * jobs; the routers `one` and `other` that each cable joins; and which routers no host stands on.
 */
function readNetwork({ network, hosts, storage }, columns) {
  const plane = summed(columns.plane).map((value) => value - 1);
  const router = summed(columns.router).map((value) => value - 1);
  const compute = Uint8Array.from(router, (where) => (where < 0 ? 0 : 1));
  for (const [host] of storage) compute[host] = 0;
  const empty = new Uint8Array(network.routers).fill(1);
  for (const where of router) if (where >= 0) empty[where] = 0;
  const one = Int32Array.from(addUp(columns.one)), other = summed(columns.other);
  return { ...network, hosts, plane, column: summed(columns.column), row: summed(columns.row), router, compute, one, other, empty };
}

function readAsked({ asked, node }) {
  let place = 0;
  return Array.from(asked, (count) => Array.from(node.subarray(place, (place += count))));
}

function readRun(columns, machine) {
  const begin = addUp(columns.away), end = columns.length.map((length, place) => length + begin[place]);
  const load = columns.used ? { used: summed(columns.used), shared: summed(columns.shared), busiest: summed(columns.busiest) } : null;
  const licences = new Map(machine.licences.map(([name]) => [name, columns[`licence ${name}`]]).filter(([, held]) => held));
  return { away: { begin, end, host: columns.host }, load, licences, parts: columns.parts ? readParts(columns, machine) : null };
}

function readParts(columns, machine) {
  const at = new Uint32Array(columns.parts.length + 1);
  columns.parts.forEach((count, segment) => (at[segment + 1] = at[segment] + count));
  const first = summed(columns.first), last = first.map((node, part) => node + columns.more[part]);
  return { at, first, last, amount: new Map(machine.resources.map((name) => [name, columns[`amount ${name}`]])) };
}
