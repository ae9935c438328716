// What is in view as a picture to take along: an SVG file, or a PNG file of the same, for white paper.

import { element, make } from "./dom.js";
import { pictureAsSvg } from "./vector.js";

/** Pixels of a PNG file for one of the page's: enough for print. */
const DENSITY = 3;

export function offerPicture(explorer) {
  const picture = () => pictureAsSvg(explorer, explorer.layout);
  element("save").addEventListener("click", async () => download(await painted(picture()), "batdispatch.png"));
  element("save-svg").addEventListener("click", () => download(new Blob([picture()], { type: "image/svg+xml" }), "batdispatch.svg"));
}

function download(blob, name) {
  const link = make("a", "", { href: URL.createObjectURL(blob), download: name });
  link.click();
  URL.revokeObjectURL(link.href);
}

/** Return an SVG picture as the content of a PNG file. */
async function painted(svg) {
  const image = new Image();
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(svg)}`;
  await image.decode();
  const canvas = make("canvas");
  [canvas.width, canvas.height] = [image.naturalWidth * DENSITY, image.naturalHeight * DENSITY];
  canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
  return new Promise((done) => canvas.toBlob(done));
}
