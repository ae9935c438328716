// By what jobs are told apart: user, account, queue, partition, size, run time, hour of submission. Filters and sums use the same.

import { hourOf } from "./calendar.js";
import { LENGTHS, classOf, sizeClasses } from "./classes.js";

/**
 * Return the dimensions that jobs of a page have. Each is a record of name, title, label(key) of a key that of(job) returns (a number, -1: unknown),
 * and keys: all there are, in order of their labels or size.
 */
export function dimensions(explorer) {
  const { table, view } = explorer;
  const sizes = sizeClasses(table.units);
  const texts = (name, title, labels, column) => {
    const keys = Array.from(labels.keys()).filter((key) => labels[key]);
    keys.sort((a, b) => labels[a].localeCompare(labels[b], "en", { numeric: true }));
    return { name, title, keys, of: (job) => (labels[column[job]] ? column[job] : -1), label: (key) => labels[key] ?? "" };
  };
  const classes = (name, title, limits, of) => ({ name, title, keys: limits.map((_, key) => key), of, label: (key) => limits[key]?.[1] ?? "" });
  const length = (job) => {
    const run = explorer.base;
    const first = run.of[job], end = run.of[job + 1];
    return first < end ? classOf(LENGTHS, (run.end[end - 1] - run.start[first]) / table.second) : -1;
  };
  const two = (hour) => `${String(hour).padStart(2, "0")}:00`;
  const hours = Array.from({ length: 24 }, (_, hour) => [hour + 1, `${two(hour)} to ${two(hour + 1)}`]);
  return [
    texts("user", "User", table.users, table.user),
    texts("account", "Account", table.accounts, table.account),
    texts("queue", "Queue", table.queues, table.queue),
    texts("partition", "Partition", table.partitions, table.partition),
    classes("size", "Size", sizes.map(([limit, name]) => [limit, `${name} ${name === "1" ? "unit" : "units"}`]), (job) => classOf(sizes, table.units[job])),
    classes("length", "Run time", LENGTHS, length),
    classes("hour", "Submitted at", hours, (job) => hourOf(view.seconds(table.submission[job]))),
  ].filter((one) => one.keys.length);
}
