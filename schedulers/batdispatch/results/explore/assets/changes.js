// Two dispatchers, job by job: who waits longer under one than under the other, and by how much.

/** Return of two runs what each job's wait changes, s; NaN where it did not start in both. */
export function changes(table, base, other) {
  return other.wait.map((wait, job) => (wait - base.wait[job]) / table.second);
}

/** Return groups of jobs with their mean change, the largest sums first. */
export function grouped(change, chosen, groupOf, nameOf) {
  const groups = new Map();
  change.forEach((value, job) => {
    if (!chosen[job] || Number.isNaN(value)) return;
    const key = groupOf(job);
    const group = groups.get(key) ?? { name: nameOf(key), jobs: 0, sum: 0 };
    group.jobs++;
    group.sum += value;
    groups.set(key, group);
  });
  return [...groups.values()].sort((a, b) => Math.abs(b.sum) - Math.abs(a.sum));
}

/** Return the jobs whose wait falls most and grows most. */
export function extremes(change, chosen, most) {
  const jobs = [];
  change.forEach((value, job) => {
    if (chosen[job] && Math.abs(value) > 0.5) jobs.push(job);
  });
  jobs.sort((a, b) => change[a] - change[b]);
  return [jobs.filter((job) => change[job] < 0).slice(0, most), jobs.filter((job) => change[job] > 0).reverse().slice(0, most)];
}
