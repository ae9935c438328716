
"use strict";
// Headings become buttons that sort; without scripts the table stays as it is.
document.documentElement.classList.add("scripted");
for (const table of document.querySelectorAll("table.sortable")) {
  const body = table.tBodies[0];
  if (body.rows.length < 2) continue;
  const key = (row, column) => {
    const cell = row.cells[column];
    if (cell.dataset.value === undefined) return cell.textContent.trim();
    return cell.dataset.value === "" ? null : Number(cell.dataset.value);
  };
  Array.from(table.tHead.rows[0].cells).forEach((heading, column) => {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...heading.childNodes);
    heading.append(button);
    button.addEventListener("click", () => {
      const falling = heading.getAttribute("aria-sort") === "ascending";
      for (const other of heading.parentNode.cells) other.removeAttribute("aria-sort");
      heading.setAttribute("aria-sort", falling ? "descending" : "ascending");
      const rows = Array.from(body.rows).sort((one, other) => {
        const a = key(one, column), b = key(other, column);
        // Runs without a value come last, whatever the direction.
        if (a === null || b === null) return (a === null) - (b === null);
        const order = typeof a === "number" ? a - b : a.localeCompare(b, undefined, { numeric: true });
        return falling ? -order : order;
      });
      body.append(...rows);
    });
  });
}

// Sections that are rarely wanted are folded; paper, and browsers without scripts, have them whole.
for (const section of document.querySelectorAll("section.fold")) {
  const heading = section.querySelector("h2"), button = document.createElement("button");
  button.type = "button";
  button.append(...heading.childNodes);
  heading.append(button);
  const open = (wanted) => button.setAttribute("aria-expanded", section.classList.toggle("open", wanted));
  button.addEventListener("click", () => open());
  open(false);
  const aimed = () => {
    const target = location.hash.length > 1 && document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (!target || !section.contains(target)) return;
    open(true);
    target.scrollIntoView();
  };
  addEventListener("hashchange", aimed);
  aimed();
}
