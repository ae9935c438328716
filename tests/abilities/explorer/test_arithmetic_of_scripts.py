"""What the explorer's scripts work out from jobs and runs, each number by hand: its modules alone, without a page."""

from pathlib import Path
from typing import Any

import pytest

from batdispatch.abilities.explorer.section import script_text
from batdispatch.report.bundle import bundle_script
from browsing import browse, needs_browser

#: Four hosts and five jobs, in order of submission; times in tenths of a second. Job 1 was resized at 200, and so has
#: two segments; job 4 never started.
TABLE = """
const second = 10;
const table = {
  second, count: 5, shared: false, submission: [0, 0, 50, 100, 120], units: [2, 4, 2, 1, 1],
  name: (job) => `j${job}`,
};
const run = {
  hosts: 4, job: [0, 1, 1, 2, 3], start: [0, 150, 200, 300, 100], end: [150, 200, 300, 400, 180],
  held: [2, 4, 2, 2, 1], order: Uint32Array.of(0, 4, 1, 2, 3), byEnd: Uint32Array.of(0, 4, 1, 2, 3), of: [0,
  1, 3, 4, 5, 5],
  wait: [0, 150, 250, 0, NaN], latest: [150, 180, 200, 300, 400], columns: {},
};
const all = [1, 1, 1, 1, 1];
"""


def worked_out(folder: Path, uses: dict[str, str], script: str) -> Any:
    """Return what a script returns to which modules give names: {name: path of its module}."""

    def read(path: str) -> str:
        if path != "try.js":
            return script_text(path)
        lines = [f'import {{ {name} }} from "./{module}";' for name, module in uses.items()]
        return "\n".join([*lines, f"window.tried = {{ {', '.join(uses)} }};", ""])

    page = f"<!doctype html><meta charset=utf-8><title>t</title><script>{bundle_script('try.js', read)}</script>"
    return browse(page, f"const {{ {', '.join(uses)} }} = window.tried; {TABLE} {script}", folder)


@needs_browser
def test_changes_of_half_a_second_count_and_quartiles_lie_between_two(tmp_path: Path) -> None:
    uses = {"certain": "changes.js", "changes": "changes.js", "extremes": "changes.js"}
    found = worked_out(
        tmp_path,
        uses,
        """
        const base = { wait: [0, 100, 200, NaN] }, other = { wait: [20, 50, NaN, 5] };
        return [certain([-3, -0.4, 0, 0.6, 7]), [...changes(table, base,
        other)].map((one) => Number.isNaN(one) ? null : one),
                extremes([-3, -9, 0.2, 8, 2, -9], [1, 1, 1, 1, 1, 1], 2)];
        """,
    )
    # -3 and .6 and 7 s are more than half a second. Sorted -3, -.4, 0, .6, 7: the quartiles are the second and fourth.
    assert found[0] == {"mean": pytest.approx(0.84), "less": 1, "more": 2, "quartiles": [-0.4, 0, 0.6]}
    # Tenths of a second: 20 - 0 and 50 - 100; what did not start in both has none.
    assert found[1] == [2, -5, None, None]
    # The most that falls first, of equal ones the first job; .2 s is no change.
    assert found[2] == [[1, 5], [3, 4]]


@needs_browser
def test_a_job_is_told_what_happened_while_it_waited(tmp_path: Path) -> None:
    said = worked_out(
        tmp_path,
        {"whileItWaited": "waited.js"},
        "return [0, 1, 2, 3].map((job) => whileItWaited(table, run, job).replaceAll('\\u00a0', ' '));",
    )
    assert said[0] == said[3] == ""
    # Job 1 waits from 0 to 150: job 0 holds 2 hosts all along, 300 in all, and job 3 one from 100 on, 50. So 2 were
    # idle, and only job 3 of the later ones started before.
    assert (
        "held by job j0 (2 hosts), and at most 2 of 4 hosts were idle at once; it asked for 4. 1 later job" in said[1]
    )
    # Job 2 waits from 50 to 300: job 0 holds 2 x 100, job 1 holds 4 x 50 and then 2 x 100 = 400, job 3 holds 80. Idle:
    # 2 until 100, 1 until 150; then 4 hosts and a fifth until 180 are held, none; 2 from 200 on.
    assert "held by job j1 (4 hosts), and at most 2 of 4 hosts were idle at once; it asked for 2, which" in said[2]
    assert "1 later job started before it." in said[2]


@needs_browser
def test_levels_rise_and_fall(tmp_path: Path) -> None:
    uses = {"Level": "curves/level.js", "heldLevel": "curves/level.js", "queueLength": "curves/queue-length.js"}
    found = worked_out(
        tmp_path,
        uses,
        """
        const steps = new Level([0, 10, 20], [3, 2, 4], [10, 30, 40], [3, 2, 4]);
        const held = heldLevel(run, all, run.held), queue = queueLength.level(table, run, all);
        return [
          [5, 10, 25, 45].map((moment) => steps.upTo(moment)), steps.peak(0, 15), steps.peak(5, 40),
          steps.means(0, 40, 4),
          steps.extremes(0, 40, 2), held.means(0, 400, 8), [...queue.at], [...queue.after], queue.means(0, 400, 4),
        ];
        """,
    )
    # 3 until 10, 2 until 20, 6 until 30, 4 until 40: areas of 15, 30, 30 + 20 + 30, 30 + 20 + 60 + 40.
    assert found[0] == [15, 30, 80, 150]
    # At 10, 3 end before 2 begin: never 5.
    assert found[1] == {"time": 0, "value": 3}
    assert found[2] == {"time": 20, "value": 6}
    assert found[3] == [3, 2, 6, 4]
    assert found[4] == [[2, 0], [6, 6]]
    # Job 0 holds 2 until 150, job 3 one from 100 to 180, job 1 four and from 200 on two, job 2 two from 300 on.
    assert found[5] == pytest.approx([2, 2, 3, 4.6, 2, 2, 2, 2])
    # Jobs 0 and 1 come at 0 and job 0 starts, job 2 comes at 50, job 3 comes and starts at 100; 1 starts at 150, 2 at
    # 300. Job 4 never starts, and is in no queue here.
    assert found[6] == [0, 0, 0, 50, 100, 100, 150, 300]
    assert found[7] == [1, 1, 1, 2, 2, 2, 1, 0]
    assert found[8] == [1.5, 1.5, 1, 0]


@needs_browser
def test_means_of_waits_energy_and_weeks(tmp_path: Path) -> None:
    uses = {
        **{"meanWait": "curves/mean-wait.js", "energy": "curves/power.js", "power": "curves/power.js"},
        **{"useDates": "calendar.js", "limits": "calendar.js", "hourOf": "calendar.js"},
    }
    found = worked_out(
        tmp_path,
        uses,
        """
        // 1 kW for 360 s and then 3 kW for 720 s; signs are folded, so that 2000 stands for 1000 more.
        const metered = { columns: { power_at: [0, 3600, 7200], power_step: [2000, 4000, 5999] } };
        const explorer = { table, level: () => power.level(table, metered) };
        useDates({ begin: 0, zone: "UTC", offsets: [[0, 0]] });
        const week = limits(5 * 86400, "week"), hour = hourOf(3 * 3600 + 59);
        return [meanWait.level(table, run, all).means(0, 400, 4), energy(explorer, metered, 0, 7200), week, hour];
        """,
    )
    # Jobs 0 and 3 start at 0 and 100 at once, job 1 at 150 after 15 s, job 2 at 300 after 25 s: what starts as one
    # stretch ends belongs to it.
    assert found[0] == [0, 15, 25, None]
    # 1 kW x 360 s + 3 kW x 360 s = 1.44 MJ.
    assert found[1] == pytest.approx(0.4)
    # 1970 began on a Thursday: the sixth day is a Tuesday, and its week began on Monday, the fifth of January.
    assert found[2] == [4 * 86400, 11 * 86400]
    assert found[3] == 3
