// How free hosts hang together: the connected pieces of core/machine/topology/pieces.py, found by joining trees.

export class Pieces {
  constructor(network) {
    this.network = network;
    this.parent = new Int32Array(network.routers);
    this.size = new Int32Array(network.routers);
    this.inside = new Uint8Array(network.routers);
  }

  /** Return how many hosts are free, in how many pieces, and how many the largest has; `free` has 1 for each free host. */
  of(free) {
    const { parent, size, inside } = this;
    const { router, one, other, empty } = this.network;
    size.fill(0);
    inside.set(empty);
    let count = 0;
    free.forEach((is, host) => {
      if (!is || router[host] < 0) return;
      count++;
      size[router[host]]++;
      inside[router[host]] = 1;
    });
    for (let place = 0; place < parent.length; place++) parent[place] = place;
    for (let cable = 0; cable < one.length; cable++) {
      if (inside[one[cable]] && inside[other[cable]]) this.#join(this.#root(one[cable]), this.#root(other[cable]));
    }
    let pieces = 0, largest = 0;
    for (let place = 0; place < parent.length; place++) {
      if (parent[place] !== place || !size[place]) continue;
      pieces++;
      largest = Math.max(largest, size[place]);
    }
    return { free: count, pieces, largest };
  }

  #root(router) {
    const { parent } = this;
    while (parent[router] !== router) {
      parent[router] = parent[parent[router]];
      router = parent[router];
    }
    return router;
  }

  #join(one, other) {
    if (one === other) return;
    const [low, high] = one < other ? [one, other] : [other, one];
    this.parent[high] = low;
    this.size[low] += this.size[high];
    this.size[high] = 0;
  }
}
