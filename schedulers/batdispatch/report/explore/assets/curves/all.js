// All curves, from top to bottom. A new one is a file of its own, and a name in this list.

import { busyHosts } from "./busy-hosts.js";
import { decisionTime, slowestDecision } from "./decisions.js";
import { meanWait } from "./mean-wait.js";
import { gap } from "./plans.js";
import { queueLength } from "./queue-length.js";

/**
 * A curve is a record of
 * - name: by which code and tests find it; title: in its caption; about(table): the caption's rest;
 * - applies(table), if not all pages have it;
 * - level(table, run, chosen): an object with means(from, to, stretches), which returns the mean of each of so many stretches of equal length
 *   between two times of the table, null where there is nothing (see level.js); or null instead of the object, if this run has none;
 * - scale(table): what the means are multiplied by; range(table): the ends of the vertical axis, null for those that the values have;
 * - format(value): a value as people read it; sparse: true, if values stand apart and are joined over nulls;
 * - peaks: true, if the caption says where it is highest; levels then have peak(from, to) as well, which returns {time, value}.
 */
export const CURVES = [busyHosts, queueLength, meanWait, decisionTime, slowestDecision, gap];
