// All curves, from top to bottom. A new one is a file of its own, and a name in this list.

import { busyHosts } from "./busy-hosts.js";
import { decisionTime, slowestDecision } from "./decisions.js";
import { meanWait } from "./mean-wait.js";
import { gap } from "./plans.js";
import { power } from "./power.js";
import { queueLength } from "./queue-length.js";
import { cap, carbon, price } from "./series.js";

/**
 * A curve is a record of
 * - name: by which code and tests find it; title: in its caption; about(table): the caption's rest;
 * - applies(table), if not all pages have it;
 * - level(table, run, chosen): an object with means(from, to, stretches), which returns the mean of each of so many stretches of equal length
 *   between two times of the table, null where there is nothing; it may have extremes(from, to, stretches) for least and most as well (see
 *   level.js); or null instead of the object, if this run has none;
 * - folded, if it is rarely wanted: the name under which it is offered;
 * - scale(table, run): what the values are multiplied by; range(table): the ends of the vertical axis, null for those that the values have;
 * - format(value): a value as people read it; sparse: true, if values stand at moments, and nothing is known between them.
 */
export const CURVES = [busyHosts, queueLength, power, cap, price, carbon, meanWait, decisionTime, slowestDecision, gap];
