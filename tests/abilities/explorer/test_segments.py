"""Attempts and parts of resized jobs in the explorer: one logical job, its segments told apart and joined."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from batdispatch.abilities.explorer.data import segment_columns
from batdispatch.report.page import render
from batdispatch.results.runs import read_runs
from browsing import browse, needs_browser

pytestmark = pytest.mark.usefixtures("unillustrated")
HOUR = 3600.0
#: Job 1 has three attempts, of which the second one waits for other hosts; job 2 is resized from 4 hosts to 2 at 5 h.
JOBS: dict[str, dict[str, Any]] = {
    "1": {"finish": 2 * HOUR, "hosts": "0-3", "units": 4, "walltime": 36000, "state": "COMPLETED_KILLED"},
    "2": {
        "submission": 1.0,
        "start": 2 * HOUR,
        "finish": 5 * HOUR,
        "hosts": "4-7",
        "units": 4,
        "state": "COMPLETED_KILLED",
    },
    "1!1": {
        "submission": 2 * HOUR,
        "start": 3 * HOUR,
        "finish": 7 * HOUR,
        "hosts": "0-3",
        "units": 4,
        "walltime": 14400,
    }
    | {"state": "COMPLETED_WALLTIME_REACHED"},
    "2!1": {"submission": 5 * HOUR, "start": 5 * HOUR, "finish": 9 * HOUR, "hosts": "4-5", "units": 2},
    "3": {"submission": 2.0, "start": 7 * HOUR, "finish": 8 * HOUR, "hosts": "6-7", "units": 2},
    "1!2": {
        "submission": 7 * HOUR,
        "start": 9 * HOUR,
        "finish": 15 * HOUR,
        "hosts": "0-3",
        "units": 4,
        "walltime": 28800,
    },
}


@pytest.fixture
def run(write_jobs: Callable[..., Path]) -> Any:
    folder = write_jobs(JOBS)
    (folder / "lineage.csv").write_text("job_id,workload_name,parent\n1!1,w0,1\n1!2,w0,1!1\n2!1,w0,2\n")
    [run] = read_runs([folder])
    return run


def test_the_page_is_told_what_each_segment_asked_and_how_it_ended(run: Any) -> None:
    rows = np.array([0, 2, 5, 1, 3, 4])
    told = {name: values.tolist() for name, values in segment_columns(run, rows, np.array([4, 4, 4, 4, 4, 2]))}
    assert told["segment_limit"] == [36001, 14401, 28801, 0, 0, 0]
    # Two fewer than the job asked for, folded.
    assert told["segment_units"] == [0, 0, 0, 0, 3, 0]
    assert told["segment_state"] == run.columns.final_state[rows].tolist()


def test_a_run_without_continued_jobs_tells_nothing(write_jobs: Callable[..., Path]) -> None:
    [run] = read_runs([write_jobs({"a": {}})])
    assert list(segment_columns(run, np.array([0]), np.array([1]))) == []


BEGIN = """
await until(() => window.explorer?.layout?.width);
const { explorer } = window, { table, view, layout } = explorer;
const by = (id) => document.getElementById("explore-" + id);
const [chart] = layout.charts, [run] = table.runs;
await until(() => by("legend").textContent);
"""


@needs_browser
@pytest.mark.parametrize("width", [390, 1400])
def test_the_pointer_and_the_table_tell_the_segments_of_a_job(run: Any, width: int, tmp_path: Path) -> None:
    told = browse(
        render([run], explain=False),
        BEGIN
        + """
        const box = chart.canvas.getBoundingClientRect();
        const hover = async (hour, host) => {
          const clientX = box.left + (box.width * hour * 3600 * table.second) / table.length;
          const clientY = box.top + box.height * (1 - (host + 0.5) / table.rows);
          chart.canvas.dispatchEvent(new PointerEvent("pointermove", { clientX, clientY, bubbles: true }));
          return by("tip").hidden ? "" : by("tip").textContent;
        };
        const hovered = [];
        for (const place of [[1, 1], [4, 1], [12, 1], [3, 5], [6, 5], [7.5, 6], [8.5, 1]]) {
          hovered.push(await hover(...place));
        }
        view.show(0, table.length / 100);
        by("name").value = "1";
        by("find").requestSubmit();
        const inside = [view.from <= run.start[run.of[0]], view.to >= run.end[run.of[1] - 1]];
        const rows = [...by("job-rows").rows].map((row) => [...row.cells].map((cell) => cell.textContent));
        return { hovered, inside, rows };
        """,
        tmp_path,
        width=width,
    )
    first, second, third, whole, less, only, nothing = (one.replace("\u00a0", " ") for one in told["hovered"])
    assert first.endswith("got 4 hosts for 12 h, completedattempt 1 of 3: ran 2 h on 4 hosts, killed")
    assert second.endswith("attempt 2 of 3, limit 4 h: ran 4 h on 4 hosts, killed at its walltime")
    assert third.endswith("attempt 3 of 3, limit 8 h: ran 6 h on 4 hosts, completed")
    assert whole.endswith("got 2 to 4 hosts for 7 h, completedpart 1 of 2: ran 3 h on 4 hosts, killed")
    assert less.endswith("part 2 of 2, resized 4 → 2 units at day 0 05:00:00: ran 4 h on 2 hosts, completed")
    assert only.endswith("got 2 hosts for 60 min, completed")
    assert nothing == ""
    assert told["inside"] == [True, True]
    rows = [[cell.replace("\u00a0", " ") for cell in row] for row in told["rows"]]
    # Its 15 h without the 12 h that it ran.
    assert rows[0][1] == "3 h"
    assert rows[0][3] == "12 h in 3 segments"
    assert [row[0] for row in rows[1:]] == ["attempt 1 of 3", "attempt 2 of 3, limit 4 h", "attempt 3 of 3, limit 8 h"]
    # What the job waited between its segments.
    assert [row[1] for row in rows[1:]] == ["", "60 min", "2 h"]


@needs_browser
def test_attempts_in_vain_are_striped_and_gaps_are_joined_by_lines(run: Any, tmp_path: Path) -> None:
    told = browse(
        render([run], explain=False),
        BEGIN
        + """
        await until(() => chart.canvas.width > 300);
        const { canvas, gantt } = chart;
        const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
        const x = (hour) => Math.round((hour * 3600 * table.second * canvas.width) / table.length);
        const y = (host) => Math.round(canvas.height * (1 - host / table.rows));
        const opacity = (left, top) => data[4 * (top * canvas.width + left) + 3];
        const opaque = (begin, end, host) => {
          const found = [];
          for (let top = y(host + 0.9); top < y(host + 0.7); top++) {
            for (let left = x(begin) + 4; left < x(end) - 4; left++) found.push(opacity(left, top) === 255);
          }
          return found.filter(Boolean).length / found.length;
        };
        const rows = [opaque(0, 2, 3), opaque(3, 7, 3), opaque(9, 15, 3), opaque(2, 5, 7), opaque(7, 8, 7)];
        const repeated = Array.from(run.job, (_, segment) => gantt.lineage.repeated(segment));
        return { rows, line: opacity(x(8), y(2)), empty: opacity(x(8), y(1)), repeated };
        """,
        tmp_path,
    )
    vain, again, last, resized, alone = told["rows"]
    assert 0.35 < vain < 0.65
    assert 0.35 < again < 0.65
    assert last == resized == alone == 1
    # A line leads over the gap between 7 h and 9 h, half way up the job's hosts, and none elsewhere.
    assert told["line"] > 0
    assert told["empty"] == 0
    assert told["repeated"] == [True, True, False, False, False, False]
