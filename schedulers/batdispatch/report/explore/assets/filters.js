// Which jobs are chosen: by user, queue, size and run time. The others turn pale and do not count.

import { LENGTHS, classOf, sizeClasses } from "./classes.js";
import { element, fill, make } from "./dom.js";
import { number } from "./words.js";

/** Most users that are proposed while one is typed. */
const MOST_USERS = 2000;

export class Filters {
  constructor(explorer) {
    const { table } = explorer;
    this.explorer = explorer;
    this.sizes = sizeClasses(table.units);
    fill("size", ["any size", ...this.sizes.map(([, name]) => `${name} units`)]);
    fill("length", ["any run time", ...LENGTHS.map(([, name]) => name)]);
    const users = table.users.filter(Boolean);
    element("user").disabled = !users.length;
    element("users").append(...users.slice(0, MOST_USERS).map((name) => make("option", "", { value: name })));
    this.queues = table.queues.filter(Boolean);
    fill("queue", ["any queue", ...this.queues]);
    element("queue").parentElement.hidden = !this.queues.length;
    for (const name of ["size", "length", "queue", "user"]) element(name).addEventListener("change", () => this.apply());
    element("reset").addEventListener("click", () => this.reset());
  }

  reset() {
    element("user").value = "";
    for (const name of ["size", "length", "queue"]) element(name).selectedIndex = 0;
    this.apply();
  }

  /** Choose the jobs of one user. */
  ofUser(name) {
    element("user").value = name;
    this.apply();
  }

  apply() {
    const { table } = this.explorer;
    const name = element("user").value.trim();
    const tests = [this.#user(name), this.#queue(), this.#size(), this.#length()].filter(Boolean);
    const chosen = new Uint8Array(table.count).map((_, job) => (tests.every((test) => test(job)) ? 1 : 0));
    const left = chosen.reduce((sum, one) => sum + one, 0);
    let said = `${number(left)} of ${number(table.count)} jobs are shown in colour, and count in the curves.`;
    if (left === table.count) said = "";
    else if (!left) said = `No job passes the filters${name && !table.users.includes(name) ? `: no user is called ${name}` : ""}.`;
    element("said").textContent = said;
    this.explorer.filter(chosen);
  }

  #user(name) {
    const { table } = this.explorer;
    const user = table.users.indexOf(name);
    return name && ((job) => table.user[job] === user);
  }

  #queue() {
    const { table } = this.explorer;
    const place = element("queue").selectedIndex - 1, queue = table.queues.indexOf(this.queues[place]);
    return place >= 0 && ((job) => table.queue[job] === queue);
  }

  #size() {
    const size = element("size").selectedIndex - 1;
    return size >= 0 && ((job) => classOf(this.sizes, this.explorer.table.units[job]) === size);
  }

  /** By how long a job takes in the run that others are compared with. */
  #length() {
    const { table, base: run } = this.explorer;
    const length = element("length").selectedIndex - 1;
    const took = (job) => (run.end[run.of[job + 1] - 1] - run.start[run.of[job]]) / table.second;
    return length >= 0 && ((job) => run.of[job] < run.of[job + 1] && classOf(LENGTHS, took(job)) === length);
  }
}
