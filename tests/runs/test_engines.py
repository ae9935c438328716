"""The seam of engines: who is asked in which order, what a refusal leads to, and what runs without any."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from batdispatch.core.errors import InputError
from batdispatch.engines.simulation import Engine, Outcome, Refusal, Setting, Task, TimingEngine
from batdispatch.inputs.platforms.generate import flat
from batdispatch.runs import embedded, engines
from batdispatch.runs.run import execute
from batdispatch.runs.spec import RunSpec

JOBS = """{"nb_res": 2, "jobs": [{"id": "1", "subtime": 0, "res": 1, "walltime": 9, "profile": "p"}],
 "profiles": {"p": {"type": "%s", "delay": 4, "cpu": 1e9, "com": 0}}}"""


class Teller(Engine):
    """Notes that it is asked, and answers what it is told to."""

    compiled = True

    def __init__(self, name: str, heard: list[str], reason: str | None, turn: int = 0, refusal: str = "") -> None:
        self._name, self._heard, self._reason, self.turn, self._refusal = name, heard, reason, turn, refusal

    def why_not(self, task: Task) -> str | None:
        self._heard.append(self._name)
        return self._reason

    def simulate(self, task: Task, out: Path, progress: Callable[[int], None] | None) -> Outcome:
        self._heard.append(f"{self._name} simulates")
        if self._refusal:
            raise Refusal(self._refusal)
        outcome = embedded.simulate(task, out, progress)
        return outcome._replace(engine={"name": self._name})

    def libraries(self) -> dict[str, str | None]:
        return {self._name: "one"}


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., dict[str, Any]]:
    """Return what runs a job with these engines and no other ones, and returns result.json."""
    (tmp_path / "p.xml").write_bytes(flat(2))

    def execute_with(*made: Engine, kind: str = "delay", **fields: Any) -> dict[str, Any]:
        monkeypatch.setattr(engines, "engines", lambda: tuple(sorted(made, key=lambda each: each.turn)))
        (tmp_path / "w.json").write_text(JOBS % kind)
        paths = {name: str(tmp_path / file) for name, file in (("platform", "p.xml"), ("workload", "w.json"))}
        return execute(RunSpec(dispatcher="easy", **paths, **fields), tmp_path / "out")

    return execute_with


def test_the_first_engine_that_knows_no_reason_simulates(run: Callable[..., dict[str, Any]]) -> None:
    heard: list[str] = []
    late, middle = Teller("late", heard, None, turn=2), Teller("middle", heard, None, turn=1)
    result = run(late, middle, Teller("early", heard, "it is too early"))
    assert heard == ["early", "middle", "middle simulates"]
    assert result["engine"] == {"name": "middle"}
    # Of each engine, whoever simulates.
    assert {name: result["made_from"][name] for name in ("early", "middle", "late")} == dict.fromkeys(
        ("early", "middle", "late"), "one"
    )


def test_the_embedded_engine_simulates_what_no_other_does(run: Callable[..., dict[str, Any]]) -> None:
    about = run(Teller("picky", [], "it is not of my kind"))["engine"]
    assert (about["name"], about["compiled"], about["not_compiled"]) == ("embedded", None, "it is not of my kind")
    assert list(about)[-2:] == ["compiled", "not_compiled"]


def test_an_engine_that_cannot_go_on_leaves_it_to_the_embedded_one(run: Callable[..., dict[str, Any]]) -> None:
    heard: list[str] = []
    about = run(Teller("first", heard, None, refusal="the road ends"), Teller("next", heard, None, turn=1))["engine"]
    assert heard == ["first", "first simulates"]
    assert (about["name"], about["not_compiled"]) == ("embedded", "the road ends")
    with pytest.raises(InputError, match=r"^option --compiled always: the road ends$"):
        run(Teller("first", heard, None, refusal="the road ends"), compiled="always")


def test_compiled_engines_are_not_asked_where_they_are_not_wanted(run: Callable[..., dict[str, Any]]) -> None:
    heard: list[str] = []
    assert run(Teller("first", heard, None), compiled="never")["engine"]["name"] == "embedded"
    assert heard == []


def test_what_only_an_engine_can_that_is_not_there_is_refused_in_words(run: Callable[..., dict[str, Any]]) -> None:
    assert run()["engine"]["not_compiled"] == "no compiled engine is installed"
    with pytest.raises(InputError, match=r"^option --compiled always: no compiled engine is installed$"):
        run(compiled="always")
    with pytest.raises(InputError, match=r"^option --simgrid always: no engine that is installed times it$"):
        run(simgrid="always")
    with pytest.raises(InputError, match=r"'p': type 'parallel_homogeneous': its run time .* installed times it"):
        run(kind="parallel_homogeneous")
    with pytest.raises(InputError, match=r"^dispatcher easy: no engine that is installed simulates queues$"):
        engines.queue_simulation("easy")


class Timing(TimingEngine):
    """Times nothing, and says which settings it heard of."""

    def __init__(self) -> None:
        self.settings: list[Setting] = []

    def why_not(self, task: Task) -> str | None:
        return self.why_not_timed(task.setting())

    def why_not_timed(self, setting: Setting) -> str | None:
        self.settings.append(setting)
        return None if setting.clock == "batsim" else "it has nothing to do"

    def simulate(self, task: Task, out: Path, progress: Callable[[int], None] | None) -> Outcome:
        raise AssertionError("not in this process")

    def timer(self, setting: Setting) -> Any:
        raise AssertionError("not in this process")

    def call_apart(self, platform: str, energy: bool, function: Any, *arguments: Any, progress: Any = None) -> Any:
        return {"apart": Path(platform).name, "energy": energy}


def test_an_engine_that_times_is_called_in_a_process_of_its_own(run: Callable[..., dict[str, Any]]) -> None:
    assert run(timing := Timing(), clock="batsim", master_host="n0") == {"apart": "p.xml", "energy": False}
    assert [setting.clock for setting in timing.settings] == ["batsim"]
    assert run(Timing())["engine"]["name"] == "embedded"
