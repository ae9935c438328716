"""The explorer at work, in a headless Chromium; skipped where there is none."""

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from batdispatch.report.losses import begin_losses, jobs_that_lose, started_jobs
from batdispatch.report.page import render
from batdispatch.results.runs import read_runs
from batdispatch.runs.run import execute
from batdispatch.runs.spec import RunSpec
from browsing import browse, needs_browser
from sites import simulated

pytestmark = pytest.mark.usefixtures("unillustrated")
EXAMPLES = Path(__file__).parents[3] / "schedulers" / "batdispatch" / "examples"


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> list[Any]:
    folder = tmp_path_factory.mktemp("runs")
    for dispatcher in ("fcfs", "easy"):
        spec = RunSpec(
            platform=str(EXAMPLES / "flat64.xml"), workload=str(EXAMPLES / "demo64.json"), dispatcher=dispatcher
        )
        execute(spec, folder / dispatcher)
    return read_runs([folder / "fcfs", folder / "easy"])


@pytest.fixture(scope="module")
def page(runs: list[Any]) -> str:
    return render(runs)


BEGIN = """
await until(() => window.explorer && window.explorer.layout.width);
const explorer = window.explorer, { table, view } = explorer;
const by = (id) => document.getElementById("explore-" + id);
"""


@needs_browser
def test_the_page_knows_what_the_runs_are(runs: list[Any], page: str, tmp_path: Path) -> None:
    told = browse(
        page,
        BEGIN
        + """
        return table.runs.map((run) => ({
          label: run.label,
          jobs: Array.from({ length: table.count }, (_, job) => {
            const segment = run.of[job];
            const hosts = [];
            for (let part = run.at[segment]; part < run.at[segment + 1]; part++) {
              hosts.push([run.first[part], run.last[part]]);
            }
            return [table.name(job), run.start[segment] / table.second + table.begin,
                    run.end[segment] / table.second + table.begin, run.wait[job] / table.second, hosts];
          }),
          waiting: explorer.level(explorer.curve("queue"), run).upTo(table.length) / table.second,
          busy: explorer.level(explorer.curve("busy"), run).upTo(table.length) / table.second,
        }));
        """,
        tmp_path,
    )
    for run, found in zip(runs, told, strict=True):
        jobs = run.logical
        assert found["label"] == run.label
        assert len(found["jobs"]) == len(jobs)
        rows = {name: row for row, name in enumerate(jobs.job_id.tolist())}
        bounds = jobs.hosts.bounds()
        for name, start, end, wait, hosts in found["jobs"]:
            row = rows[name]
            assert start == pytest.approx(jobs.starting_time[row], abs=1e-3)
            assert end == pytest.approx(jobs.finish_time[row], abs=1e-3)
            assert wait == pytest.approx(jobs.waiting_time[row], abs=2e-3)
            places = range(bounds[row], bounds[row + 1])
            assert hosts == [[jobs.hosts.first[place], jobs.hosts.last[place]] for place in places]
        # Areas below the curves, in host-seconds and job-seconds.
        assert found["busy"] == pytest.approx((jobs.hosts.sizes * jobs.execution_time).sum(), rel=1e-6)
        assert found["waiting"] == pytest.approx(run.sample.wait.sum(), rel=1e-6)


@needs_browser
def test_zoom_find_filter_and_compare(runs: list[Any], page: str, tmp_path: Path) -> None:
    waits = [dict(zip(run.logical.job_id.tolist(), run.logical.waiting_time.tolist(), strict=True)) for run in runs]
    change = {name: waits[1][name] - wait for name, wait in waits[0].items()}
    told = browse(
        page,
        BEGIN
        + """
        const found = { shown: getComputedStyle(by("charts")).display, whole: by("view").textContent };
        by("hour").click();
        await until(() => by("view").textContent !== found.whole);
        found.hour = (view.to - view.from) / table.second;
        by("charts").dispatchEvent(new KeyboardEvent("keydown", { key: "Home", cancelable: true }));
        found.home = [view.from, view.to - table.length];
        by("name").value = table.name(3);
        by("find").requestSubmit();
        found.job = [by("job").hidden, by("job-title").textContent, by("job-rows").rows.length];
        const { from, to } = view;
        found.inside = table.runs.every((run) => run.start[run.of[3]] >= from && run.end[run.of[3]] <= to);
        const run = explorer.shown[0], segment = run.of[3];
        const middle = (run.start[segment] + run.end[segment]) / 2;
        found.under = explorer.layout.charts[0].gantt.at(middle, (run.first[run.at[segment]] + 0.5) / table.rows);
        by("all").click();
        by("name").value = "nobody at all";
        by("find").requestSubmit();
        found.nobody = by("said").textContent;
        found.pair = by("pair-said").textContent;
        found.first = by("winners").rows[0].cells[0].textContent;
        const user = table.users.find(Boolean);
        if (user) {
          by("of-user").value = user;
          by("of-user").dispatchEvent(new Event("change"));
          const own = table.user.filter((one) => table.users[one] === user).length;
          found.filtered = [explorer.chosen.reduce((sum, one) => sum + one), own];
          by("reset").click();
        }
        found.all = explorer.chosen.every((one) => one === 1);
        const before = by("legend").textContent;
        by("show-pair").click();
        // It is drawn in a later frame.
        await until(() => by("legend").textContent !== before);
        found.legend = by("legend").textContent;
        return found;
        """,
        tmp_path,
    )
    assert told["shown"] != "none"
    assert told["hour"] == 3600
    assert told["home"] == [0, 0]
    assert told["job"][0] is False
    assert told["job"][1].startswith("Job ")
    assert told["job"][2] == 2
    assert told["inside"]
    assert told["under"] == 3
    assert told["nobody"] == "No job, user or date is called nobody at all."
    less, more = (sum(sign * one > 0.5 for one in change.values()) for sign in (-1, 1))
    compared = f"Under easy, {less} of {len(change)} jobs wait less than under fcfs, and {more} wait longer"
    assert told["pair"].startswith(compared)
    assert change[told["first"]] == min(change.values())
    if "filtered" in told:
        assert told["filtered"][0] == told["filtered"][1] > 0
    assert told["all"]
    assert told["legend"] == "waits lesssamewaits longersame wait, other hosts"


@needs_browser
@pytest.mark.parametrize("width", [360, 768, 1400])
def test_a_chart_is_painted_at_any_width(page: str, width: int, tmp_path: Path) -> None:
    told = browse(
        page,
        BEGIN
        + """
        await until(() => by("legend").textContent);
        const canvas = explorer.layout.charts[0].canvas;
        const pixels = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data;
        let painted = 0;
        for (let place = 3; place < pixels.length; place += 4) painted += pixels[place] > 0;
        const [held] = explorer.level(explorer.curve("busy"), explorer.shown[0]).means(0, table.length, 1);
        return [painted / (canvas.width * canvas.height), held / table.hosts];
        """,
        tmp_path,
        width=width,
    )
    # The share that is coloured is the utilisation, but for edges and names, and for jobs narrower than a pixel.
    assert told[0] == pytest.approx(told[1], rel=0.15 if width == 360 else 0.1)


@needs_browser
def test_the_dearest_losses_say_why(runs: list[Any], page: str, tmp_path: Path) -> None:
    _, found, _ = begin_losses(runs)()
    dearest = found[0].losses[0]
    told = browse(
        page,
        BEGIN
        + f"""
        by("name").value = {dearest.job.partition("!")[2]!r};
        by("find").requestSubmit();
        return by("job-rows").querySelector(".why").textContent;
        """,
        tmp_path,
    )
    assert told == dearest.why.replace("w0!", "")


@needs_browser
def test_one_run_is_explored_without_a_pair(runs: list[Any], tmp_path: Path) -> None:
    told = browse(
        render(runs[:1]),
        BEGIN
        + """
        await until(() => by("legend").textContent);
        by("colour").selectedIndex = by("colour").options.length - 1;
        by("colour").dispatchEvent(new Event("change"));
        explorer.choose(0);
        await pause(50);
        return [by("pair").hidden, by("runs").rows.length, by("job-rows").rows.length, explorer.layout.charts.length];
        """,
        tmp_path,
    )
    assert told == [True, 1, 1, 4]


@needs_browser
def test_of_24_runs_a_few_are_in_view_and_the_compared_two_stand_out(write_jobs: Any, tmp_path: Path) -> None:
    folders = [write_jobs({"a": {}, "b": {"hosts": "1", "start": float(run)}}, f"run{run}") for run in range(24)]
    told = browse(
        render(read_runs(folders), explain=False),
        BEGIN
        + """
        const boxes = [...by("runs").querySelectorAll("input")];
        const found = [boxes.length, boxes.filter((box) => box.checked).length];
        boxes[23].click();
        await until(() => explorer.shown.length === 5);
        found.push(explorer.shown.at(-1).label, explorer.layout.charts.length);
        by("runs-all").click();
        found.push(explorer.shown.length, explorer.foremost.map((run) => run.label));
        by("other").selectedIndex = 20;
        by("other").dispatchEvent(new Event("change"));
        found.push(explorer.foremost.map((run) => run.label), explorer.layout.charts.at(-1).plot.series.length - 1);
        by("runs-few").click();
        return [...found, explorer.shown.length, by("runs").querySelectorAll("input:checked").length];
        """,
        tmp_path,
        width=390,
    )
    assert told == [24, 4, "run23", 5 + 3, 24, ["run0", "run1"], ["run0", "run20"], 24, 4, 4]


@needs_browser
def test_the_keyboard_goes_from_job_to_job_and_looks_at_moments(runs: list[Any], page: str, tmp_path: Path) -> None:
    told = browse(
        page,
        BEGIN
        + """
        const press = (key) => by("charts").dispatchEvent(new KeyboardEvent("keydown", { key, cancelable: true }));
        const found = { jobs: [] };
        for (const key of ["n", "n", "n", "p"]) { press(key); found.jobs.push(explorer.job); }
        by("of-user").value = table.users[table.user[40]];
        by("of-user").dispatchEvent(new Event("change"));
        press("n");
        found.sameUser = table.user[explorer.job] === table.user[40] && explorer.job > 1;
        found.skipped = [...table.user.slice(2, explorer.job)].every((one) => one !== table.user[40]);
        press("m");
        found.moment = by("instant").hidden;
        press("Escape");
        found.closed = [by("job").hidden, by("instant").hidden];
        by("reset").click();
        press("Home");
        await until(() => by("runs").rows[0].cells[5].querySelector("button"));
        const peak = explorer.level(explorer.curve("queue"), table.runs[0]).peak(0, table.length);
        by("runs").rows[0].cells[5].querySelector("button").click();
        found.peak = [explorer.instant === peak.time, peak.value, table.begin + peak.time / table.second];
        found.rows = [...by("instant-rows").rows].map((row) => [...row.cells].map((cell) => cell.textContent));
        return found;
        """,
        tmp_path,
    )
    assert told["jobs"] == [0, 1, 2, 1]
    assert told["sameUser"]
    assert told["skipped"]
    assert told["moment"] is False
    assert told["closed"] == [True, True]
    jobs = runs[0].logical
    at_peak, highest, when = told["peak"]
    assert at_peak

    def waiting(time: float) -> Any:
        return (jobs.submission_time <= time) & (jobs.starting_time > time)

    assert highest == max(waiting(time).sum() for time in jobs.submission_time) == waiting(when).sum()
    held = (jobs.hosts.sizes * ((jobs.starting_time <= when) & (when < jobs.finish_time))).sum()
    units = jobs.requested_number_of_resources[waiting(when)]
    _, count, asked, idle, fit, names, first = told["rows"][0]
    assert [count, asked, idle] == [str(len(units)), f"{units.sum():,}", f"{64 - held} of 64"]
    assert fit == str((units <= 64 - held).sum())
    assert first.split(" ")[:2] == ["job", jobs.job_id[waiting(when)][0]]
    running = (jobs.starting_time <= when) & (when < jobs.finish_time)
    bounds = jobs.hosts.bounds()
    idle_hosts = np.ones(64, dtype=bool)
    for row in np.flatnonzero(running):
        for place in range(bounds[row], bounds[row + 1]):
            idle_hosts[jobs.hosts.first[place] : jobs.hosts.last[place] + 1] = False
    ends = [re.findall(r"\d+", stretch) for stretch in names.split(", ")]
    named = [host for one in ends for host in range(int(one[0]), int(one[-1]) + 1)]
    assert named == np.flatnonzero(idle_hosts).tolist()


@needs_browser
def test_a_queue_is_a_filter_and_the_pointer_says_what_a_job_asked_waited_and_got(tmp_path: Path) -> None:
    jobs = [
        {"id": "1", "subtime": 0, "res": 2, "walltime": 60, "profile": "p", "queue": "long", "user": "ann"},
        {"id": "2", "subtime": 5, "res": 1, "walltime": 60, "profile": "p", "queue": "short"},
    ]
    folder = simulated(tmp_path, "easy", EXAMPLES / "flat64.xml", jobs, {"p": {"type": "delay", "delay": 30}})
    told = browse(
        render(read_runs([folder])),
        BEGIN
        + """
        await until(() => by("legend").textContent);
        const found = { queues: [...by("of-queue").options].map((one) => one.textContent) };
        by("of-queue").value = "short";
        by("of-queue").dispatchEvent(new Event("change"));
        found.chosen = [...explorer.chosen];
        const { canvas } = explorer.layout.charts[0], box = canvas.getBoundingClientRect();
        const at = { clientX: box.left + box.width * 10 / table.length, clientY: box.bottom - box.height / 64 };
        canvas.dispatchEvent(new PointerEvent("pointermove", at));
        found.tip = by("tip").innerText.replaceAll("\\u00a0", " ");
        return found;
        """,
        tmp_path,
    )
    assert told["queues"] == ["any", "long", "short"]
    assert told["chosen"] == [0, 1]
    assert told["tip"].split("\n") == [
        "1 of user ann in queue long",
        "asked 2 units for at most 60 s",
        "waited 0 s",
        "got 2 hosts for 30 s, completed",
    ]


@needs_browser
def test_each_job_of_a_pair_says_why_it_waits_longer(runs: list[Any], page: str, tmp_path: Path) -> None:
    told = browse(
        page,
        BEGIN
        + """
        const read = (id) => [...by(id).querySelectorAll("button")].map((button) => {
          const next = button.closest("tr").nextElementSibling;
          return [button.textContent, next && next.cells.length === 1 ? next.textContent : ""];
        });
        const found = [read("winners"), read("losers"), by("pair-unexplained").hidden];
        by("base").selectedIndex = 1;
        by("other").selectedIndex = 0;
        by("other").dispatchEvent(new Event("change"));
        return [...found, read("winners"), read("losers")];
        """,
        tmp_path,
    )
    fcfs, easy = runs
    for label, (run, other), listed in (("fcfs", (fcfs, easy), told[0]), ("easy", (easy, fcfs), told[1])):
        assert [f"w0!{name}" for name, _ in listed] == jobs_that_lose(started_jobs(run), started_jobs(other))
        assert listed
        for _, why in listed:
            assert why.startswith(f"Under {label}: Waited ")
    assert told[2]
    # The other way round, winners have lost, and each has the reason that it had.
    assert told[3:] == [told[1], told[0]]


@needs_browser
def test_a_pair_says_how_many_jobs_gain_and_by_how_much_and_no_word_on_chance(page: str, tmp_path: Path) -> None:
    generator = np.random.default_rng(4)
    alone = generator.normal(-30, 8, 400)
    together = alone + 10 * np.sin(np.arange(400) / 60)
    told = browse(
        page,
        BEGIN
        + f"""
        const said = (values) => {{
          // Waits under both runs that make such changes.
          table.runs[1].wait = table.runs[0].wait.map((wait, job) => wait + values[job] * table.second);
          explorer.compare(table.runs[0], table.runs[1]);
          return by("pair-said").textContent.replaceAll("\u00a0", " ");
        }};
        return [said({alone.tolist()}), said({together.tolist()})];
        """,
        tmp_path,
    )
    for said, changes in zip(told, (alone, together), strict=True):
        less, more = (int((sign * changes > 0.5).sum()) for sign in (-1, 1))
        assert f"{less} of 400 jobs wait less" in said
        assert f"and {more} wait longer" in said
        found = re.search(
            r"median change is (\u2212?[\d.]+) s, the quartiles are (\u2212?[\d.]+) s and (\u2212?[\d.]+) s", said
        )
        assert found is not None, said
        shown = [float(text.replace("\u2212", "-")) for text in found.groups()]
        assert shown == pytest.approx(np.quantile(changes, [0.5, 0.25, 0.75]).tolist(), abs=0.5)
        assert "chance" not in said
        assert "interval" not in said


@needs_browser
@pytest.mark.parametrize("width", [390, 1400])
def test_the_axis_of_waits_has_whole_hours_and_no_moment_is_cut_off(page: str, width: int, tmp_path: Path) -> None:
    said = browse(
        page,
        BEGIN
        + """
        const chart = explorer.layout.charts.find((one) => one.title === "Wait"), { plot } = chart;
        const [x, y] = plot.axes;
        const cut = [];
        for (let to = table.length * 0.6; to < table.length; to += table.length / 40) {
          view.show(0, to);
          await until(() => Math.abs(plot.scales.x.max - view.seconds(view.to)) < 1);
          await pause(30);
          x._values.forEach((text, index) => {
            const half = plot.ctx.measureText(text).width / 2;
            if (text && plot.valToPos(x._splits[index], "x", true) + half > plot.ctx.canvas.width) cut.push(text);
          });
        }
        return { waits: y._values, cut };
        """,
        tmp_path,
        width=width,
    )
    assert said["cut"] == []
    assert len(said["waits"]) >= 3
    assert all(re.fullmatch(r"\d+\s(s|min|h|d)", text) for text in said["waits"]), said["waits"]
