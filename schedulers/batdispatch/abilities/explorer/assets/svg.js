// Pieces of an SVG picture, made in the page's own tree so that what is written is well-formed.

const SPACE = "http://www.w3.org/2000/svg";

/** Return an SVG element with attributes and what it holds: elements and texts. */
export function shape(name, attributes = {}, ...content) {
  const made = document.createElementNS(SPACE, name);
  for (const [attribute, value] of Object.entries(attributes)) {
    made.setAttribute(attribute, typeof value === "number" ? Number(value.toFixed(2)) : value);
  }
  made.append(...content);
  return made;
}

/** Return the points of a line as an attribute, [[x, y], ...]. */
export const points = (places) => places.map(([x, y]) => `${x.toFixed(2)},${y.toFixed(2)}`).join(" ");

/** Return an SVG element as the text of a file. */
export const written = (svg) => `${new XMLSerializer().serializeToString(svg)}\n`;
