// Values at moments, as what each stretch of time has of them: their mean, or the largest.

import { above, addUp } from "../numbers.js";

/** Return the place of the first moment of each stretch between two times, and behind the last one: one more than there are stretches. */
function bounds(at, from, to, stretches) {
  const length = (to - from) / stretches;
  return Array.from({ length: stretches + 1 }, (_, index) => above(at, index ? from + index * length : from - 1e-9));
}

/** Means of values of which `weight` stand at each moment and make `sum` together; null where there is none. */
export class Means {
  constructor(at, sum, weight) {
    Object.assign(this, { at, sum: addUp(Float64Array.from(sum)), weight: addUp(Float64Array.from(weight)) });
  }

  means(from, to, stretches) {
    const places = bounds(this.at, from, to, stretches);
    const upTo = (sums, place) => (place ? sums[place - 1] : 0);
    return Array.from({ length: stretches }, (_, index) => {
      const [sum, weight] = [this.sum, this.weight].map((sums) => upTo(sums, places[index + 1]) - upTo(sums, places[index]));
      return weight > 0 ? sum / weight : null;
    });
  }
}

/** The largest of the values in each stretch; null where there is none. */
export class Largest {
  constructor(at, values) {
    Object.assign(this, { at, values });
  }

  means(from, to, stretches) {
    const places = bounds(this.at, from, to, stretches);
    return Array.from({ length: stretches }, (_, index) => {
      let largest = null;
      for (let place = places[index]; place < places[index + 1]; place++) {
        if (largest === null || this.values[place] > largest) largest = this.values[place];
      }
      return largest;
    });
  }
}
