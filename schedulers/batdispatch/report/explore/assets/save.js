// What is in view as a picture to take along: as PNG what the page paints, as SVG what can be drawn.

import { element, make } from "./dom.js";
import { LEFT, density, ink } from "./look.js";
import { pictureAsSvg } from "./vector.js";

/** Room for the title above each chart, px. */
const TITLE = 22;

export function offerPicture(explorer) {
  const { layout } = explorer;
  element("save").addEventListener("click", () => drawn(layout).toBlob((blob) => download(blob, "batdispatch.png")));
  element("save-svg").addEventListener("click", () => {
    download(new Blob([pictureAsSvg(explorer, layout)], { type: "image/svg+xml" }), "batdispatch.svg");
  });
}

function download(blob, name) {
  const link = make("a", "", { href: URL.createObjectURL(blob), download: name });
  link.click();
  URL.revokeObjectURL(link.href);
}

/** Return a canvas with all charts, one below the other. */
function drawn({ charts, width }) {
  const scale = density();
  const pictures = charts.map((chart) => ({ title: chart.title, ...chart.picture() }));
  const whole = make("canvas");
  whole.width = Math.round(width * scale);
  whole.height = pictures.reduce((high, { canvas }) => high + canvas.height + TITLE * scale, 0);
  const context = whole.getContext("2d");
  context.fillStyle = ink("--paper");
  context.fillRect(0, 0, whole.width, whole.height);
  context.font = `${13 * scale}px system-ui, sans-serif`;
  context.fillStyle = ink("--ink");
  let top = 0;
  for (const { title, canvas, left } of pictures) {
    context.fillText(title, LEFT * scale, top + 15 * scale);
    context.drawImage(canvas, left * scale, top + TITLE * scale);
    top += canvas.height + TITLE * scale;
  }
  return whole;
}
