// The bytes of data.py and streams.py as typed arrays: jobs, and for each run its segments.

import { addUp, sortedBy } from "./numbers.js";

/** Return a number that `folded` of streams.py made one without a sign. */
export const unfold = (number) => (number % 2 ? -(number + 1) / 2 : number / 2);

/** Return of each table its columns by name, Float64Array: the first table is that of the jobs, then comes one for each run. */
export async function readColumns(header) {
  const text = atob(header.bytes);
  // Not Uint8Array.from(), which is ten times slower.
  const packed = new Uint8Array(text.length);
  for (let index = 0; index < text.length; index++) packed[index] = text.charCodeAt(index);
  const unpacked = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
  const bytes = new Uint8Array(await new Response(unpacked).arrayBuffer());
  let place = 0;
  const column = (count) => {
    const values = new Float64Array(count);
    for (let index = 0; index < count; index++) {
      let byte = bytes[place++];
      let value = byte & 127;
      // Bits beyond the 31st would be lost by shifting.
      for (let weight = 128; byte > 127; weight *= 128) {
        byte = bytes[place++];
        value += (byte & 127) * weight;
      }
      values[index] = value;
    }
    return values;
  };
  return header.streams.map((columns) => Object.fromEntries(columns.map(([name, count]) => [name, column(count)])));
}

/**
 * Return all that the page knows: jobs in order of submission, and runs. Times are in units of 1/second from the begin.
 * A run has segments in order of jobs, `order` by start, `byEnd` by end, `latest`: the latest end of those up to each in that order, and
 * of each job its first segment (`of`, one longer than there are jobs), its wait (NaN: did not start) and its last state.
 * What else data.py writes is in `columns` of the table and of each run, as it was written.
 */
export async function readTable(header) {
  const [jobs, ...tables] = await readColumns(header);
  const { walltime, usual, units, user, account, queue, partition, needs: needed } = jobs;
  const submission = addUp(jobs.submission);
  const numbers = header.names ? null : addUp(jobs.name.map(unfold));
  const count = submission.length;
  const name = (job) => (header.names ? header.names[job] : String(numbers[job]));
  const runs = header.runs.map((label, index) => {
    const columns = tables[index];
    const job = new Uint32Array(addUp(columns.job));
    const start = columns.start.map((value, at) => unfold(value) + submission[job[at]]);
    const end = columns.run.map((value, at) => unfold(value) + usual[job[at]] + start[at]);
    const held = columns.held.map((value, at) => unfold(value) + units[job[at]]);
    const { intervals } = columns;
    const at = new Uint32Array(intervals.length + 1);
    intervals.forEach((many, segment) => (at[segment + 1] = at[segment] + many));
    const first = new Uint32Array(addUp(columns.first.map(unfold)));
    const last = new Uint32Array(columns.more.map((more, place) => more + first[place]));
    const run = { label, index, hosts: header.capacities[index], job, start, end, held, at, first, last, state: Uint8Array.from(columns.state), columns };
    run.order = sortedBy(start);
    run.byEnd = sortedBy(end);
    run.latest = new Float64Array(job.length);
    let latest = -Infinity;
    run.order.forEach((segment, place) => (run.latest[place] = latest = Math.max(latest, end[segment])));
    run.of = new Uint32Array(count + 1);
    job.forEach((one) => run.of[one + 1]++);
    for (let one = 0; one < count; one++) run.of[one + 1] += run.of[one];
    run.wait = new Float64Array(count).map((_, one) => {
      if (run.of[one] === run.of[one + 1]) return NaN;
      let ran = 0;
      for (let segment = run.of[one]; segment < run.of[one + 1]; segment++) ran += end[segment] - start[segment];
      return end[run.of[one + 1] - 1] - submission[one] - ran;
    });
    return run;
  });
  return { ...header, columns: jobs, count, submission, walltime, units, user, account, queue, partition, needed, name, runs, length: (header.end - header.begin) * header.second };
}
