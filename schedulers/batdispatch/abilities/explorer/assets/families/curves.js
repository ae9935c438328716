// Curves that some pages have: free hosts, links, I/O nodes and resources over time, as charts. See ../curves/all.js for what a curve is.

import { CurveChart } from "../charts/curve-chart.js";
import { Level, heldLevel } from "../curves/level.js";
import { number, percent } from "../words.js";
import { atRest } from "./at-rest.js";
import { FreeHosts } from "./free-hosts.js";
import { busiestNode } from "./io-nodes.js";

const plain = { scale: () => 1, range: () => null, format: number };
const share = { scale: () => 1, range: () => [0, 1], format: percent };

/** Return what a run's page knows beyond its jobs, if that has some part, else null. */
function knows(table, run, part) {
  const family = table.families.get(run);
  return family && part(family) ? family : null;
}

const someKnow = (part) => (table) => table.runs.some((run) => knows(table, run, part));

/** In a fat tree all free hosts are one piece, always. */
const inPieces = ({ machine: { network } }) => network && network.kind !== "fat tree";
const free = { applies: someKnow(inPieces), atRest: true, folded: "pieces of free hosts" };

/** Return means of what the free hosts of a run are at looks at them; null where these say nothing. */
function looks(table, run, value) {
  const family = knows(table, run, inPieces);
  if (!family) return null;
  family.free ??= new FreeHosts(run, family);
  return { means: (from, to, stretches) => family.free.over(from, to, stretches).map(value) };
}

const fragmentation = {
  ...free,
  ...share,
  name: "fragmentation",
  title: "Fragmentation",
  about: () => "share of the free hosts that lie outside of the largest connected piece of free hosts; hosts that are away are not free",
  level: (table, run) => looks(table, run, ({ free, largest }) => (free ? 1 - largest / free : null)),
};

const pieces = {
  ...free,
  ...plain,
  name: "pieces",
  title: "Free pieces",
  about: () => "connected pieces that the free hosts fall into",
  level: (table, run) => looks(table, run, ({ pieces }) => pieces),
};

/** Return the level of values from each start or end of a segment up to the next one. */
function steps(run, values) {
  const moments = Float64Array.from(new Set([...run.start, ...run.end])).sort();
  return new Level(moments, values.map((value, place) => value - (place ? values[place - 1] : 0)), [], []);
}

const load = (family) => family.load;
const UNSENT = "an allocation uses the links on the routes between its hosts, whether or not its job sends anything";

const sharedLinks = {
  ...share,
  name: "shared links",
  title: "Shared links",
  folded: "links",
  about: () => `share of the network's links that two or more jobs use: ${UNSENT}`,
  applies: someKnow(load),
  range: () => null,
  level(table, run) {
    const family = knows(table, run, load);
    return family && steps(run, Float64Array.from(family.load.shared, (links) => links / family.machine.network.links));
  },
};

const busiestLink = {
  ...plain,
  name: "busiest link",
  title: "Busiest link",
  folded: "links",
  about: () => "jobs on the link that most jobs use at the moment",
  applies: someKnow(load),
  level(table, run) {
    const family = knows(table, run, load);
    return family && steps(run, Float64Array.from(family.load.busiest));
  },
};

const asked = (family) => family.asked;

const ioNodes = {
  ...plain,
  name: "busiest I/O node",
  title: "Busiest I/O node",
  folded: "I/O nodes",
  about: () => "jobs that run and ask for the I/O node that most of them ask for at the moment",
  applies: someKnow(asked),
  level(table, run, chosen) {
    const family = knows(table, run, asked);
    return family && busiestNode(run, family, chosen);
  },
};

/** Return curves of the share of each resource and licence that jobs hold. */
export function held(table) {
  const families = [...table.families.values()];
  const parts = ({ parts }, name) => parts?.amount.get(name);
  const resources = new Set(families.flatMap((family) => family.machine.resources.filter((name) => parts(family, name))));
  const licences = new Set(families.flatMap((family) => [...family.licences.keys()]));
  const curve = (name, what, amounts) => ({
    ...share,
    name: `${what} ${name}`,
    title: `${name[0].toUpperCase()}${name.slice(1)}`,
    of: name,
    about: () => `share of the machine's ${what} ${name} that jobs hold`,
    level(table, run, chosen) {
      const family = knows(table, run, (family) => amounts(family, name));
      return family && heldLevel(run, chosen, amounts(family, name));
    },
  });
  return [
    ...Array.from(resources, (name) => curve(name, "resource", (family) => parts(family, name) && ofNodes(family, name))),
    ...Array.from(licences, (name) => curve(name, "licence", (family) => family.licences.has(name) && ofLicence(family, name))),
  ];
}

/** Return the share of a resource of all nodes that each segment holds. */
function ofNodes({ machine, parts }, name) {
  const total = machine.capacity.get(name).reduce((sum, amount) => sum + amount, 0);
  const amount = parts.amount.get(name);
  return Float64Array.from({ length: parts.at.length - 1 }, (_, segment) => {
    let sum = 0;
    for (let part = parts.at[segment]; part < parts.at[segment + 1]; part++) sum += (parts.last[part] - parts.first[part] + 1) * amount[part];
    return total ? sum / total : 0;
  });
}

function ofLicence({ machine, licences }, name) {
  const total = machine.licences.find(([licence]) => licence === name)[1];
  return licences.get(name).map((amount) => amount / total);
}

export function familyCurves(explorer) {
  const { table } = explorer;
  const curves = [fragmentation, pieces, sharedLinks, busiestLink, ioNodes].filter((curve) => curve.applies(table));
  return [...curves, ...held(table)].map((curve) => {
    const chart = new CurveChart(explorer, curve);
    return curve.atRest ? atRest(chart) : chart;
  });
}
