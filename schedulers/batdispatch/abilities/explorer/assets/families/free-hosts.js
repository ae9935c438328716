// How the free hosts of a run's machine hang together over time, looked at where the middle of each of some stretches lies.

import { above } from "../numbers.js";
import { Pieces } from "./pieces.js";

/** Hosts, routers and cables that are looked at for one view: some tens of milliseconds. */
const EFFORT = 8e6;
const LEAST = 40, MOST = 600;

export class FreeHosts {
  constructor(run, { machine: { network }, away }) {
    Object.assign(this, { run, network, away, pieces: new Pieces(network), seen: "" });
    const effort = network.hosts + network.routers + network.one.length;
    this.most = Math.max(LEAST, Math.min(MOST, Math.floor(EFFORT / effort)));
  }

  /** Return for each stretch what `Pieces.of` does; the larger the machine, the more stretches share one look. */
  over(from, to, stretches) {
    const looks = Math.min(stretches, this.most);
    const wanted = `${from} ${to} ${looks}`;
    if (this.seen !== wanted) Object.assign(this, { seen: wanted, found: this.#look(from, to, looks) });
    return Array.from({ length: stretches }, (_, index) => this.found[Math.floor(((index + 0.5) * looks) / stretches)]);
  }

  #look(from, to, looks) {
    const { run, away, network, pieces } = this;
    const step = (to - from) / looks;
    // The first look that is not before a time.
    const look = (time) => Math.min(looks, Math.max(0, Math.ceil((time - from) / step - 0.5)));
    const come = Array.from({ length: looks + 1 }, () => []), gone = Array.from({ length: looks + 1 }, () => []);
    const seen = (begin, end, first, last) => {
      // What comes and goes between two looks is never seen.
      if (look(begin) === look(end)) return;
      come[look(begin)].push([first, last]);
      gone[look(end)].push([first, last]);
    };
    const low = above(run.latest, from), high = above(run.order, to, (place) => run.start[run.order[place]]);
    for (const segment of run.order.subarray(low, high)) {
      for (let part = run.at[segment]; part < run.at[segment + 1]; part++) {
        seen(run.start[segment], run.end[segment], run.first[part], run.last[part]);
      }
    }
    away.host.forEach((host, place) => seen(away.begin[place], away.end[place], host, host));
    const held = new Int32Array(network.hosts), free = new Uint8Array(network.hosts);
    const change = (hosts, by) => {
      for (const [first, last] of hosts) for (let host = first; host <= last; host++) held[host] += by;
    };
    return Array.from({ length: looks }, (_, index) => {
      change(come[index], 1);
      change(gone[index], -1);
      for (let host = 0; host < free.length; host++) free[host] = network.compute[host] && !held[host] ? 1 : 0;
      return pieces.of(free);
    });
  }
}
