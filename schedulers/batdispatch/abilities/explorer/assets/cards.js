// In a narrow window the cells of a row stand beside and below each other, each under its heading, which the page's style takes from the cell.

const narrow = matchMedia("(max-width: 44rem)");

/** Tell the cells of the explorer's tables their headings, now and whenever rows are put in, while the window is narrow. */
export function layOutCards() {
  for (const table of document.querySelectorAll("#explore table.cards")) {
    const tell = () => {
      if (!narrow.matches) return;
      const headings = Array.from(table.tHead.rows[0].cells, (cell) => cell.textContent);
      for (const row of table.tBodies[0].rows) for (const cell of row.cells) if (cell.cellIndex && cell.colSpan === 1) cell.dataset.heading = headings[cell.cellIndex];
    };
    narrow.addEventListener("change", tell);
    new MutationObserver(tell).observe(table, { childList: true, subtree: true });
    tell();
  }
}
