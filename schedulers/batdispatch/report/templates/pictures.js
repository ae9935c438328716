"use strict";
// Each picture can be saved: as SVG that stands alone, on white and with inks of its own, or as PNG of it.
(() => {
  const INK = "#1a1a1a", DENSITY = 2;
  // Rules of the page for any paper: those for dark paper stand in @media.
  const rules = Array.from(document.styleSheets, (sheet) => Array.from(sheet.cssRules)).flat().filter((rule) => rule instanceof CSSStyleRule);
  const light = (name) => rules.find((rule) => rule.selectorText === ":root")?.style.getPropertyValue(name).trim() || "#707070";

  /** Return a picture of the page as the text of an SVG file, and its size. */
  const alone = (picture) => {
    const { width, height } = picture.viewBox.baseVal;
    const copy = picture.cloneNode(true);
    copy.setAttribute("xmlns", "http://www.w3.org/2000/svg");
    copy.setAttribute("width", width);
    copy.setAttribute("height", height);
    copy.setAttribute("style", `background: #fff; color: ${INK}`);
    // What the page's style says of what is in the picture.
    const own = rules.filter((rule) => picture.querySelector(rule.selectorText)).map((rule) => rule.cssText);
    const style = document.createElementNS("http://www.w3.org/2000/svg", "style");
    style.textContent = [...own, "text { font-family: sans-serif; }"].join("\n");
    copy.prepend(style);
    const text = new XMLSerializer().serializeToString(copy);
    const inked = text.replace(/var\((--[\w-]+)[^)]*\)/g, (_, name) => light(name)).replace(/currentcolor/gi, INK);
    return { text: `${inked}\n`, width, height };
  };

  const download = (blob, name) => {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(blob);
    link.download = name;
    link.click();
    URL.revokeObjectURL(link.href);
  };

  const ways = {
    SVG: (picture, name) => download(new Blob([alone(picture).text], { type: "image/svg+xml" }), `${name}.svg`),
    PNG: async (picture, name) => {
      const { text, width, height } = alone(picture);
      const image = new Image();
      image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(text)}`;
      await image.decode();
      const canvas = Object.assign(document.createElement("canvas"), { width: DENSITY * width, height: DENSITY * height });
      const context = canvas.getContext("2d");
      context.fillStyle = "#fff";
      context.fillRect(0, 0, canvas.width, canvas.height);
      context.drawImage(image, 0, 0, canvas.width, canvas.height);
      canvas.toBlob((blob) => download(blob, `${name}.png`));
    },
  };

  for (const figure of document.querySelectorAll(".pictures > figure")) {
    const picture = figure.querySelector("svg[role=img]");
    if (!picture) continue;
    const title = picture.getAttribute("aria-label");
    const name = title.toLowerCase().replace(/[^a-z0-9]+/g, "-").replace(/^-|-$/g, "") || "picture";
    const place = document.createElement("p");
    place.className = "save";
    for (const [kind, save] of Object.entries(ways)) {
      const button = document.createElement("button");
      button.type = "button";
      button.textContent = `Save as ${kind}`;
      button.setAttribute("aria-label", `Save ${title} as ${kind}`);
      button.addEventListener("click", () => save(picture, name));
      place.append(button);
    }
    figure.append(place);
  }
})();
