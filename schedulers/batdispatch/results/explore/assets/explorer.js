// What people do: zoom, find, filter, choose; and the redrawing that follows.

const LEFT = 64, RIGHT = 12;
const GANTT_HEIGHTS = [300, 220, 160, 120];
const SERIES = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00"];
const SHORTEST = 10;
const MOST_SHOWN = 4, MOST_NAMED = 8;

const element = (id) => document.getElementById(`explore-${id}`);
function make(tag, content = "", attributes = {}) {
  const made = document.createElement(tag);
  made.append(...[content].flat());
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  return made;
}
const ink = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

class Explorer {
  constructor(table, reasons) {
    Object.assign(this, { table, reasons, from: 0, to: table.length, job: -1, dirty: false, charts: [] });
    this.shown = table.runs.slice(0, Math.min(table.runs.length, MOST_SHOWN));
    this.base = table.runs[0];
    this.other = table.runs[1];
    this.chosen = new Uint8Array(table.count).fill(1);
    this.levels = new Map();
    this.controls();
    this.lay();
    this.compare();
    new ResizeObserver(() => this.resized()).observe(element("charts"));
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.lay());
  }

  seconds(time) {
    return this.table.begin + time / this.table.second;
  }

  // ---- View.

  view(from, to) {
    const least = SHORTEST * this.table.second;
    const length = Math.min(Math.max(to - from, least), this.table.length);
    const begin = Math.min(Math.max(from - (length - (to - from)) / 2, 0), this.table.length - length);
    if (to - from >= least) from = Math.min(Math.max(from, 0), this.table.length - length);
    this.from = to - from >= least ? from : begin;
    this.to = this.from + length;
    this.redraw();
  }

  zoom(factor, around = (this.from + this.to) / 2) {
    this.view(around - (around - this.from) * factor, around + (this.to - around) * factor);
  }

  pan(share) {
    const by = share * (this.to - this.from);
    const kept = Math.min(Math.max(by, -this.from), this.table.length - this.to);
    this.view(this.from + kept, this.to + kept);
  }

  redraw() {
    if (this.dirty) return;
    this.dirty = true;
    requestAnimationFrame(() => {
      this.dirty = false;
      performance.mark("explore-begin");
      this.draw();
      performance.measure("explore-draw", "explore-begin");
    });
  }

  // ---- Layout.

  controls() {
    const { table } = this;
    const runs = element("runs");
    if (table.runs.length > 1) {
      table.runs.forEach((run, index) => {
        const box = make("input", "", { type: "checkbox", value: index });
        box.checked = this.shown.includes(run);
        box.addEventListener("change", () => {
          const wanted = [...runs.querySelectorAll("input:checked")].map((one) => table.runs[one.value]);
          this.shown = wanted.length ? wanted : [run];
          if (!wanted.length) box.checked = true;
          this.lay();
        });
        runs.append(make("label", [box, this.key(run), run.label]));
      });
    } else runs.hidden = true;
    const sizes = sizeClasses(table.units);
    this.fill("size", ["any size", ...sizes.map(([, name]) => `${name} units`)]);
    this.fill("length", ["any run time", ...LENGTHS.map(([, name]) => name)]);
    const users = table.users.filter(Boolean);
    element("user").disabled = !users.length;
    if (!users.length) element("group").value = "size";
    element("users").append(...users.slice(0, 2000).map((name) => make("option", "", { value: name })));
    this.fill("colour", Object.keys(this.colourings()));
    for (const id of ["size", "length", "user"]) element(id).addEventListener("change", () => this.filter());
    element("colour").addEventListener("change", () => this.redraw());
    element("reset").addEventListener("click", () => {
      element("user").value = "";
      element("size").selectedIndex = element("length").selectedIndex = 0;
      this.filter();
    });
    element("find").addEventListener("submit", (event) => {
      event.preventDefault();
      this.find(element("name").value.trim());
    });
    const keys = { ArrowLeft: () => this.pan(-0.25), ArrowRight: () => this.pan(0.25), "+": () => this.zoom(0.5), "=": () => this.zoom(0.5), "-": () => this.zoom(2), Home: () => this.view(0, table.length) };
    const buttons = { left: "ArrowLeft", right: "ArrowRight", in: "+", out: "-", all: "Home" };
    for (const [id, key] of Object.entries(buttons)) element(id).addEventListener("click", keys[key]);
    for (const id of ["charts", "strip"]) {
      element(id).addEventListener("keydown", (event) => {
        if (event.ctrlKey || event.metaKey || event.altKey || !(event.key in keys)) return;
        event.preventDefault();
        keys[event.key]();
      });
    }
    for (const [id, length] of [["day", DAY], ["week", 7 * DAY], ["hour", HOUR]]) {
      element(id).disabled = length * table.second > table.length;
      element(id).addEventListener("click", () => {
        const middle = (this.from + this.to) / 2, half = (length * table.second) / 2;
        this.view(middle - half, middle + half);
      });
    }
    element("save").addEventListener("click", () => this.save());
    this.brush();
    if (table.runs.length > 1) {
      for (const [id, which] of [["base", "base"], ["other", "other"]]) {
        this.fill(id, table.runs.map((run) => run.label), this[which].index);
        element(id).addEventListener("change", (event) => {
          this[which] = table.runs[event.target.selectedIndex];
          this.fill("colour", Object.keys(this.colourings()), element("colour").selectedIndex);
          this.compare();
          this.redraw();
        });
      }
      element("group").addEventListener("change", () => this.compare());
      element("show-pair").addEventListener("click", () => {
        this.shown = this.base === this.other ? [this.base] : [this.base, this.other];
        for (const box of runs.querySelectorAll("input")) box.checked = this.shown.includes(table.runs[box.value]);
        element("colour").selectedIndex = element("colour").options.length - 1;
        this.lay();
        element("charts").scrollIntoView({ block: "start" });
      });
    } else element("pair").hidden = true;
  }

  fill(id, names, index = 0) {
    element(id).replaceChildren(...names.map((name) => make("option", name)));
    element(id).selectedIndex = Math.min(index, names.length - 1);
  }

  colourings() {
    const pair = `${this.base.index} ${this.other?.index}`;
    if (this.pair !== pair) Object.assign(this, { pair, ways: colourings(this.table, this.base, this.other) });
    return this.ways;
  }

  key(run) {
    return make("span", "", { class: "key", style: `background: ${SERIES[run.index % SERIES.length]}` });
  }

  /** Make a chart for each run in view, and the curves. */
  lay() {
    const place = element("charts");
    for (const one of this.charts) one.plot?.destroy();
    this.charts = [];
    place.replaceChildren();
    const height = GANTT_HEIGHTS[Math.min(this.shown.length, GANTT_HEIGHTS.length) - 1];
    for (const run of this.shown) {
      const canvas = make("canvas", "", { role: "img", "aria-label": `Gantt chart of ${run.label}: hosts over time` });
      const box = make("div", canvas, { class: "gantt" });
      place.append(make("figure", [make("figcaption", [this.key(run), run.label]), box]));
      const chart = { run, canvas, box, height, gantt: new Gantt(this.table, run, canvas) };
      this.charts.push(chart);
      this.listen(chart);
    }
    const curves = [
      ["Busy hosts", `share of the hosts that jobs hold${this.table.shared ? "; one that several share counts for each" : ""}`, (level) => level.held, (value) => value / this.table.hosts, this.table.shared ? null : [0, 1], (value) => `${Math.round(100 * value)}${NBSP}%`],
      ["Queue", "jobs that wait to start", (level) => level.queue, (value) => value, null, number],
      ["Wait", "mean wait of the jobs that start", (level) => level.waits, (value) => value, null, duration],
    ];
    for (const [title, about, of, scaled, range, shown] of curves) {
      const box = make("div", "", { class: "curve" });
      place.append(make("figure", [make("figcaption", [make("strong", title), `: ${about}`]), box]));
      this.charts.push({ box, height: 130, title, of, scaled, range, shown, plot: null });
    }
    this.resized();
  }

  resized() {
    const width = Math.floor(element("charts").clientWidth);
    if (!width || (width === this.width && this.charts.every((one) => one.ready))) return;
    this.width = width;
    const scale = window.devicePixelRatio || 1;
    for (const one of this.charts) {
      one.ready = true;
      if (one.canvas) {
        one.box.style.paddingLeft = `${LEFT}px`;
        one.canvas.width = Math.round((width - LEFT - RIGHT) * scale);
        one.canvas.height = Math.round(one.height * scale);
        one.canvas.style.width = `${width - LEFT - RIGHT}px`;
        one.canvas.style.height = `${one.height}px`;
      } else {
        one.plot?.destroy();
        one.plot = this.plot(one, width);
      }
    }
    const strip = element("strip");
    strip.width = Math.round(width * scale);
    strip.height = Math.round(46 * scale);
    this.redraw();
  }

  plot(one, width) {
    const grid = { stroke: ink("--line"), width: 1 };
    const axis = { stroke: ink("--soft"), grid, ticks: { ...grid, size: 4 }, font: "11px system-ui, sans-serif" };
    return new uPlot(
      {
        width,
        height: one.height,
        padding: [6, RIGHT, 0, 0],
        legend: { show: false },
        scales: { x: { time: false, range: () => [this.seconds(this.from), this.seconds(this.to)] }, y: one.range ? { range: one.range } : { range: (_, low, high) => [0, high > 0 ? 1.05 * high : 1] } },
        cursor: { y: false, drag: { x: true, y: false, setScale: false }, sync: { key: "explore" } },
        axes: [
          { ...axis, size: 26, incrs: TIME_MARKS, space: 90, values: (_, marks) => marks.map((value) => moment(value, this.seconds(this.to) - this.seconds(this.from))) },
          { ...axis, size: LEFT, values: (_, marks) => marks.map(one.shown), space: 28 },
        ],
        series: [{}, ...this.shown.map((run) => ({ label: run.label, stroke: SERIES[run.index % SERIES.length], width: 1.5, dash: run.index >= SERIES.length ? [6, 3] : undefined, spanGaps: one.title === "Wait", points: { show: one.title === "Wait" ? undefined : false, size: 4 } }))],
        hooks: {
          setSelect: [
            (plot) => {
              if (plot.select.width < 4) return;
              const ends = [plot.select.left, plot.select.left + plot.select.width].map((at) => (plot.posToVal(at, "x") - this.table.begin) * this.table.second);
              plot.setSelect({ width: 0, height: 0 }, false);
              this.view(...ends);
            },
          ],
          setCursor: [(plot) => this.read(one, plot)],
        },
      },
      [[], ...this.shown.map(() => [])],
      one.box,
    );
  }

  /** Say what the curves are where the pointer is. */
  read(one, plot) {
    const index = plot.cursor.idx;
    const said = index == null ? "" : this.shown.map((run, place) => `${run.label} ${plot.data[place + 1][index] == null ? "none" : one.shown(plot.data[place + 1][index])}`).join(", ");
    const caption = one.box.previousElementSibling;
    caption.dataset.value = said && `${moment(plot.data[0][index], this.seconds(this.to) - this.seconds(this.from))}: ${said}`;
  }

  // ---- Drawing.

  level(run) {
    let found = this.levels.get(run);
    if (!found) {
      found = { held: heldLevel(run, this.chosen), queue: queueLevel(this.table, run, this.chosen), waits: new Waits(this.table, run, this.chosen) };
      this.levels.set(run, found);
    }
    return found;
  }

  draw() {
    const { table, from, to } = this;
    const colouring = this.colourings()[element("colour").value];
    const paints = colouring.classes.map(([text]) => colourNumber(text));
    const pale = colourNumber(matchMedia("(prefers-color-scheme: dark)").matches ? "#26313a" : "#eceff2");
    const stretches = Math.max(50, Math.min(1200, Math.floor((this.width - LEFT - RIGHT) / 1.5)));
    for (const one of this.charts) {
      if (one.canvas) {
        one.gantt.paint(from, to, (job) => paints[colouring.of(one.run, job)], this.chosen, pale);
        if (this.job >= 0) one.gantt.mark(this.job, from, to, ink("--ink"));
      } else {
        const step = (to - from) / stretches;
        const x = Array.from({ length: stretches }, (_, index) => this.seconds(from + (index + 0.5) * step));
        const levels = this.shown.map((run) => one.of(this.level(run)).means(from, to, stretches).map((value) => (value === null ? null : one.scaled(value))));
        one.plot.setData([x, ...levels]);
      }
    }
    element("legend").replaceChildren(...colouring.classes.map(([colour, text]) => make("span", [make("span", "", { class: "key", style: `background: ${colour}` }), text])));
    const span = (to - from) / table.second;
    element("view").textContent = `${moment(this.seconds(from), span)} to ${moment(this.seconds(to), span)} (${duration(span)})`;
    this.drawStrip();
  }

  drawStrip() {
    const canvas = element("strip"), context = canvas.getContext("2d");
    const { width, height } = canvas;
    const scale = window.devicePixelRatio || 1;
    const left = LEFT * scale, wide = width - (LEFT + RIGHT) * scale;
    context.clearRect(0, 0, width, height);
    const means = this.level(this.shown[0]).held.means(0, this.table.length, Math.floor(wide));
    context.fillStyle = ink("--faint");
    means.forEach((value, index) => {
      const high = (height * Math.min(1, value / this.table.hosts));
      context.fillRect(left + index, height - high, 1, high);
    });
    const ends = [this.from, this.to].map((time) => left + (wide * time) / this.table.length);
    context.fillStyle = ink("--accent");
    context.globalAlpha = 0.2;
    context.fillRect(ends[0], 0, Math.max(2, ends[1] - ends[0]), height);
    context.globalAlpha = 1;
    for (const end of ends) context.fillRect(end - scale, 0, 2 * scale, height);
  }

  // ---- Pointer.

  brush() {
    const strip = element("strip");
    const time = (event) => {
      const box = strip.getBoundingClientRect();
      const share = (event.clientX - box.left - LEFT) / (box.width - LEFT - RIGHT);
      return Math.min(1, Math.max(0, share)) * this.table.length;
    };
    let begin = null, moved = null;
    strip.addEventListener("pointerdown", (event) => {
      strip.setPointerCapture(event.pointerId);
      begin = time(event);
      const inside = begin > this.from && begin < this.to && this.to - this.from < 0.98 * this.table.length;
      moved = inside ? [this.from, this.to] : null;
    });
    strip.addEventListener("pointermove", (event) => {
      if (begin === null) return;
      const now = time(event);
      if (moved) {
        const by = Math.min(Math.max(now - begin, -moved[0]), this.table.length - moved[1]);
        this.view(moved[0] + by, moved[1] + by);
      } else if (Math.abs(now - begin) > this.table.length / 500) this.view(Math.min(begin, now), Math.max(begin, now));
    });
    for (const end of ["pointerup", "pointercancel"]) strip.addEventListener(end, () => (begin = null));
  }

  listen(chart) {
    const { canvas } = chart;
    const place = (event) => {
      const box = canvas.getBoundingClientRect();
      const x = (event.clientX - box.left) / box.width, y = (event.clientY - box.top) / box.height;
      return [this.from + x * (this.to - this.from), 1 - y, event.clientX - box.left];
    };
    let begin = null;
    const select = make("div", "", { class: "select" });
    chart.box.append(select);
    canvas.addEventListener("pointerdown", (event) => {
      begin = place(event);
    });
    canvas.addEventListener("pointermove", (event) => {
      const [time, height, x] = place(event);
      if (begin && event.pointerType === "mouse" && Math.abs(x - begin[2]) > 3) {
        Object.assign(select.style, { display: "block", left: `${LEFT + Math.min(x, begin[2])}px`, width: `${Math.abs(x - begin[2])}px` });
        return;
      }
      this.hover(chart, time, height, event);
    });
    canvas.addEventListener("pointerup", (event) => {
      select.style.display = "none";
      if (!begin) return;
      const [time, height, x] = place(event);
      const [started, , from] = begin;
      begin = null;
      if (event.pointerType === "mouse" && Math.abs(x - from) > 3) this.view(Math.min(time, started), Math.max(time, started));
      else this.choose(chart.gantt.at(time, height));
    });
    canvas.addEventListener("pointerleave", () => {
      begin = null;
      select.style.display = "none";
      element("tip").hidden = true;
    });
    canvas.addEventListener("wheel", (event) => {
      if (!event.ctrlKey && !event.shiftKey) return;
      event.preventDefault();
      this.zoom(event.deltaY > 0 ? 1.3 : 1 / 1.3, place(event)[0]);
    }, { passive: false });
    canvas.addEventListener("dblclick", () => this.view(0, this.table.length));
  }

  hover(chart, time, height, event) {
    const tip = element("tip"), job = chart.gantt.at(time, height);
    tip.hidden = job < 0;
    if (job < 0) return;
    const { table } = this, { run } = chart;
    const user = table.users[table.user[job]];
    tip.replaceChildren(
      make("strong", table.name(job)),
      ` ${user ? `of ${user}, ` : ""}${number(table.units[job])} units${table.walltime[job] ? ` for ${duration(table.walltime[job] - 1)}` : ""}`,
      make("br"),
      `waited ${duration(run.wait[job] / table.second)}, ran ${duration((run.end[run.of[job + 1] - 1] - run.start[run.of[job]]) / table.second)}`,
    );
    const wide = tip.offsetWidth;
    tip.style.left = `${Math.max(4, Math.min(event.clientX + 14, document.documentElement.clientWidth - wide - 8))}px`;
    tip.style.top = `${event.clientY + 16}px`;
  }

  // ---- Jobs.

  find(text) {
    const { table } = this;
    if (!text) return;
    for (let job = 0; job < table.count; job++) {
      if (table.name(job) === text) return this.choose(job, true);
    }
    if (table.users.includes(text)) {
      element("user").value = text;
      return this.filter();
    }
    element("said").textContent = `No job and no user is called ${text}.`;
  }

  /** Show a job: frames in the charts, and what is known about it. */
  choose(job, move = false) {
    const { table } = this;
    this.job = job;
    element("job").hidden = job < 0;
    if (job >= 0) {
      const runs = table.runs.filter((run) => run.of[job] < run.of[job + 1]);
      if (move && runs.length) {
        const begin = Math.min(...runs.map((run) => run.start[run.of[job]])), end = Math.max(...runs.map((run) => run.end[run.of[job + 1] - 1]));
        if (begin < this.from || end > this.to || end - begin < (this.to - this.from) / 100) this.view(begin - 2 * (end - begin), end + 2 * (end - begin));
      }
      const user = table.users[table.user[job]];
      element("job-title").textContent = `Job ${table.name(job)}`;
      element("job-asked").textContent = `Submitted ${moment(this.seconds(table.submission[job]), 0)}${user ? ` by ${user}` : ""}, asked for ${number(table.units[job])} units${table.walltime[job] ? ` for at most ${duration(table.walltime[job] - 1)}` : ""}.`;
      element("job-rows").replaceChildren(...table.runs.map((run) => this.jobRow(run, job)));
    }
    this.redraw();
  }

  jobRow(run, job) {
    const { table } = this;
    const states = ["not in this run", ...table.states];
    const cells = [make("th", [this.key(run), run.label], { scope: "row" })];
    if (run.of[job] === run.of[job + 1]) return make("tr", [...cells, make("td", states[run.state[job]].toLowerCase().replaceAll("_", " "), { colspan: 5 })]);
    const first = run.of[job], last = run.of[job + 1] - 1;
    let ran = 0;
    for (let segment = first; segment <= last; segment++) ran += run.end[segment] - run.start[segment];
    const wait = run.wait[job] / table.second, took = ran / table.second;
    const slowdown = Math.max(1, (wait + took) / Math.max(took, 10));
    const why = this.reasons[run.label]?.[table.prefix + table.name(job)];
    const parts = last > first ? ` in ${last - first + 1} segments` : "";
    cells.push(make("td", duration(wait)), make("td", moment(this.seconds(run.start[first]), 0)), make("td", duration(took) + parts), make("td", number(slowdown)), make("td", [states[run.state[job]].toLowerCase().replaceAll("_", " "), ...(why ? [make("div", why, { class: "why" })] : [])]));
    return make("tr", cells);
  }

  filter() {
    const { table } = this;
    const size = element("size").selectedIndex - 1, length = element("length").selectedIndex - 1;
    const name = element("user").value.trim();
    const user = name ? table.users.indexOf(name) : -1;
    const sizes = sizeClasses(table.units);
    const run = this.base;
    let left = 0;
    for (let job = 0; job < table.count; job++) {
      let wanted = !name || table.user[job] === user;
      if (wanted && size >= 0) wanted = classOf(sizes, table.units[job]) === size;
      if (wanted && length >= 0) {
        const known = run.of[job] < run.of[job + 1];
        wanted = known && classOf(LENGTHS, (run.end[run.of[job + 1] - 1] - run.start[run.of[job]]) / table.second) === length;
      }
      this.chosen[job] = wanted ? 1 : 0;
      left += wanted ? 1 : 0;
    }
    element("said").textContent = left === table.count ? "" : left ? `${number(left)} of ${number(table.count)} jobs are shown in colour, and count in the curves.` : `No job passes the filters${name && user < 0 ? `: no user is called ${name}` : ""}.`;
    this.levels.clear();
    this.compare();
    this.redraw();
  }

  // ---- Two dispatchers.

  compare() {
    const { table, base, other } = this;
    if (!other) return;
    const change = changes(table, base, other);
    let jobs = 0, sum = 0, less = 0, more = 0;
    change.forEach((value, job) => {
      if (!this.chosen[job] || Number.isNaN(value)) return;
      jobs++;
      sum += value;
      less += value < -0.5;
      more += value > 0.5;
    });
    element("pair-said").textContent = jobs
      ? `Under ${other.label}, ${number(less)} of ${number(jobs)} jobs wait less than under ${base.label}, and ${number(more)} wait longer; the mean wait ${sum < 0 ? "falls" : "grows"} by ${duration(Math.abs(sum) / jobs)}.`
      : "No job started in both.";
    const [winners, losers] = extremes(change, this.chosen, MOST_NAMED);
    const row = (job) => {
      const button = make("button", table.name(job), { type: "button" });
      button.addEventListener("click", () => {
        this.choose(job, true);
        element("job").scrollIntoView({ block: "nearest" });
      });
      return make("tr", [make("th", button, { scope: "row" }), make("td", table.users[table.user[job]] || "–"), make("td", number(table.units[job])), make("td", duration(base.wait[job] / table.second)), make("td", duration(other.wait[job] / table.second)), make("td", `${change[job] > 0 ? "+" : "−"}${duration(Math.abs(change[job]))}`)]);
    };
    element("winners").replaceChildren(...winners.map(row));
    element("losers").replaceChildren(...losers.map(row));
    const sizes = sizeClasses(table.units);
    const ways = {
      user: [(job) => table.user[job], (key) => (table.users[key] ? `user ${table.users[key]}` : "not known")],
      size: [(job) => classOf(sizes, table.units[job]), (key) => `${sizes[key][1]} units`],
      hour: [(job) => Math.floor((((this.seconds(table.submission[job]) % DAY) + DAY) % DAY) / HOUR), (key) => `submitted ${String(key).padStart(2, "0")}:00 to ${String(key).padStart(2, "0")}:59`],
    };
    const groups = grouped(change, this.chosen, ...ways[element("group").value]);
    const whole = groups.reduce((all, one) => all + Math.abs(one.sum), 0) || 1;
    element("groups").replaceChildren(...groups.slice(0, 10).map((one) => make("tr", [make("th", one.name, { scope: "row" }), make("td", number(one.jobs)), make("td", `${one.sum > 0 ? "+" : one.sum < 0 ? "−" : ""}${duration(Math.abs(one.sum) / one.jobs)}`), make("td", `${Math.round((100 * Math.abs(one.sum)) / whole)}${NBSP}%`)])));
  }

  // ---- Pictures.

  /** Save what the charts show as a PNG. */
  save() {
    const scale = window.devicePixelRatio || 1;
    const canvases = this.charts.map((one) => one.canvas ?? one.box.querySelector("canvas"));
    const gap = 22 * scale;
    const picture = make("canvas");
    picture.width = Math.round(this.width * scale);
    picture.height = canvases.reduce((high, one) => high + one.height + gap, 0);
    const context = picture.getContext("2d");
    context.fillStyle = ink("--paper");
    context.fillRect(0, 0, picture.width, picture.height);
    context.font = `${13 * scale}px system-ui, sans-serif`;
    let top = 0;
    canvases.forEach((one, index) => {
      const chart = this.charts[index];
      context.fillStyle = ink("--ink");
      context.fillText(chart.run?.label ?? chart.title, LEFT * scale, top + 15 * scale);
      context.drawImage(one, chart.canvas ? LEFT * scale : 0, top + gap);
      top += one.height + gap;
    });
    picture.toBlob((blob) => {
      const link = make("a", "", { href: URL.createObjectURL(blob), download: "batdispatch.png" });
      link.click();
      URL.revokeObjectURL(link.href);
    });
  }
}

async function begin() {
  const data = document.getElementById("explore-data");
  if (!data || typeof DecompressionStream === "undefined") return;
  const { reasons, ...header } = JSON.parse(data.textContent);
  const table = await readTable(header);
  document.documentElement.classList.add("explored");
  document.getElementById("explore").hidden = false;
  window.explorer = new Explorer(table, reasons);
}
begin();
