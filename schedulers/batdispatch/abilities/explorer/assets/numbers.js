// Searching and adding up arrays of numbers.

/** Make each value of an array the sum of those up to it, and return the array. */
export function addUp(values) {
  for (let index = 1; index < values.length; index++) values[index] += values[index - 1];
  return values;
}

/** Return the values at some places, Float64Array; Float64Array.from() with a function takes several times as long. */
export function valuesAt(places, read) {
  const values = new Float64Array(places.length);
  for (let index = 0; index < places.length; index++) values[index] = read(places[index]);
  return values;
}

/** Return the places of values from the smallest on; of equal ones, the first comes first. */
export function sortedBy(values) {
  // Numbers sort much faster than with a comparison of our own: whole ones of less than 2^53 leave room for the place.
  const base = 2 ** Math.ceil(Math.log2(values.length + 1));
  if (values.some((value) => value < 0 || value * base >= Number.MAX_SAFE_INTEGER)) {
    return new Uint32Array(values.length).map((_, place) => place).sort((a, b) => values[a] - values[b] || a - b);
  }
  return new Uint32Array(values.map((value, place) => value * base + place).sort().map((value) => value % base));
}

/** Return the first place in an ascending array whose value exceeds a limit. */
export function above(values, limit, read = (place) => values[place]) {
  let low = 0, high = values.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (read(middle) > limit) high = middle;
    else low = middle + 1;
  }
  return low;
}
