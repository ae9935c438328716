// The segments of a logical job: attempts, of which each but the last was in vain, and parts between which the job was resized.

import { moment } from "./calendar.js";
import { unfold } from "./decode.js";
import { duration, ending, number } from "./words.js";

/** Return how long the segments of a job ran together, in units of the table. */
export function ranFor(run, job) {
  let ran = 0;
  for (let segment = run.of[job]; segment < run.of[job + 1]; segment++) ran += run.end[segment] - run.start[segment];
  return ran;
}

/** What segments.py says of a run's segments; null: every row of its jobs file is a job of its own. */
export function lineageOf(table, run) {
  const { segment_limit: limit, segment_units: units, segment_state: state } = run.columns;
  return limit ? new Lineage(table, run, limit, units, state) : null;
}

class Lineage {
  constructor(table, run, limit, units, state) {
    Object.assign(this, { table, run, state });
    this.limit = limit.map((seconds) => seconds - 1);
    this.units = units.map((more, segment) => unfold(more) + table.units[run.job[segment]]);
  }

  /** Return the first segment of the job of a segment, and the one after its last. */
  ends(segment) {
    const job = this.run.job[segment];
    return [this.run.of[job], this.run.of[job + 1]];
  }

  /** Whether a segment goes on as another one of as many units: an attempt that was in vain, or a restart. */
  repeated(segment) {
    return segment + 1 < this.ends(segment)[1] && this.units[segment + 1] === this.units[segment];
  }

  /** Whether a segment continues one of another number of units. */
  resized(segment) {
    return segment > this.ends(segment)[0] && this.units[segment - 1] !== this.units[segment];
  }

  /** Say which part of its job a segment is: "attempt 2 of 3, limit 2 h", "part 2 of 2, resized 16 → 8 units at day 1 12:00"; "" of an only one. */
  words(segment, view) {
    const [first, end] = this.ends(segment);
    if (end - first < 2) return "";
    const all = Array.from({ length: end - first }, (_, place) => first + place);
    const parts = all.some((one) => this.resized(one));
    const which = `${parts ? "part" : "attempt"} ${segment - first + 1} of ${end - first}`;
    if (this.resized(segment)) {
      const when = moment(view.seconds(this.run.start[segment]), 0);
      return `${which}, resized ${number(this.units[segment - 1])} → ${number(this.units[segment])} units at ${when}`;
    }
    // The first attempt is what was submitted, whose limit is its user's and not the attempt's own.
    return segment > first && !parts && this.limit[segment] > 0 ? `${which}, limit ${duration(this.limit[segment])}` : which;
  }

  /** Say which part of its job a segment is, and what became of it; "" of none (-1) and of an only one. */
  told(segment, view) {
    const which = segment < 0 ? "" : this.words(segment, view);
    if (!which) return "";
    const took = duration((this.run.end[segment] - this.run.start[segment]) / this.table.second);
    return `${which}: ran ${took} on ${number(this.run.held[segment])} hosts, ${this.ended(segment)}`;
  }

  /** Return how a segment ended, in words. */
  ended(segment) {
    return ending(this.table.states[this.state[segment]]);
  }
}
