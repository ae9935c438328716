// Differences to a run of choice, below the values of the others. The page has all values in full.

import { NBSP, number, signed } from "./words.js";

const TIMES = "\u00d7";
const valueOf = (cell) => (cell.dataset.value === "" ? null : Number(cell.dataset.value));

/** Return what lies between two values, in the unit of their row if it has one, and their ratio: "+1.2, 1.5 ×". */
function difference(value, base, scale) {
  const by = value - base;
  const parts = scale ? [signed(by / scale, number)] : [];
  if (base > 0 && value >= 0) parts.push(number(value / base) + NBSP + TIMES);
  return parts.join(`,${NBSP}`);
}

/** Return whether a cell's value is better or worse than another one, or neither. */
function standing(by, better) {
  if (!better) return "";
  return by < 0 === (better === "lower") ? "better" : "worse";
}

function note(cell, base) {
  const [value, of] = [valueOf(cell), valueOf(base)];
  if (value === null || of === null || value === of) return;
  const text = difference(value, of, Number(cell.dataset.scale));
  if (!text) return;
  const said = document.createElement("span");
  const stands = standing(value - of, cell.dataset.better);
  said.className = `difference ${stands}`;
  said.textContent = text;
  if (stands) {
    const word = document.createElement("span");
    word.className = "sr";
    word.textContent = ` (${stands})`;
    said.append(word);
  }
  cell.append(said);
}

const select = document.getElementById("baseline");
select?.addEventListener("change", () => {
  for (const old of document.querySelectorAll("span.difference")) old.remove();
  for (const table of document.querySelectorAll("table")) {
    const cells = Array.from(table.querySelectorAll("td[data-run]"));
    const bases = new Map(cells.filter((cell) => cell.dataset.run === select.value).map((cell) => [cell.dataset.metric, cell]));
    for (const cell of cells) {
      const base = bases.get(cell.dataset.metric);
      cell.classList.toggle("base", cell === base);
      if (base && cell !== base) note(cell, base);
    }
  }
});
