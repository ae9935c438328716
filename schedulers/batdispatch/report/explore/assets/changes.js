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

/** Most batches, fewest values of a batch, fewest batches. */
const BATCHES = 20, FEWEST = 20, LEAST = 5;
/** Autocorrelation that is neglected, and the most that few values can show (dependence.py). */
const NEGLIGIBLE = 0.2, MOST = 0.8;
/** Student's 97.5 % quantiles of 1 to 19 degrees of freedom. */
const QUANTILES = [12.7062, 4.30265, 3.18245, 2.77645, 2.57058, 2.44691, 2.36462, 2.306, 2.26216, 2.22814, 2.20099, 2.17881, 2.16037, 2.14479, 2.13145, 2.11991, 2.10982, 2.10092, 2.09302];

/**
 * Return the mean of values in order of time and how far it may be off, 95 %, by the method of batch means; `off` is null if they are too few.
 * results/statistics/batches.py does the same and says why.
 */
export function meanOfBatches(values) {
  const sum = (some) => some.reduce((total, value) => total + value, 0);
  const mean = sum(values) / values.length, count = Math.min(BATCHES, Math.floor(values.length / FEWEST));
  if (count < LEAST) return { mean, off: null };
  const length = Math.floor(values.length / count);
  const batches = Array.from({ length: count }, (_, index) => {
    const batch = values.slice(index * length, index === count - 1 ? values.length : (index + 1) * length);
    return sum(batch) / batch.length;
  });
  const middle = sum(batches) / count, apart = batches.map((value) => value - middle);
  const square = sum(apart.map((value) => value * value));
  const size = worth(apart, square);
  return { mean, off: quantile(size - 1) * Math.sqrt(square / (count - 1) / size) };
}

/** Return how many independent values some are worth whose distances to their mean follow each other in time. */
function worth(apart, square) {
  if (!(square > 1e-18)) return apart.length;
  const along = apart.slice(1).reduce((sum, value, index) => sum + value * apart[index], 0) / square;
  const alike = along + (1 + 3 * along) / apart.length;
  if (alike <= NEGLIGIBLE) return apart.length;
  const bounded = Math.min(alike, MOST);
  return Math.max(2, (apart.length * (1 - bounded)) / (1 + bounded));
}

/** Return Student's 97.5 % quantile; between whole degrees of freedom its logarithm is nearly linear in their inverse. */
function quantile(freedom) {
  const low = Math.min(Math.floor(freedom), QUANTILES.length - 1), [a, b] = [QUANTILES[low - 1], QUANTILES[low] ?? 0];
  if (freedom === low) return a;
  const share = (1 / low - 1 / freedom) / (1 / low - 1 / (low + 1));
  return Math.exp(Math.log(a) + share * (Math.log(b) - Math.log(a)));
}
