"""What power costs: the tables of the page, right by hand, and the series that it moves jobs by."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from batdispatch.abilities.power.machine.series import Series
from expe.power import show


def rows(*given: tuple[str, str, float, float]) -> pd.DataFrame:
    """Runs: dispatcher, platform, mean wait in hours, energy in kWh; two windows of each, the second twice as much."""
    return pd.DataFrame(
        {
            **{"dispatcher": name, "platform": platform, "hours": factor * hours, "kwh": factor * kwh},
            **{"nb_jobs_rejected": 3, "switches": 7},
        }
        for name, platform, hours, kwh in given
        for factor in (1, 2)
    )


def test_waits_under_a_cap_stand_over_those_of_the_dispatcher_inside() -> None:
    found = show.ratio_table(
        rows(("easy", "a", 2.0, 9.0), ("powered[dispatcher=easy,cap=60%]", "a", 3.0, 9.0)), "hours"
    )
    assert found.splitlines()[-1] == "| `powered[dispatcher=easy,cap=60%]` | 4.50 ± 19.06 | 1.50 ± 0.00 | 3 ± 0 |"


def test_slower_jobs_stand_over_those_that_only_wait() -> None:
    waiting, slower = "powered[dispatcher=easy,cap=60%]", "powered[dispatcher=easy,cap=60%,states=lower]"
    made = rows((waiting, "a", 2.0, 9.0), (slower, "a", 1.0, 6.0))
    made["turnaround"] = [8.0, 16.0, 12.0, 24.0]
    cells = [cell.strip() for cell in show.speeds_table(made).splitlines()[-1].split("|")[1:-1]]
    assert cells == [f"`{slower}`", "0.50 ± 0.00", "1.50 ± 0.00", "0.67 ± 0.00", "3 ± 0", "3 ± 0"]


def test_a_job_in_two_segments_is_one() -> None:
    names, came = np.array(["1", "2", "1~2"]), np.array([0.0, 0.0, 3600.0])
    times = show._times(names, came, came + 3600.0, np.array([3600.0, 7200.0, 10_800.0]))
    assert times == {"hours": 1.0, "turnaround": 2.5}


def test_each_platform_is_compared_with_easy_there() -> None:
    sleeping = "powered[dispatcher=easy,sleep=idle]"
    made = rows(
        ("easy", "kth", 1.0, 9.0), (sleeping, "kth", 1.1, 6.0), ("easy", "b", 2.0, 9.0), (sleeping, "b", 2.0, 3.0)
    )
    lines = [line.split("|")[1:] for line in show.boots_table(made).splitlines()[2:]]
    assert [line[0].strip() for line in lines] == ["boots in 151.5 s", "b"]
    assert [line[2].strip() for line in lines] == ["1.100 ± 0.000", "1.000 ± 0.000"]
    assert [line[3].strip() for line in lines] == ["0.667 ± 0.000", "0.333 ± 0.000"]


def test_what_batsched_did_is_read_from_the_recordings() -> None:
    found = {str(row["dispatcher"]): row for row in show.others(Path(), quick=False)}
    assert found["batsched's energy_bf"]["switches"] > found["batsched's easy_bf"]["switches"] == 0
    assert found["batsched's sleeper"]["hours"] > found["batsched's easy_bf"]["hours"]


def test_the_series_is_the_one_of_the_stated_model() -> None:
    lines = (show.FOLDER / "carbon.csv").read_text().splitlines()
    assert len(lines) == 1 + 24 * 35
    # At 19 o'clock of a Monday it is largest, at 7 of a Saturday least.
    assert lines[1 + 19] == "68400,420.0"
    assert lines[1 + 5 * 24 + 7] == "457200,120.0"


def test_carbon_is_the_integral_of_the_series_while_a_job_runs() -> None:
    series = Series((0.0, 10.0), (3.0, 5.0))
    assert show._carbon(series, np.array([4.0, 20.0]), np.array([8.0, 2.0])).tolist() == pytest.approx([28.0, 10.0])
