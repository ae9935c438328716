// What colours stand for: the choice, and the legend.

import { element, fill, make } from "./dom.js";
import { spot } from "./look.js";

export function offerColours(explorer) {
  const choice = element("colour"), legend = element("legend");
  const offer = () => {
    const names = Object.keys(explorer.colourings);
    fill("colour", names, names.findIndex((name) => explorer.colourings[name] === explorer.colouring));
  };
  choice.addEventListener("change", () => explorer.colourBy(choice.value));
  explorer.on(["pair", "colour"], offer);
  explorer.on(["frame"], () => {
    legend.replaceChildren(...explorer.colouring.classes.map(([colour, name]) => make("span", [spot(colour), name])));
  });
  offer();
}
