"""Thirty questions to a report, each answered by at most three steps from the top of the page, as a reader would."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cached_property
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import numpy as np
import pytest
from lxml import etree
from playwright.sync_api import Page, expect

import batdispatch as bd
from batdispatch.report.opening import wait_changes
from batdispatch.report.page import write_report
from batdispatch.results.numbers import duration, durations, number, seconds_in
from batdispatch.results.runs import Run, display_name, read_runs
from browsing import needs_browser, opened, ready
from experiments import SHARED_LOGS

pytestmark = [needs_browser, pytest.mark.usefixtures("unillustrated")]
ZONE = ZoneInfo("Europe/Stockholm")
SIX = ["fcfs", "easy", "easy[ordering=sjf]", "conservative", "easy[ordering=unicef]", "filler"]
NBSP = "\u00a0"
UNITS = ((86400, "d"), (3600, "h"), (60, "min"), (1, "s"))


def write_log(path: Path) -> None:
    """Write a log of 700 jobs of 9 users on 64 processors, over a change of clocks."""
    rng = np.random.default_rng(11)
    begin = int(datetime(2026, 3, 12, 9, tzinfo=ZONE).timestamp())
    lines = [f"; UnixStartTime: {begin}", "; TimeZoneString: Europe/Stockholm", "; MaxNodes: 64", "; MaxProcs: 64"]
    submission = 0
    for job in range(1, 701):
        submission += int(rng.exponential(3600))
        run, size, user = int(rng.lognormal(8.6, 1.3)) + 1, int(2 ** rng.integers(0, 7)), int(rng.integers(1, 10))
        fields = [job, submission, 0, run, size, -1, -1, size, 2 * run, -1, 1, user, 1, -1, 1, -1, -1, -1]
        lines.append(" ".join(map(str, fields)))
    path.write_text("\n".join(lines) + "\n")


@dataclass(frozen=True)
class Report:
    """A page of runs on one log, and what the runs say."""

    page: Path
    runs: list[Run]

    @cached_property
    def begin(self) -> float:
        dates = self.runs[0].result.workload.dates
        assert dates is not None
        return dates.begin

    def local(self, seconds: float) -> datetime:
        return datetime.fromtimestamp(self.begin + seconds, ZONE)

    def seconds(self, moment: datetime) -> float:
        return moment.timestamp() - self.begin

    @cached_property
    def day(self) -> datetime:
        """Midnight before the job in the middle of the log."""
        middle = self.runs[0].logical.submission_time[len(self.runs[0].logical) // 2]
        return self.local(float(middle)).replace(hour=0, minute=0, second=0, microsecond=0)

    @property
    def noon(self) -> float:
        return self.seconds(self.day.replace(hour=12))


def waiting(run: Run, time: float) -> Any:
    return (run.logical.submission_time <= time) & (run.logical.starting_time > time)


def idle_hosts(run: Run, time: float) -> list[int]:
    jobs = run.logical
    bounds, idle = jobs.hosts.bounds(), np.ones(run.hosts or 0, dtype=bool)
    for row in np.flatnonzero((jobs.starting_time <= time) & (time < jobs.finish_time)):
        for place in range(bounds[row], bounds[row + 1]):
            idle[jobs.hosts.first[place] : jobs.hosts.last[place] + 1] = False
    return np.flatnonzero(idle).tolist()


def go_to(shown: Page, text: str) -> None:
    shown.fill("#explore-name", text)
    shown.press("#explore-name", "Enter")
    settle(shown)


def settle(shown: Page) -> None:
    """Wait until what is worked out at rest has been."""
    shown.wait_for_timeout(350)


def cells(shown: Page, rows: str) -> list[list[str]]:
    read = "(body) => [...body.rows].map((row) => [...row.cells].map((cell) => cell.textContent))"
    found: list[list[str]] = shown.locator(rows).evaluate(read)
    return found


def who_waited_longest_in_a_week_and_why(shown: Page, report: Report) -> None:
    go_to(shown, f"{report.day:%Y-%m-%d}")
    shown.click("#explore-week")
    settle(shown)
    shown.click("#explore-runs tr:first-child td:nth-of-type(3) button")
    monday = report.day - timedelta(days=report.day.weekday())
    first, last = report.seconds(monday), report.seconds(monday + timedelta(days=7))
    jobs = report.runs[0].logical
    inside = np.flatnonzero((jobs.submission_time >= first) & (jobs.submission_time < last))
    longest = jobs.waiting_time[inside].max()
    assert longest > 0
    name = shown.locator("#explore-job-title").inner_text().removeprefix("Job ")
    [row] = np.flatnonzero(jobs.job_id == name)
    assert row in inside
    assert jobs.waiting_time[row] == longest
    why = shown.locator("#explore-job-rows .why").first.inner_text()
    overtakers = (
        (jobs.submission_time > jobs.submission_time[row])
        & (jobs.starting_time < jobs.starting_time[row])
        & (np.arange(len(jobs)) != row)
    ).sum()
    assert re.search(r"most hosts were held by job \d+", why), why
    assert f"{overtakers:,} later job{'' if overtakers == 1 else 's'} started before it" in why


def which_hosts_idle_at_the_longest_queue(shown: Page, report: Report) -> None:
    shown.click("#explore-runs tr:first-child td:nth-of-type(5) button")
    time = shown.evaluate("explorer.table.begin + explorer.instant / explorer.table.second")
    [run, *_], [row, *_] = report.runs, cells(shown, "#explore-instant-rows")
    starts = np.concatenate([run.logical.submission_time, run.logical.starting_time])
    longest = max(waiting(run, moment).sum() for moment in np.unique(starts))
    assert row[1] == number(longest) == number(waiting(run, time).sum())
    idle = idle_hosts(run, time)
    ends = [re.findall(r"\d+", stretch) for stretch in row[5].split(", ")] if idle else []
    assert [host for one in ends for host in range(int(one[0]), int(one[-1]) + 1)] == idle
    shown.keyboard.press("Escape")


def which_user_loses_most(shown: Page, report: Report) -> None:
    first, second = (run.logical for run in report.runs[:2])
    of = users_of(shown)
    wait = dict(zip(first.job_id.tolist(), first.waiting_time.tolist(), strict=True))
    changes: dict[str, list[float]] = {}
    for job, there in zip(second.job_id.tolist(), second.waiting_time.tolist(), strict=True):
        changes.setdefault(of[job], []).append(there - wait[job])
    worst = max(np.mean(change) for change in changes.values())
    shown.get_by_role("button", name="Change of the mean").click()
    [label, count, *_] = cells(shown, "#explore-who-rows")[0]
    assert (np.mean(changes[label]), count) == (pytest.approx(worst), number(len(changes[label])))


def how_sure_the_answer_is(shown: Page, report: Report) -> None:
    said = shown.locator("#overview .answer")
    words = said.inner_text()
    assert len(words.split()) <= 60
    box = said.bounding_box()
    assert box is not None
    assert box["y"] + box["height"] < 350
    best = min(report.runs, key=lambda run: float(run.metrics["mean_waiting_time"] or 0))
    easy = next(
        run for run in report.runs if run.result.dispatcher == "easy" and run.result.options["ordering"] == "fcfs"
    )
    rest = [run for run in report.runs if run is not best]
    other = easy if easy is not best else rest[0]
    change = wait_changes(other, best)
    gained, lost = -change[change < -0.5], change[change > 0.5]
    assert f"{len(gained):,} of {len(change):,} wait less" in words
    assert f", {len(lost):,} longer." in words
    texts, unit = durations(np.quantile(gained, [0.25, 0.5, 0.75]).tolist())
    assert f"median gain {texts[1]}{NBSP}{unit}, quartiles {texts[0]} and {texts[2]})" in words
    share = 100 * (1 - float(best.metrics["mean_waiting_time"] or 0) / float(other.metrics["mean_waiting_time"] or 0))
    assert f"under {other.label} (\u2212{number(share)}{NBSP}%)" in words


def utilisation_of_a_day(shown: Page, report: Report) -> None:
    go_to(shown, f"{report.day:%-d %b %Y}")
    first, last = report.seconds(report.day), report.seconds(report.day + timedelta(days=1))
    for run, row in zip(report.runs, cells(shown, "#explore-runs"), strict=False):
        jobs = run.columns
        inside = np.clip(np.minimum(jobs.finish_time, last) - np.maximum(jobs.starting_time, first), 0, None)
        share = (inside * jobs.hosts.sizes).sum() / (last - first) / (run.hosts or 1)
        if row[4]:
            assert float(row[4].rstrip("%\u00a0")) == pytest.approx(100 * share, abs=0.06)


def the_same_moment_under_two_dispatchers(shown: Page, report: Report) -> None:
    go_to(shown, f"{report.day:%Y-%m-%d} 12:00")
    shown.press("#explore-charts", "m")
    expect(shown.locator("#explore-instant-title")).to_contain_text("12:00:00")
    rows = cells(shown, "#explore-instant-rows")
    assert len(rows) == 2
    for run, row in zip(report.runs, rows, strict=False):
        assert row[0] == run.label
        assert row[1] == number(waiting(run, report.noon).sum())
        assert row[3] == f"{len(idle_hosts(run, report.noon))} of {run.hosts}"
    shown.keyboard.press("Escape")


def a_job_by_its_id(shown: Page, report: Report) -> None:
    jobs = report.runs[0].logical
    name = jobs.job_id[int(np.argmax(jobs.waiting_time))]
    go_to(shown, f"w0!{name}")
    expect(shown.locator("#explore-panel")).to_be_focused()
    assert shown.locator("#explore-job-title").inner_text() == f"Job {name}"
    assert len(cells(shown, "#explore-job-rows")) == len(report.runs)
    shown.keyboard.press("Escape")


def a_link_shows_the_same(shown: Page, report: Report, folder: Path) -> None:
    go_to(shown, f"{report.day:%Y-%m-%d}")
    go_to(shown, report.runs[0].logical.job_id[3])
    shown.locator("#explore-who-rows button").first.click()
    settle(shown)
    link = shown.evaluate("location.href")
    looks = ["explore-view", "explore-said", "explore-runs", "explore-job", "explore-who-rows", "explore-longest"]
    read = f"{looks}.map((id) => document.getElementById(id).innerText)"
    with opened(report.page, folder) as other:
        other.goto(link)
        other.reload()
        ready(other)
        settle(other)
        assert other.evaluate(read) == shown.evaluate(read)
        assert "pass the filters" in other.locator("#explore-said").inner_text()


def the_picture_for_a_paper(shown: Page, report: Report, folder: Path) -> None:
    with shown.expect_download() as waited:
        shown.click("#explore-save-svg")
    waited.value.save_as(folder / "picture.svg")
    picture = etree.parse(folder / "picture.svg").getroot()
    texts = ["".join(text.itertext()) for text in picture.iter("{*}text")]
    assert {run.label for run in report.runs[:2]} <= set(texts)
    assert any(re.search(r"\d{4}|\d\d:\d\d|[A-Z][a-z]{2}", text) for text in texts)


def more_hosts(report: Report, folder: Path) -> None:
    """Ask the same log of a machine with a tenth more hosts."""
    run = report.runs[0]
    few = run.hosts or 0
    many = round(1.1 * few)
    larger = bd.run(run.result.workload.path, "easy", platform=many, out=folder / "more", record=False)
    with opened(write_report([run.folder, larger.folder], folder / "more.html", explain=False), folder) as shown:
        words = shown.locator("#overview .answer").inner_text().replace(NBSP, " ")
        [before, after] = (
            float(one.metrics["mean_waiting_time"] or 0) for one in read_runs([run.folder, larger.folder])
        )
        texts, unit = durations([before, after])
        assert f"With {many} hosts instead of {few} (+{number(100 * (many / few - 1))} %)" in words
        assert f"jobs wait {texts[1]} {unit} instead of {texts[0]} {unit}" in words
        assert "do not compare" not in shown.content()


def users_of(shown: Page) -> dict[str, str]:
    """Return the user of each job, by the job's id."""
    read = "Array.from(explorer.table.user, (user, job) => [explorer.table.name(job), explorer.table.users[user]])"
    return dict(shown.evaluate(read))


def slowdowns(run: Run) -> Any:
    jobs = run.logical
    took = jobs.finish_time - jobs.starting_time
    return np.maximum(1, (jobs.waiting_time + took) / np.maximum(took, 10))


def largest_slowdown_of_a_day(shown: Page, report: Report) -> None:
    go_to(shown, f"{report.day:%Y-%m-%d}")
    first, last = report.seconds(report.day), report.seconds(report.day + timedelta(days=1))
    jobs = report.runs[0].logical
    waited = (jobs.submission_time >= first) & (jobs.submission_time < last) & (jobs.waiting_time > 0)
    rows = cells(shown, "#explore-slowest")
    assert bool(rows) == waited.any()
    if rows:
        assert rows[0][4] == number(slowdowns(report.runs[0])[waited].max())


def jobs_and_waits_of_a_user_by_name(shown: Page, report: Report) -> None:
    """A number may be a job's and a user's: `user 36` says which is meant."""
    of = users_of(shown)
    name = of[report.runs[0].logical.job_id[len(of) // 2]]
    go_to(shown, f"user {name}")
    for run, row in zip(report.runs, cells(shown, "#explore-runs"), strict=False):
        if row[1]:
            jobs = run.logical
            waits = [wait for job, wait in zip(jobs.job_id, jobs.waiting_time, strict=True) if of[job] == name]
            assert row[1] == number(len(waits))
            seconds = float(np.mean(waits))
            texts = {duration(seconds), *(f"{number(seconds / size)}{NBSP}{unit}" for size, unit in UNITS)}
            assert row[2] in texts


def who_uses_most(shown: Page, report: Report) -> None:
    of, run = users_of(shown), report.runs[0]
    used: dict[str, float] = {}
    work = (run.columns.finish_time - run.columns.starting_time) * run.columns.hosts.sizes
    for job, seconds in zip(run.columns.job_id.tolist(), work.tolist(), strict=True):
        used[of[job]] = used.get(of[job], 0) + seconds / 3600
    shown.get_by_role("button", name="Host-hours").click()
    [label, _, hours, *_] = cells(shown, "#explore-who-rows")[0]
    assert (used[label], hours) == (pytest.approx(max(used.values())), number(max(used.values())))


def hour_of_submission_with_the_longest_waits(shown: Page, report: Report) -> None:
    shown.select_option("#explore-group", label="Submitted at")
    shown.locator("#explore-who-head button").nth(3).click()
    jobs = report.runs[0].logical
    hours = np.array([report.local(float(time)).hour for time in jobs.submission_time])
    means = {hour: float(jobs.waiting_time[hours == hour].mean()) for hour in set(hours.tolist())}
    [
        label,
        *_,
    ] = cells(shown, "#explore-who-rows")[0]
    assert means[int(label[:2])] == pytest.approx(max(means.values()))


def a_job_that_could_have_used_idle_hosts(shown: Page, report: Report) -> None:
    row = shown.locator("#explore-idle tr").first
    if not row.count():
        return
    name = row.locator("button").nth(1).inner_text()
    row.locator("button").first.click()
    run = report.runs[0]
    time = shown.evaluate("explorer.table.begin + explorer.instant / explorer.table.second")
    [job] = np.flatnonzero(run.logical.job_id == name)
    assert waiting(run, time)[job]
    assert run.logical.requested_number_of_resources[job] <= len(idle_hosts(run, time))
    fits = waiting(run, time) & (run.logical.requested_number_of_resources <= len(idle_hosts(run, time)))
    assert cells(shown, "#explore-instant-rows")[0][4] == number(fits.sum())
    shown.keyboard.press("Escape")


def size_class_that_gains_most(shown: Page, report: Report) -> None:
    shown.select_option("#explore-group", label="Size")
    heading = shown.get_by_role("button", name="Change of the mean")
    heading.click()
    heading.click()
    first, second = (run.logical for run in report.runs[:2])
    wait = dict(zip(first.job_id.tolist(), first.waiting_time.tolist(), strict=True))
    [label, count, _, before, after, *_] = cells(shown, "#explore-who-rows")[0]
    ends = [int(part) for part in re.findall(r"\d+", label.replace(",", ""))]
    sizes = second.requested_number_of_resources
    inside = (sizes >= ends[0]) & (sizes <= (np.inf if "+" in label else ends[-1]))
    assert count == number(inside.sum())
    assert before == duration(float(np.mean([wait[job] for job in second.job_id[inside].tolist()])))
    assert after == duration(float(second.waiting_time[inside].mean()))


def how_long_one_job_waited_in_each_run(shown: Page, report: Report) -> None:
    jobs = report.runs[-1].logical
    name = jobs.job_id[int(np.argmax(jobs.waiting_time))]
    go_to(shown, f"job {name}")
    rows = [row for row in cells(shown, "#explore-job-rows") if len(row) > 1]
    for run, row in zip(report.runs, rows, strict=True):
        [place] = np.flatnonzero(run.logical.job_id == name)
        assert row[1] == duration(float(run.logical.waiting_time[place]))
    shown.keyboard.press("Escape")


def utilisation_and_queue_of_a_month(shown: Page, report: Report) -> None:
    go_to(shown, f"{report.day:%Y-%m}")
    assert shown.locator("#explore-month").get_attribute("aria-pressed") == "true"
    run, row = report.runs[0], cells(shown, "#explore-runs")[0]
    first, last = shown.evaluate("[explorer.view.seconds(explorer.view.from), explorer.view.seconds(explorer.view.to)]")
    assert report.local(first).month == report.day.month
    jobs = run.columns
    inside = np.clip(np.minimum(jobs.finish_time, last) - np.maximum(jobs.starting_time, first), 0, None)
    share = (inside * jobs.hosts.sizes).sum() / (last - first) / (run.hosts or 1)
    assert row[4] == f"{number(100 * share)}{NBSP}%"
    moments = np.unique(np.concatenate([[first], run.logical.submission_time, run.logical.starting_time]))
    moments = moments[(moments >= first) & (moments < last)]
    begun, come = np.sort(run.logical.starting_time), np.sort(run.logical.submission_time)
    longest = (np.searchsorted(come, moments, "right") - np.searchsorted(begun, moments, "right")).max()
    assert row[5].partition(",")[0] == number(longest)


def how_sure_a_users_change_is(shown: Page, report: Report) -> None:
    of = users_of(shown)
    [name, *_] = cells(shown, "#explore-who-rows")[0]
    changes = [
        change
        for job, change in zip(common_jobs(report), wait_changes(*report.runs[:2]), strict=True)
        if of[job] == name
    ]
    shown.fill("#explore-who-name", name)
    row = next(row for row in cells(shown, "#explore-who-rows") if row[0] == name)
    less, longer = (sum(sign * change > 0.5 for change in changes) for sign in (-1, 1))
    low, median, high = np.quantile(changes, [0.25, 0.5, 0.75]).tolist()
    # Changes stand in the unit of the mean waits beside them.
    unit = row[3].partition(NBSP)[2]
    texts = [signed(change, unit) for change in (low, median, high)]
    assert row[6:9] == [f"{less} / {longer}", texts[1], f"{texts[0]} to {texts[2]}"]


def signed(seconds: float, unit: str) -> str:
    sign = "+" if seconds > 0 else "\N{MINUS SIGN}" if seconds < 0 else ""
    return f"{sign}{number(abs(seconds) / seconds_in(unit))}{NBSP}{unit}"


def common_jobs(report: Report) -> list[str]:
    first = report.runs[0].logical
    return [str(first.job_id[row]) for row in np.argsort(first.submission_time, kind="stable")]


def month_of(report: Report) -> tuple[str, float, float]:
    """Return the month of the middle of the log as people type it, and its ends in seconds."""
    first = report.day.replace(day=1)
    after = (first + timedelta(days=32)).replace(day=1)
    return f"{first:%Y-%m}", report.seconds(first), report.seconds(after)


def submitted(run: Run, first: float, last: float) -> Any:
    return (run.logical.submission_time >= first) & (run.logical.submission_time < last)


def who_uses_most_in_a_month(shown: Page, report: Report) -> None:
    text, first, last = month_of(report)
    go_to(shown, text)
    shown.get_by_role("button", name="Host-hours").click()
    [label, jobs, hours, *_] = cells(shown, "#explore-who-rows")[0]
    of, run = users_of(shown), report.runs[0]
    inside = set(run.logical.job_id[submitted(run, first, last)].tolist())
    used: dict[str, float] = {}
    for job, begin, end, hosts in zip(
        run.columns.job_id.tolist(),
        run.columns.starting_time,
        run.columns.finish_time,
        run.columns.hosts.sizes,
        strict=True,
    ):
        if job in inside:
            used[of[job]] = used.get(of[job], 0) + (end - begin) * hosts / 3600
    assert (used[label], hours) == (pytest.approx(max(used.values())), number(max(used.values())))
    assert jobs == number(sum(of[job] == label for job in inside))


def jobs_of_each_size_in_a_week(shown: Page, report: Report) -> None:
    go_to(shown, f"{report.day:%Y-%m-%d}")
    shown.click("#explore-week")
    shown.select_option("#explore-group", label="Size")
    settle(shown)
    monday = report.day - timedelta(days=report.day.weekday())
    inside = submitted(report.runs[0], report.seconds(monday), report.seconds(monday + timedelta(days=7)))
    sizes = report.runs[0].logical.requested_number_of_resources[inside]
    rows = cells(shown, "#explore-who-rows")
    assert sum(int(row[1].replace(",", "")) for row in rows) == len(sizes)
    for label, count, *_ in rows:
        ends = [int(part) for part in re.findall(r"\d+", label.replace(",", ""))]
        assert count == number(((sizes >= ends[0]) & (sizes <= (np.inf if "+" in label else ends[-1]))).sum())


def whose_job_waits_longest(shown: Page, report: Report) -> None:
    shown.get_by_role("button", name="Longest, ").first.click()
    of, jobs = users_of(shown), report.runs[0].logical
    [label, *_] = cells(shown, "#explore-who-rows")[0]
    waits = [wait for job, wait in zip(jobs.job_id.tolist(), jobs.waiting_time, strict=True) if of[job] == label]
    assert max(waits) == jobs.waiting_time.max()


def large_jobs_alone(shown: Page, report: Report) -> None:
    shown.click("#explore-filters summary")
    label = shown.locator("#explore-of-size option").last.inner_text()
    shown.select_option("#explore-of-size", label=label)
    settle(shown)
    least = int(re.findall(r"\d+", label.replace(",", ""))[0])
    for run, row in zip(report.runs, cells(shown, "#explore-runs"), strict=False):
        if row[1]:
            large = run.logical.requested_number_of_resources >= least
            assert row[1] == number(large.sum())
            assert row[3].startswith(f"{duration(float(run.logical.waiting_time[large].max()))}, job ")


def a_users_jobs_of_a_month(shown: Page, report: Report) -> None:
    of = users_of(shown)
    text, first, last = month_of(report)
    run = report.runs[0]
    inside = run.logical.job_id[submitted(run, first, last)].tolist()
    name = of[inside[len(inside) // 2]]
    go_to(shown, f"user {name}")
    go_to(shown, text)
    assert cells(shown, "#explore-runs")[0][1] == number(sum(of[job] == name for job in inside))


def which_run_has_the_lowest_99_percent_wait(shown: Page, report: Report) -> None:
    shown.locator("#overview-table").get_by_role("button", name="99\u00a0% wait").click()
    first = shown.locator("#overview-table tbody th").first.inner_text().replace("\u200b", "").strip()
    values = {display_name(run.result): float(run.metrics["p99_waiting_time"] or 0) for run in report.runs}
    assert values[first] == min(values.values())


def how_far_each_run_is_from_another(shown: Page, report: Report) -> None:
    shown.select_option("#baseline", label=report.runs[0].label)
    [mine, theirs] = (float(run.metrics["mean_waiting_time"] or 0) for run in report.runs[:2])
    cell = shown.locator("#overview-table td[data-run='1'][data-metric=mean_waiting_time] .difference").inner_text()
    assert ("+" in cell) == (theirs > mine)
    # It is rounded to three digits.
    [ratio] = map(float, re.findall(r"([\d.]+)\s\u00d7", cell))
    assert ratio == pytest.approx(theirs / mine, rel=0.01)


def the_95_percent_wait(shown: Page, report: Report) -> None:
    shown.get_by_role("button", name="All metrics").click()
    row = shown.locator("#metrics tr").filter(has_text="95 % wait").first
    assert row.is_visible()
    unit = row.locator(".unit").inner_text()
    scale = next(seconds for seconds, name in UNITS if name == unit)
    value = float(report.runs[0].metrics["p95_waiting_time"] or 0)
    assert row.locator("td").first.inner_text().split()[0] == number(value / scale)


def the_command_that_makes_a_run_again(shown: Page, report: Report) -> None:
    shown.get_by_role("button", name="How to rerun").click()
    text = shown.locator("#rerun").inner_text()
    assert all(f"--dispatcher {run.result.dispatcher}" in text for run in report.runs)


def the_longest_queue_of_a_day(shown: Page, report: Report) -> None:
    go_to(shown, f"{report.day:%Y-%m-%d}")
    button = shown.locator("#explore-runs tr:first-child td:nth-of-type(5) button")
    if not button.count():
        return
    button.click()
    run, first = report.runs[0], report.seconds(report.day)
    moments = np.unique(np.concatenate([[first], run.logical.submission_time, run.logical.starting_time]))
    moments = moments[(moments >= first) & (moments < report.seconds(report.day + timedelta(days=1)))]
    assert cells(shown, "#explore-instant-rows")[0][1] == number(max(waiting(run, moment).sum() for moment in moments))
    shown.keyboard.press("Escape")


def ask(report: Report, folder: Path) -> None:
    """Ask all questions, each of a page as it opens."""
    plain: list[Callable[[Page, Report], None]] = [
        who_waited_longest_in_a_week_and_why,
        which_hosts_idle_at_the_longest_queue,
        which_user_loses_most,
        how_sure_the_answer_is,
        utilisation_of_a_day,
        the_same_moment_under_two_dispatchers,
        a_job_by_its_id,
        largest_slowdown_of_a_day,
        jobs_and_waits_of_a_user_by_name,
        who_uses_most,
        hour_of_submission_with_the_longest_waits,
        a_job_that_could_have_used_idle_hosts,
        size_class_that_gains_most,
        how_long_one_job_waited_in_each_run,
        utilisation_and_queue_of_a_month,
        how_sure_a_users_change_is,
        who_uses_most_in_a_month,
        jobs_of_each_size_in_a_week,
        whose_job_waits_longest,
        large_jobs_alone,
        a_users_jobs_of_a_month,
        which_run_has_the_lowest_99_percent_wait,
        how_far_each_run_is_from_another,
        the_95_percent_wait,
        the_command_that_makes_a_run_again,
        the_longest_queue_of_a_day,
    ]
    pictured: list[Callable[[Page, Report, Path], None]] = [a_link_shows_the_same, the_picture_for_a_paper]
    for question in plain:
        with opened(report.page, folder) as shown:
            ready(shown)
            settle(shown)
            if question is the_same_moment_under_two_dispatchers and len(report.runs) > 2:
                for box in reversed(shown.locator("#explore-runs input:checked").all()[2:]):
                    box.uncheck()
            question(shown, report)
    for asked in pictured:
        with opened(report.page, folder) as shown:
            ready(shown)
            settle(shown)
            asked(shown, report, folder)
    more_hosts(report, folder)


def reported(log: Path, dispatchers: list[str], folder: Path) -> Report:
    done = bd.compare(log, dispatchers, out=folder / "out", record=False)
    folders = [run.folder for run in done.values()]
    return Report(write_report(folders, folder / "page.html", explain=False), read_runs(folders))


@pytest.fixture
def generated(tmp_path: Path) -> Report:
    write_log(tmp_path / "log.swf")
    return reported(tmp_path / "log.swf", ["easy", "conservative"], tmp_path)


def test_questions_to_a_generated_log(generated: Report, tmp_path: Path) -> None:
    ask(generated, tmp_path)


@pytest.mark.slow
@pytest.mark.reallogs
@pytest.mark.skipif(not SHARED_LOGS.is_dir(), reason="the real logs are not here")
@pytest.mark.parametrize("dispatchers", [["easy", "conservative"], SIX], ids=["two runs", "six runs"])
def test_questions_to_a_real_log(dispatchers: list[str], tmp_path: Path) -> None:
    ask(reported(SHARED_LOGS / "swf" / "KTH-SP2-1996-2.1-cln.swf.xz", dispatchers, tmp_path), tmp_path)
