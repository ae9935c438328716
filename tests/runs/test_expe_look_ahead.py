"""What was tried for look-ahead, from the runs to the tables, and what nobody can know."""

import shutil
from contextlib import chdir
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from batdispatch.abilities.verify.audit.run import Auditor
from batdispatch.core.errors import SimulationError
from batdispatch.results.runs import read_result
from expe.common.running import sections_of
from expe.look_ahead import show
from expe.look_ahead.tables import FEWEST, Served, log_ratios, logs_table, shown
from experiments import EXPE, small

#: Rows of each idea, in the order of the table.
COUNTS = {"(a)": 1, "(b)": 3, "(c)": 2, "(d)": 4, "(e)": 4, "real": 3}


@pytest.fixture(scope="module")
def out(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("ideas") / "out"


@pytest.fixture(scope="module")
def rows(out: Path) -> pd.DataFrame:
    # Classes are named by files beside the campaign's.
    here = out / "file"
    here.mkdir(parents=True)
    for name in ("variants.py", "beside.py"):
        shutil.copy(EXPE / "look_ahead" / name, here)
    with chdir(here):
        changes = [("../predictions", str(EXPE / "predictions")), ("jobs: 200", "jobs: 30"), ("100..102", "100..101")]
        return small("look_ahead", out, *changes)


def test_a_job_is_late_after_half_of_the_longest_wait_of_easy_on_its_slice(out: Path, rows: pd.DataFrame) -> None:
    told = rows[rows["part"] == show.TOLD]
    assert list(told["piece"]) == ["generated-100", "generated-101"]
    for row in told.to_dict("records"):
        (easy,) = rows[(rows["dispatcher"] == "easy") & (rows["piece"] == row["piece"])].to_dict("records")
        run = read_result(out / "look-ahead-quick" / show.TOLD / row["cell"])
        assert run.options["ordering"] == f"late-first[after={easy['max_waiting_time'] / 2:g},multiple=0]"
        assert run.dispatcher == "look-ahead"
        # The same jobs.
        assert run.metrics["nb_jobs"] == easy["nb_jobs"] == 30


def test_it_is_not_run_again_and_audited(out: Path, rows: pd.DataFrame, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("it ran again")

    monkeypatch.setattr(show, "execute", refuse)
    assert len(show.others(out / "look-ahead-quick", True)) == 2

    class Finds(Auditor):
        def run(self, folder: Path):  # type: ignore[no-untyped-def]
            return type("Audit", (), {"total": 2})

    monkeypatch.setattr(show, "Auditor", Finds)
    with pytest.raises(SimulationError, match="the audit found 2 violations"):
        show.others(out / "look-ahead-quick", True)


def test_the_table_goes_idea_by_idea(rows: pd.DataFrame) -> None:
    made = sections_of(show, rows)
    names = [line.split("|")[1].strip() for line in made["ideas"].splitlines()[2:]]
    assert names[:3] == [show.EASY, show.BEST, show.OURS]
    assert names.index(show.TOLD_NAME) == 6
    kinds = [name.partition(" ")[0] for name in names[3:]]
    assert kinds == [kind for kind, count in COUNTS.items() for _ in range(count)]
    assert made["logs"].splitlines()[0] == f"| slowdown over {show.BEST} | generated |"
    assert made["ideas"].splitlines()[3].split("|")[2].strip() == "1"


def served(slowdown: float, longest: float) -> Served:
    return Served(slowdown, 0.0, 0.0, longest, 0.0, 0.0, 0.0)


BASE = {("a", "1"): served(2.0, 0.0), ("a", "2"): served(8.0, 90.0), ("b", "3"): served(1.0, 0.0)}


def test_ratios_are_of_the_slices_on_which_both_ran() -> None:
    ours = {("a", "2"): served(2.0, 40.0), ("b", "3"): served(4.0, 0.0), ("c", "4"): served(9.0, 9.0)}
    assert np.exp(log_ratios(ours, BASE, "slowdown")) == pytest.approx([0.25, 4.0])
    # 10 s are added to both waits, so that nobody's waiting counts as 1.
    assert np.exp(log_ratios(ours, BASE, "longest")) == pytest.approx([0.5, 1.0])
    assert np.exp(log_ratios(ours, BASE, "slowdown", "a")) == pytest.approx([0.25])


def test_means_are_geometric_and_few_slices_have_no_interval() -> None:
    values = np.log([0.5, 2.0, 1.0])
    assert shown(values) == "1.00"
    assert shown(np.log([0.5, 2.0, 1.0, 1.0])).startswith("1.00 (0.")
    assert shown(np.zeros(FEWEST)) == "1.00 (1.00-1.00)"
    assert shown(np.zeros(0)) == ""
    text = logs_table({"x": {("a", "1"): served(1.0, 0.0)}, "base": BASE}, "slowdown", "base")
    assert text.splitlines()[0] == "| slowdown over base | a | b |"
    assert text.splitlines()[2] == "| x | 0.50 |  |"
