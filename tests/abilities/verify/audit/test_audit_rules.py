"""The table of rules: the manual lists it, and each rule has a name, a sentence and a test that it fails."""

import importlib.util
from collections.abc import Callable
from pathlib import Path

import pytest

from batdispatch.abilities.verify.audit.case import RULES
from batdispatch.abilities.verify.audit.findings import Findings
from batdispatch.abilities.verify.audit.run import Auditor

ROOT = Path(__file__).parents[4]


def test_the_manual_lists_the_rules_of_the_table() -> None:
    spec = importlib.util.spec_from_file_location("generated", ROOT / "docs/hooks/generated.py")
    assert spec is not None
    assert spec.loader is not None
    hook = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(hook)
    page = (ROOT / "docs/audit.md").read_text()
    assert "<!-- generated: rules -->" in page
    shown = hook.on_page_markdown("<!-- generated: rules -->")
    assert [
        each.name for each in RULES.values() if f"| `{each.name}` | {hook._cell(each.sentence)} |" not in shown
    ] == []
    assert len(RULES) > 60


def test_each_rule_is_a_sentence() -> None:
    for rule in RULES.values():
        assert rule.sentence[0].isupper() or rule.sentence.split(".")[0].islower(), rule.name
        assert rule.sentence.endswith("."), rule.name
        assert rule.name in rule.name.strip()


@pytest.fixture
def killed(tmp_path: Path, write_jobs: Callable[..., Path]) -> Callable[[float], Findings]:
    """Audit a job of 10 s of work that was killed after so many seconds."""

    def check(seconds: float) -> Findings:
        (tmp_path / "p.xml").write_text(
            '<?xml version="1.0"?><platform version="4.1"><zone id="z" routing="Full">'
            '<host id="n0" speed="1f"/></zone></platform>'
        )
        (tmp_path / "w.json").write_text(
            '{"nb_res": 1, "jobs": [{"id": "a", "subtime": 0, "res": 1, "profile": "p"}],'
            ' "profiles": {"p": {"type": "delay", "delay": 10}}}'
        )
        folder = write_jobs({"a": {"finish": seconds, "state": "COMPLETED_KILLED"}})
        return Auditor(platform=tmp_path / "p.xml", workload=tmp_path / "w.json").run(folder)

    return check


def test_a_job_may_be_killed_up_to_a_tenth_of_a_millisecond_after_its_own_end(
    killed: Callable[[float], Findings],
) -> None:
    for seconds in (4.0, 10.0, 10.00009):
        assert killed(seconds).kept == []
    assert killed(10.00011).counts == {"killed late": 1}


def test_a_singleton_waits_for_those_that_came_before_and_not_for_those_that_start_before(
    tmp_path: Path, write_jobs: Callable[..., Path]
) -> None:
    (tmp_path / "p.xml").write_text(
        '<?xml version="1.0"?><platform version="4.1"><zone id="z" routing="Full">'
        '<host id="n0" speed="1f"/><host id="n1" speed="1f"/></zone></platform>'
    )
    one = '{"id": "%s", "subtime": %d, "res": 1, "profile": "p", "user": "ada", "name": "n"%s}'
    alone = ', "dependencies": [{"kind": "singleton"}]'
    jobs = ", ".join([one % ("a", 0, ""), one % ("b", 1, alone), one % ("c", 2, "")])
    profiles = '{"p": {"type": "delay", "delay": 10}}'
    (tmp_path / "w.json").write_text(f'{{"nb_res": 2, "jobs": [{jobs}], "profiles": {profiles}}}')

    def check(starts: dict[str, float]) -> Findings:
        times = {
            name: {"submission": float("abc".index(name)), "start": at, "finish": at + 10, "hosts": str(place)}
            for place, (name, at) in enumerate(sorted(starts.items(), key=lambda pair: pair[1]))
        }
        places = {name: {**fields, "hosts": str(("bc".find(name) == 1 and 1) or 0)} for name, fields in times.items()}
        return Auditor(platform=tmp_path / "p.xml", workload=tmp_path / "w.json").run(write_jobs(places))

    # Job c came after b: it may run when b starts.
    assert check({"a": 0.0, "c": 5.0, "b": 10.0}).kept == []
    # Job a came before b and has not even started.
    found = check({"b": 1.0, "a": 11.0, "c": 2.0})
    assert found.counts == {"dependency": 1}
    assert "job a ended only at 21.000000" in str(found.kept[0])
