// Two dispatchers, job by job: who waits longer under one than under the other, and by how much.

/** Return by how much each job waits longer in the other run, s; NaN if it did not start in both. */
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
  const by = (sign) => jobs.filter((job) => sign * change[job] > 0).sort((a, b) => sign * (change[b] - change[a]) || a - b).slice(0, most);
  return [by(-1), by(1)];
}

/** Batches of jobs that a mean's interval is made of, fewest jobs of each, and Student's 97.5 % quantile of one less. */
const BATCHES = 20, FEWEST = 20, QUANTILE = 2.093;

/**
 * Return the mean of changes in order of submission and how far it may be off, 95 %, by the method of batch means (Law, Simulation Modeling
 * and Analysis, 9.5.3; Schmeiser, Oper. Res. 30 (1982), on 10 to 30 batches): jobs that come one after the other wait for the same queue, so
 * single jobs are not independent, and means of batches may be. `off` is null and `why` says so where there are too few jobs, or where
 * batches that follow each other are alike: a lag-1 correlation beyond what 20 independent ones have by chance (2/sqrt(20)).
 */
export function meanOfBatches(values) {
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  const length = Math.floor(values.length / BATCHES);
  if (length < FEWEST) return { mean, off: null, why: `an interval would need ${BATCHES * FEWEST} jobs` };
  const batches = Array.from({ length: BATCHES }, (_, index) => {
    const end = index === BATCHES - 1 ? values.length : (index + 1) * length;
    const batch = values.slice(index * length, end);
    return batch.reduce((sum, value) => sum + value, 0) / batch.length;
  });
  const middle = batches.reduce((sum, value) => sum + value, 0) / BATCHES;
  const apart = batches.map((value) => value - middle);
  const square = apart.reduce((sum, value) => sum + value * value, 0);
  const along = apart.slice(1).reduce((sum, value, index) => sum + value * apart[index], 0);
  if (square > 0 && along / square > 2 / Math.sqrt(BATCHES)) {
    return { mean, off: null, why: "these jobs tell of one stretch of time, in which changes follow each other, and not of others like it" };
  }
  return { mean, off: QUANTILE * Math.sqrt(square / (BATCHES - 1) / BATCHES), why: "" };
}
