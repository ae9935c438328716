// How the planes of a map lie beside and below each other.

/** Between planes, above each for its name, and the largest side of a router, px. */
const GAP = 10, NAME = 15, LARGEST = 40;
/** Smaller routers make a map taller than it should be. */
const LEAST = 4;

/**
 * Return the arrangement with the largest routers that fits into a width and a height, px: planes in a row, side of a router, and size of
 * the whole. If these would be hard to see, the map may be taller.
 */
export function sheet({ planes, wide, high, across }, width, height) {
  const name = planes.length > 1 ? NAME : 0;
  const found = planes.map((_, index) => {
    const perRow = index + 1, rows = Math.ceil(planes.length / perRow);
    const fits = Math.min((width / perRow - GAP) / wide, LARGEST);
    const side = Math.min(fits, (height / rows - name - GAP) / high);
    return { perRow, rows, fits, side };
  });
  let best = found.reduce((one, other) => (other.side > one.side ? other : one));
  if (best.side < LEAST) best = found.filter((one) => one.fits >= LEAST).at(-1) ?? found[0];
  const room = best.side < LEAST ? Math.min(best.fits, LEAST) : best.side;
  // Whole parts of a router are sharp.
  const side = room >= across ? Math.floor(room / across) * across : room;
  return {
    side,
    width: best.perRow * (wide * side + GAP),
    height: best.rows * (high * side + name + GAP),
    /** Return the upper left corner of a plane. */
    corner: (plane) => [
      (plane % best.perRow) * (wide * side + GAP) + GAP / 2,
      Math.floor(plane / best.perRow) * (high * side + name + GAP) + name + GAP / 2,
    ],
  };
}
