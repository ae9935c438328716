// Two dispatchers, job by job: who waits longer under one than under the other, and by how much.

/** Return by how much each job waits longer in the other run, s; NaN if it did not start in both. */
export function changes(table, base, other) {
  return other.wait.map((wait, job) => (wait - base.wait[job]) / table.second);
}

/** Return the jobs whose wait falls most and grows most. */
export function extremes(change, chosen, most) {
  const jobs = [];
  change.forEach((value, job) => {
    if (chosen[job] && Math.abs(value) > 0.5) jobs.push(job);
  });
  const by = (sign) => jobs.filter((job) => sign * change[job] > 0).sort((a, b) => sign * (change[b] - change[a]) || a - b).slice(0, most);
  return [by(-1), by(1)];
}

/** A wait that changes by less, s, counts as the same. */
const SAME = 0.5;

/** Return what is certain of some changes: their mean, how many jobs wait less and longer, and the quartiles of the change. */
export function certain(values) {
  const sorted = Float64Array.from(values).sort();
  const at = (share) => {
    const place = share * (sorted.length - 1), low = Math.floor(place);
    return sorted[low] + (place - low) * ((sorted[low + 1] ?? sorted[low]) - sorted[low]);
  };
  return {
    mean: values.reduce((total, value) => total + value, 0) / values.length,
    less: values.filter((value) => value < -SAME).length,
    more: values.filter((value) => value > SAME).length,
    quartiles: [at(0.25), at(0.5), at(0.75)],
  };
}
