"""Usage traces: what is read from their files, what is refused, and how ranks run."""

from pathlib import Path

import pytest

from batdispatch.core.errors import InputError
from batdispatch.engines.traces import Step, Traces


def written(folder: Path, *ranks: str) -> dict[str, str]:
    names = [f"r{number}.txt" for number in range(len(ranks))]
    (folder / "all.txt").write_text("\n".join(names))
    for name, text in zip(names, ranks, strict=True):
        (folder / name).write_text(text)
    return {"type": "usage_trace", "trace": "all.txt"}


def test_steps_of_each_rank_without_those_that_compute_nothing(tmp_path: Path) -> None:
    profile = written(tmp_path, "0 m_usage 0.5 1e9\n\n0 m_usage 1 0\n", "1 m_usage 0 20")
    assert Traces(tmp_path).of(profile) == ((Step(0.5, 1e9),), (Step(0.0, 20.0),))


@pytest.mark.parametrize(
    ("text", "problem"),
    {
        "0 compute 1e9": r"r0.txt, line 1: found '0 compute 1e9', expected RANK m_usage USAGE FLOPS",
        "0 m_usage 1 5\n0 m_usage 1.5 1": r"r0.txt, line 2: found '0 m_usage 1.5 1', expected .* usage from 0 to 1",
        "0 m_usage 1 inf": r"found '0 m_usage 1 inf', expected RANK",
        "0 m_usage 1": r"found '0 m_usage 1', expected RANK",
        "0 m_usage 1 1 1": r"found '0 m_usage 1 1 1', expected RANK",
        "1 m_usage 1 1": r"r0.txt, line 1: is of rank 1, expected 0, that of the file",
    }.items(),
)
def test_what_is_no_trace_is_refused_with_file_and_line(tmp_path: Path, text: str, problem: str) -> None:
    with pytest.raises(InputError, match=problem):
        Traces(tmp_path).of(written(tmp_path, text))


def test_a_trace_of_no_rank_and_one_without_its_file_are_refused(tmp_path: Path) -> None:
    (tmp_path / "all.txt").write_text("\n")
    with pytest.raises(InputError, match=r"all.txt: names no file, expected the name of each rank's file"):
        Traces(tmp_path).of({"trace": "all.txt"})
    (tmp_path / "all.txt").write_text("r5.txt\n")
    with pytest.raises(InputError, match=r"r5.txt: cannot be read"):
        Traces(tmp_path).of({"trace": "all.txt"})
