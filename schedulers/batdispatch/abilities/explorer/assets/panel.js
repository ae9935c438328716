// What is known about the job or the moment that is looked at: a sheet at the bottom of the window, so that it opens where the eye is.

import { element } from "./dom.js";

export function openPanel(explorer) {
  const panel = element("panel");
  let opener = null;
  const show = () => {
    const open = explorer.job >= 0 || explorer.instant !== null;
    const opens = open && panel.hidden;
    if (opens) opener = document.activeElement;
    panel.hidden = !open;
    document.documentElement.classList.toggle("panelled", open);
    if (opens) panel.focus({ preventScroll: true });
    if (!open) {
      opener?.focus?.({ preventScroll: true });
      opener = null;
    }
  };
  explorer.on(["job", "instant"], show);
  panel.addEventListener("keydown", (event) => {
    if (event.key === "Escape") close();
  });
  const close = () => {
    if (explorer.job >= 0) explorer.choose(-1);
    if (explorer.instant !== null) explorer.lookAt(null);
  };
  element("panel-close").addEventListener("click", close);
}
