// The bytes of data.py and streams.py as typed arrays: jobs, and for each run its segments.

const unfold = (number) => (number % 2 ? -(number + 1) / 2 : number / 2);

/** Return the numbers of each stream in turn, Float64Array. */
async function readStreams(header) {
  const packed = Uint8Array.from(atob(header.bytes), (char) => char.charCodeAt(0));
  const unpacked = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
  const bytes = new Uint8Array(await new Response(unpacked).arrayBuffer());
  let place = 0;
  return header.streams.map(([name, count]) => {
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
    return [name, values];
  });
}

function addUp(values) {
  for (let index = 1; index < values.length; index++) values[index] += values[index - 1];
  return values;
}

/**
 * Return all that the page knows: jobs in order of submission, and runs. Times are in units of 1/second from the begin.
 * A run has segments in order of jobs, `order` by start, `byEnd` by end, `latest`: the latest end of those up to each in that order, and
 * of each job its first segment (`of`, one longer than there are jobs), its wait (NaN: did not start) and its last state.
 */
async function readTable(header) {
  const streams = await readStreams(header);
  const next = () => streams.shift()[1];
  const submission = addUp(next());
  const walltime = next(), usual = next(), units = next(), user = next();
  const numbers = header.names ? null : addUp(next().map(unfold));
  const count = submission.length;
  const name = (job) => (header.names ? header.names[job] : String(numbers[job]));
  const runs = header.runs.map((label, index) => {
    const job = Uint32Array.from(addUp(next()));
    const start = next().map((value, at) => unfold(value) + submission[job[at]]);
    const end = next().map((value, at) => unfold(value) + usual[job[at]] + start[at]);
    const held = next().map((value, at) => unfold(value) + units[job[at]]);
    const intervals = next();
    const at = new Uint32Array(intervals.length + 1);
    intervals.forEach((many, segment) => (at[segment + 1] = at[segment] + many));
    const first = Uint32Array.from(addUp(next().map(unfold)));
    const last = Uint32Array.from(next().map((more, place) => more + first[place]));
    const run = { label, index, job, start, end, held, at, first, last, state: Uint8Array.from(next()) };
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
  return { ...header, count, submission, walltime, units, user, name, runs, length: (header.end - header.begin) * header.second };
}

/** Return the places of values from the smallest on; of equal ones, the first comes first. */
function sortedBy(values) {
  // Numbers sort much faster than with a comparison of our own: whole ones of less than 2^53 leave room for the place.
  const base = 2 ** Math.ceil(Math.log2(values.length + 1));
  if (values.some((value) => value < 0 || value * base >= Number.MAX_SAFE_INTEGER)) {
    return new Uint32Array(values.length).map((_, place) => place).sort((a, b) => values[a] - values[b] || a - b);
  }
  return Uint32Array.from(values.map((value, place) => value * base + place).sort(), (value) => value % base);
}

/** Return the first place in an ascending array whose value exceeds a limit. */
function above(values, limit, read = (place) => values[place]) {
  let low = 0, high = values.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (read(middle) > limit) high = middle;
    else low = middle + 1;
  }
  return low;
}
