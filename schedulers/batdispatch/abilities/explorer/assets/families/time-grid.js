// Amounts in rows over time, averaged over columns of equal length.

/** Each amount changes four numbers, however long it lasts: what is there from a column on, and what columns at its ends have of it. */
export class TimeGrid {
  constructor(rows, columns, from, to) {
    Object.assign(this, { rows, columns, from, step: (to - from) / columns });
    this.onward = new Float64Array(rows * (columns + 2));
    this.own = new Float64Array(rows * (columns + 2));
  }

  /** Add an amount to a row from one time to another. */
  add(row, begin, end, amount) {
    const { columns, from, step, onward, own } = this;
    const place = row * (columns + 2);
    const edge = (time, by) => {
      const at = Math.min(columns, Math.max(0, (time - from) / step)), column = Math.floor(at);
      own[place + column] += (column + 1 - at) * by;
      onward[place + column + 1] += by;
    };
    edge(begin, amount);
    edge(end, -amount);
  }

  /** Return the mean amount of each column of each row, the first row first. */
  means() {
    const { rows, columns, onward, own } = this;
    const found = new Float64Array(rows * columns);
    for (let row = 0; row < rows; row++) {
      const place = row * (columns + 2);
      let there = 0;
      for (let column = 0; column < columns; column++) {
        there += onward[place + column];
        found[row * columns + column] = there + own[place + column];
      }
    }
    return found;
  }
}
