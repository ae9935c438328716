"""A campaign's file: what it may say, and how each mistake is told."""

import json
import shutil
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from batdispatch.abilities.campaigns.campaign.inputs import Input, MissingLog
from batdispatch.cli.main import cli
from batdispatch.core.errors import InputError
from batdispatch.core.extras import command
from campaigns import PLATFORM, SMALL, WORKLOAD, read


def test_a_list_means_each_of_its_values(tmp_path: Path) -> None:
    text = SMALL.replace("hosts: 8}}", "hosts: [8, 16]}}").replace("jobs: 20", "jobs: [20, 30]")
    campaign = read(tmp_path, text)
    found = [
        (cell.platform.label, cell.workload.label, cell.dispatcher.name, cell.spec.options) for cell in campaign.cells
    ]
    assert len(found) == 2 * 4 * 2
    assert found[0] == ("flat,hosts=8", "lublin,jobs=20,hosts=8,seed=0", "fcfs", {})
    assert found[-1] == ("flat,hosts=16", "lublin,jobs=30,hosts=8,seed=1", "easy[ordering=sjf]", {"ordering": "sjf"})


def test_parts_choose_and_set(tmp_path: Path) -> None:
    text = SMALL + (
        "settings: {audit: true, decision-time: 2.5}\n"
        "parts:\n"
        "  slow: {dispatchers: [fcfs], seeds: [1, 4..5], decision-time: [none, measured, 60], clock: apart}\n"
        "  fast: {}\n"
    )
    cells = read(tmp_path, text).cells
    slow = [cell for cell in cells if cell.part == "slow"]
    fast = [cell for cell in cells if cell.part == "fast"]
    assert {(cell.spec.decision_time, cell.spec.seed) for cell in slow} == {
        (time, seed) for time in (0.0, None, 60.0) for seed in (1, 4, 5)
    }
    assert len(slow) == 2 * 9
    assert {cell.spec.clock for cell in slow} == {"apart"}
    assert {(cell.spec.decision_time, cell.spec.clock, cell.spec.seed) for cell in fast} == {(2.5, "together", 0)}
    assert all(cell.audit and not cell.spec.record for cell in cells)


def test_a_workload_of_a_platform_runs_there_alone_and_is_made_for_it(tmp_path: Path) -> None:
    shutil.copy(PLATFORM, tmp_path / "four.xml")
    shutil.copy(WORKLOAD, tmp_path / "delay.json")
    text = (
        "name: pairs\n"
        "platforms: {four: four.xml, esp: {generate: esp}}\n"
        "workloads:\n"
        "  mix: {generate: esp, platform: esp, seeds: 3, options: {spread: 0, z-rule: [ordinary, alone]}}\n"
        "  delay: {file: delay.json, platform: four}\n"
        "  again: {generate: malleable, seeds: 0, platform: four, options: {from: delay, hosts: 4}}\n"
        "dispatchers: {EASY: easy}\n"
    )
    cells = read(tmp_path, text).cells
    assert [(cell.platform.name, cell.workload.name) for cell in cells] == [
        ("four", "delay"),
        ("four", "again"),
        ("esp", "mix"),
        ("esp", "mix"),
    ]
    mix, again = cells[2].workload, cells[1].workload
    assert mix.words == ("generate", "esp", "--spread=0", "--z-rule=ordinary", "--seed=3")
    assert mix.paths == {"platform": cells[2].platform}
    assert again.paths == {"from": cells[0].workload}


def test_a_workload_made_from_another_states_what_that_one_states(tmp_path: Path) -> None:
    slices = "slices: {generate: slice, options: {from: lublin, jobs: 5, number: [0, 3]}}"
    made = "made: {generate: malleable, seeds: 7, options: {from: slices}}"
    text = SMALL.replace("dispatchers: [", f"  {slices}\n  {made}\ndispatchers: [")
    cells = [cell for cell in read(tmp_path, text).cells if cell.workload.name == "made"]
    stated = [cell.workload.stated for cell in cells[::2]]
    assert [(one["from.number"], one["from.from.seed"]) for one in stated] == [
        (number, seed) for number in "03" for seed in "01"
    ]
    assert stated[0]["from"] == "slices"
    assert stated[0]["seed"] == "7"
    assert len({cell.workload.label for cell in cells}) == 4


def test_a_workload_is_cut_into_slices_or_its_users_are_drawn_anew(tmp_path: Path) -> None:
    text = SMALL.replace("seeds: 0..1", "seeds: 4..5\n    slices: {count: 3, jobs: 5, gap: 1}")
    workloads = [cell.workload for cell in read(tmp_path, text).cells[::2]]
    assert [one.replicate for one in workloads] == [f"seed {seed}, slice {n}" for seed in (4, 5) for n in (0, 1, 2)]
    assert workloads[1].stated == {"jobs": "20", "hosts": "8", "seed": "4", "slice": "1"}
    assert workloads[1].words == ("generate", "slice", "--jobs=5", "--gap=1", "--number=1")
    source = workloads[1].paths["from"]
    assert isinstance(source, Input)
    assert (source.stated["seed"], source.replicate) == ("4", "seed 4")
    assert len({one.key for one in workloads}) == 6
    # Only some of the slices, and what is made from them.
    made = "  made: {generate: malleable, seeds: 7, options: {from: lublin}}\n"
    text = SMALL.replace("seeds: 0..1", "seeds: 4\n    slices: {numbers: [0, 2], jobs: 5}").replace(
        "disp", f"{made}disp"
    )
    found = [cell.workload.replicate for cell in read(tmp_path, text).cells[::2]]
    assert found == ["seed 4, slice 0", "seed 4, slice 2", "seed 4, slice 0, seed 7", "seed 4, slice 2, seed 7"]
    # The users of a file's workload for one platform.
    shutil.copy(PLATFORM, tmp_path / "four.xml")
    shutil.copy(WORKLOAD, tmp_path / "delay.json")
    text = (
        "name: drawn\nplatforms: {four: four.xml}\n"
        "workloads: {delay: {file: delay.json, platform: four, resample: {seeds: 3..4, weeks: 2}}}\n"
        "dispatchers: [easy]\n"
    )
    cells = read(tmp_path, text).cells
    assert [cell.workload.replicate for cell in cells] == ["resample 3", "resample 4"]
    assert cells[0].workload.words == ("generate", "resample", "--weeks=2", "--seed=3")
    assert cells[0].workload.platform is cells[0].platform


def test_values_are_the_texts_that_stand_there(tmp_path: Path) -> None:
    # YAML's own reading would make these false, 750 and 0.1.
    text = SMALL.replace('[fcfs, "easy[ordering=sjf]"]', "{no: fcfs, 12:30: easy, 1e-1: {use: easy}}")
    assert list(dict.fromkeys(cell.dispatcher.name for cell in read(tmp_path, text).cells)) == ["no", "12:30", "1e-1"]


QUICK = SMALL.replace("dispatchers: [", "  log: {convert: lost.swf}\ndispatchers: [") + (
    "parts: {slow: {}, fast: {dispatchers: [fcfs]}, log: {workloads: [log]}}\n"
    "quick:\n"
    "  workloads: {lublin: {seeds: 1, options: {jobs: 5}}}\n"
    "  parts: {slow: {workloads: [lublin]}, fast: {workloads: [lublin], seeds: 3}}\n"
)


def test_the_quick_version_has_what_differs_and_the_rest_as_it_stands(tmp_path: Path) -> None:
    campaign = read(tmp_path, QUICK, quick=True)
    assert campaign.name == "small-quick"
    found = [(cell.part, cell.workload.label, cell.dispatcher.name, cell.spec.seed) for cell in campaign.cells]
    lublin = "lublin,jobs=5,hosts=8,seed=1"
    assert found == [
        ("slow", lublin, "fcfs", 0),
        ("slow", lublin, "easy[ordering=sjf]", 0),
        ("fast", lublin, "fcfs", 3),
    ]
    listed = QUICK.replace("fast: {d", "fast: {workloads: [lublin], d").replace("parts: {slow: {w", "parts: [fast] #")
    assert {cell.part for cell in read(tmp_path, listed, quick=True).cells} == {"fast"}


def test_some_parts_are_run_without_what_the_others_need(tmp_path: Path) -> None:
    text = QUICK.replace("slow: {},", "slow: {workloads: [lublin]},").replace(
        "fast: {d", "fast: {workloads: [lublin], d"
    )
    assert [cell.part for cell in read(tmp_path, text, parts=["fast"]).cells] == ["fast", "fast"]
    for parts in (None, ["fast", "log"]):
        with pytest.raises(MissingLog, match=r"line 10: workload 'log': there is no log .*lost.swf; option --logs"):
            read(tmp_path, text, parts=parts)
    (tmp_path / "logs").mkdir()
    (tmp_path / "logs" / "lost.swf").write_text("")
    cell = read(tmp_path, text, parts=["log"], logs=tmp_path / "logs").cells[0]
    assert cell.workload.paths == {"": tmp_path / "logs" / "lost.swf"}
    # Under the same path first.
    deep = tmp_path / "logs" / "swf"
    text = text.replace("lost.swf", "swf/lost.swf")
    assert read(tmp_path, text, parts=["log"], logs=tmp_path / "logs").cells[0].workload.paths == cell.workload.paths
    deep.mkdir()
    (deep / "lost.swf").write_text("")
    found = read(tmp_path, text, parts=["log"], logs=tmp_path / "logs").cells[0]
    assert found.workload.paths == {"": deep / "lost.swf"}


def test_an_option_may_be_what_the_workload_states(tmp_path: Path) -> None:
    text = SMALL.replace("jobs: 20", "jobs: [20, 30]")
    told = text.replace(
        "[fcfs, ", "{told: {use: easy, options: {default_walltime: {workload: jobs}, ordering: [sjf, ljf]}}} #"
    )
    assert [
        (cell.dispatcher.label, cell.spec.options["default_walltime"]) for cell in read(tmp_path, told).cells[::4]
    ] == [
        ("told,ordering=sjf,default_walltime=20", "20"),
        ("told,ordering=sjf,default_walltime=30", "30"),
    ]
    for wrong, message in (
        ("{workload: job}", "part 'all': dispatcher 'told': workload 'lublin,jobs=20,hosts=8,seed=0' states no 'job'"),
        ("{}", "line 10: dispatcher 'told': option 'default_walltime': expected a text, or workload: OPTION"),
        ("{log: jobs}", "option 'default_walltime' has no key 'log'"),
    ):
        with pytest.raises(InputError) as refused:
            read(tmp_path, told.replace("{workload: jobs}", wrong))
        assert message.partition(": ")[2] in str(refused.value)
    with pytest.raises(InputError, match=r"on workload 'lublin.*': .*prediction"):
        read(tmp_path, told.replace("default_walltime: {", "prediction: {"))


#: What stands in a right file, what stands there instead, and a part of what is said.
MISTAKES = json.loads((Path(__file__).parents[2] / "data" / "campaign_mistakes.json").read_text())


def test_a_part_or_a_quick_version_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no part is called 'al': did you mean 'all'"):
        read(tmp_path, SMALL, parts=["al"])
    with pytest.raises(InputError, match="has no quick version"):
        read(tmp_path, SMALL, quick=True)


@pytest.mark.parametrize(("old", "new", "message"), MISTAKES)
def test_a_mistake_is_told_with_its_line_and_what_was_meant(tmp_path: Path, old: str, new: str, message: str) -> None:
    assert old in SMALL
    with pytest.raises(InputError) as told:
        read(tmp_path, SMALL.replace(old, new), quick="quick:" in new)
    assert message in str(told.value)
    assert str(told.value).startswith(str(tmp_path / "campaign.yaml"))


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\xff\xfe\x00",
        b"- 1\n- 2\n",
        b"a: &a [*a]\n",
        b"&a a: *a\n",
        b"x" * 100,
        b"[" * 1500,
        b"? [a]\n: b\n",
        b"\0",
    ],
)
def test_what_is_no_campaign_is_refused_in_words(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "campaign.yaml"
    path.write_bytes(content)
    done = CliRunner().invoke(cli, ["campaign", str(path), "--dry-run"], standalone_mode=False)
    assert isinstance(done.exception, InputError), done.exception
    assert str(done.exception).startswith(str(path))


def test_aliases_of_aliases_are_counted(tmp_path: Path) -> None:
    # A few lines that stand for 10^9 values.
    lines = ["name: bomb", "a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{depth}: &a{depth} [{', '.join([f'*a{depth - 1}'] * 10)}]" for depth in range(1, 9)]
    with pytest.raises(InputError, match="more than 100,000 values"):
        read(tmp_path, "\n".join(lines))


def test_without_the_extra_a_campaign_says_what_to_install(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("yaml", "pyarrow", "snakemake"):
        monkeypatch.setitem(sys.modules, name, None)
    done = CliRunner().invoke(cli, ["campaign", str(tmp_path / "a.yaml")], standalone_mode=False)
    assert f"needs PyYAML, pyarrow and Snakemake, which are not installed: {command('campaign')}" in str(done.exception)
