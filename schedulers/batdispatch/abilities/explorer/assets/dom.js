// Elements of the page: finding, making and filling them.

/** Return the explorer's element of a name. */
export const element = (name) => document.getElementById(`explore-${name}`);

/** Return a new element with some content (a text, an element, or a list of these) and attributes. */
export function make(tag, content = "", attributes = {}) {
  const made = document.createElement(tag);
  made.append(...[content].flat());
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  return made;
}

/** Offer names in a selection, and select one of them. */
export function fill(name, options, index = 0) {
  element(name).replaceChildren(...options.map((text) => make("option", text)));
  element(name).selectedIndex = Math.min(index, options.length - 1);
}
