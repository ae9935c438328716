"""What other settings would have done: those that a made-up site planted are found again, bad baselines are refused."""

import json
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner
from msgspec.structs import replace

import batdispatch
import made_up_site
from batdispatch import whatif
from batdispatch.abilities.sites.doors.slurm.conf import read_conf
from batdispatch.abilities.whatif.changes import Setup, setup_of, with_change, with_conf
from batdispatch.abilities.whatif.fidelity.grade import grade_of
from batdispatch.abilities.whatif.fidelity.waits import Waits
from batdispatch.abilities.whatif.variants import _check_ran, run_names
from batdispatch.abilities.whatif.whatif import Answers, capacities
from batdispatch.cli.main import cli
from batdispatch.core.errors import InputError
from batdispatch.core.hosts.names import expand
from batdispatch.core.machine.site import QueuesProperty
from batdispatch.inputs.platforms import read_platform
from batdispatch.inputs.platforms.generate import flat
from batdispatch.inputs.sites import SiteNode, named_platform
from batdispatch.results.jobs_file import read_columns
from batdispatch.results.numbers import durations
from batdispatch.results.starvation import FolderJobs
from batdispatch.runs.run import execute
from batdispatch.runs.spec import RunSpec

pytestmark = pytest.mark.usefixtures("worker_threads")
#: Change -> more nodes of the site (batch, gpu), and the dispatcher.
PLANTED: dict[str, tuple[int, int, str]] = {
    "partition.gpu.nodes+1": (0, 1, "easy"),
    "partition.batch.nodes+2": (2, 0, "easy"),
    "ordering=sjf": (0, 0, "easy[ordering=sjf]"),
    "walltimes=last-two": (0, 0, "easy[prediction=last-two]"),
    "dispatcher=filler": (0, 0, "filler"),
}


def mean_of(run: Path) -> float:
    columns = read_columns(run / "jobs.csv")
    return float(np.mean(columns.starting_time - columns.submission_time))


def truth(site: made_up_site.MadeUpSite, change: str) -> float:
    """Return the mean wait that the generator's own site has with the setting, without any of what reads accounts."""
    batch, gpu, dispatcher = PLANTED[change]
    told = made_up_site.queues(days=site.days)
    nodes = [
        *made_up_site.nodes(),
        *(made_up_site.thick(f"zg{row}") for row in range(gpu)),
    ]
    nodes += [SiteNode(name=f"zb{row}", capacity=made_up_site.THIN, features=("avx512", "ib")) for row in range(batch)]
    more = {"batch": [f"zb{row}" for row in range(batch)], "gpu": [f"zg{row}" for row in range(gpu)], "short": []}
    partitions = [replace(one, hosts=[*(one.hosts or ()), *more[one.name]]) for one in told.partitions]
    platform = site.folder / f"{change}.xml"
    platform.write_bytes(named_platform(nodes, QueuesProperty(partitions=partitions, reservations=told.reservations)))
    name, _, inside = dispatcher.partition("[")
    options = dict([inside.rstrip("]").split("=", 1)]) if inside else {}
    out = site.folder / f"truth-{change}"
    execute(
        RunSpec(platform=str(platform), workload=str(site.workload), dispatcher=name, options=options, record=False),
        out,
    )
    return mean_of(out)


def found_again(folder: Path, seed: int, jobs: int, changes: Sequence[str] = tuple(PLANTED)) -> list[bool]:
    """Return for each planted setting whether whatif finds its effect, with its sign and within 20 %."""
    site = made_up_site.make(folder, jobs=jobs, seed=seed, dispatcher="easy", load=0.75)
    answers = asked(site, list(changes))
    assert answers.grade == "A"
    first = answers.answers["baseline"]["total_wait"] / jobs
    told = {one["label"]: one["total_wait"] / jobs - first for one in answers.answers["changes"]}
    true = {change: truth(site, change) - mean_of(site.run) for change in changes}
    return [abs(told[change] - true[change]) <= 0.2 * abs(true[change]) for change in changes]


def asked(site: made_up_site.MadeUpSite, changes: list[str], **more: Any) -> Answers:
    settings = {"dispatcher": "easy", "slurm": str(site.slurm), "time_zone": "UTC", **more}
    return whatif(site.accounts, changes, **settings)


def test_planted_settings_are_found_again(tmp_path: Path) -> None:
    assert all(found_again(tmp_path, 1, 300, ["partition.gpu.nodes+1", "ordering=sjf"]))


@pytest.mark.slow
def test_planted_settings_are_found_again_in_18_of_20(tmp_path: Path) -> None:
    hits = [hit for seed in range(4) for hit in found_again(tmp_path / str(seed), seed + 10, 1500)]
    assert len(hits) == 20
    assert sum(hits) >= 18


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> made_up_site.MadeUpSite:
    return made_up_site.make(tmp_path_factory.mktemp("site"), jobs=400, seed=3, dispatcher="easy", load=0.75)


def test_a_baseline_that_is_another_site_is_refused(site: made_up_site.MadeUpSite, tmp_path: Path) -> None:
    """fcfs did not run this site; and without one of its partitions it is another machine."""
    with pytest.raises(InputError, match=r"grade is D.*--anyway"):
        asked(site, ["hosts+10%"], dispatcher="fcfs")
    assert asked(site, ["hosts+10%"], dispatcher="fcfs", anyway=True).grade == "D"
    text = (site.slurm / "slurm.conf").read_text()
    (tmp_path / "slurm.conf").write_text("\n".join(one for one in text.splitlines() if "Name=gpu" not in one) + "\n")
    with pytest.raises(InputError, match="says nothing of partition gpu"):
        asked(site, ["hosts+10%"], slurm=str(tmp_path))


def test_the_command(site: made_up_site.MadeUpSite, tmp_path: Path) -> None:
    words = ["whatif", str(site.accounts), "--slurm", str(site.slurm), "--time-zone", "UTC", "--dispatcher", "easy"]
    words += ["--change", "hosts+10%", "--change", "partition.short.max_time=1:00:00", "--node-price", "2"]
    ran = CliRunner().invoke(cli, [*words, "--out", str(tmp_path), "--json"])
    answer = json.loads(ran.stdout)
    assert (answer["grade"], answer["baseline"]["nodes"]) == ("A", 15)
    more, shorter = answer["changes"]
    assert (more["nodes"], more["label"]) == (17 if round(15 * 1.1) == 17 else 16, "hosts+10%")
    saved = (answer["baseline"]["total_wait"] - more["total_wait"]) / 3600
    assert more["hour_saved_costs"] > 0
    assert saved > 0
    assert answer["left_out"] > 0, "jobs of more than an hour are refused"
    assert [one["lost"] for one in (answer["baseline"], more, shorter)] == [0, 0, answer["left_out"]]
    assert shorter["hour_saved_costs"] is None
    assert {(one["kind"], one["name"]) for one in more["groups"]} >= {("partition", "gpu"), ("group", "course")}
    page = Path(answer["report"]).read_text()
    assert "hosts+10%" in page
    assert "grade A" in page


def test_a_size_on_which_no_job_runs_is_refused_by_its_name(tmp_path: Path) -> None:
    jobs = [{"id": str(at), "subtime": at, "res": 2, "walltime": 9, "profile": "p"} for at in range(40)]
    (tmp_path / "w.json").write_text(
        json.dumps({"nb_res": 4, "jobs": jobs, "profiles": {"p": {"type": "delay", "delay": 5}}})
    )
    platform = tmp_path / "p.xml"
    platform.write_bytes(flat(4))
    with pytest.raises(InputError, match=r"^fcfs on 1 hosts: none of the jobs that count runs with it"):
        capacities(tmp_path / "w.json", "fcfs", (4, 1), platform=platform, out=tmp_path / "out", processes=1)


def test_variants_without_a_job_that_counts_are_refused() -> None:
    assert _check_ran({"baseline": np.array([True, True]), "x": np.array([True, False])}, np.arange(2)) is None
    with pytest.raises(InputError, match=r"^x: none of the jobs that count runs with it"):
        _check_ran({"baseline": np.array([True, True]), "x": np.array([True, False])}, np.array([1]))
    with pytest.raises(InputError, match=r"no job that counts runs with all of them.*: x, y"):
        _check_ran({"x": np.array([True, False]), "y": np.array([False, True])}, np.arange(2))


def test_runs_are_kept_or_made_anew_and_the_baseline_is_made_once(
    site: made_up_site.MadeUpSite, tmp_path: Path
) -> None:
    class Heard(batdispatch.Listener):
        def __init__(self) -> None:
            self.labels: list[str] = []
            self.done: list[int] = []

        def kept(self, labels: Sequence[str]) -> None:
            self.labels += labels

        def progress(self, label: str, done: int, total: int) -> None:
            if label == "baseline":
                self.done.append(done)

    def made(**more: Any) -> tuple[list[str], list[int], list[int]]:
        heard = Heard()
        asked(site, ["ordering=sjf"], out=tmp_path, listener=heard, processes=1, **more)
        folders = (tmp_path / "baseline", tmp_path / "ordering=sjf")
        return heard.labels, heard.done, [(folder / "result.json").stat().st_mtime_ns for folder in folders]

    labels, done, first = made()
    assert labels == []
    labels, _, second = made()
    assert labels == ["baseline", "ordering=sjf"]
    assert second == first
    labels, again, third = made(fresh=True)
    assert labels == []
    assert not set(third) & set(first)
    assert len(again) == len(done) > 0
    assert again == sorted(again)


def test_sizes_of_a_machine_are_made_anew(tmp_path: Path) -> None:
    examples = Path(batdispatch.__file__).parent / "examples"
    times = []
    for fresh in (False, False, True):
        capacities(
            *(examples / "demo64.json", "fcfs", (48, 64)),
            **{"platform": examples / "flat64.xml", "out": tmp_path, "processes": 1, "fresh": fresh},
        )
        times.append([(tmp_path / f"fcfs-on-{size}-hosts" / "result.json").stat().st_mtime_ns for size in (48, 64)])
    assert times[0] == times[1]
    assert not set(times[1]) & set(times[2])


def test_sizes_are_compared_like_anything_else(site: made_up_site.MadeUpSite, tmp_path: Path) -> None:
    answers = capacities(
        site.accounts, "easy,fcfs", (15, 20), slurm=str(site.slurm), time_zone="UTC", out=tmp_path, node_price=1.0
    )
    variants = {one.label: one for one in answers.found.variants}
    assert list(variants) == ["easy on 15 hosts", "easy on 20 hosts", "fcfs on 15 hosts", "fcfs on 20 hosts"]
    assert variants["easy on 20 hosts"].mean_wait < variants["easy on 15 hosts"].mean_wait
    first, more = variants["easy on 15 hosts"], variants["easy on 20 hosts"]
    price = 5 * answers.found.hours * 1.0 / ((first.total_wait - more.total_wait) / 3600)
    assert answers.found.price_of_hour(more, 1.0) == pytest.approx(price)
    assert "hour saved costs" in str(answers)
    page = answers.page.read_text()
    said = page.partition('<p class="answer">')[2].partition("</p>")[0].replace("\N{NO-BREAK SPACE}", " ")
    assert len(said.split()) <= 60
    texts, unit = durations([more.mean_wait, first.mean_wait])
    waits = [f"{text} {unit}".strip() for text in texts]
    assert said.startswith(
        f"With easy on 20 hosts (+33.3 % nodes), jobs wait {waits[0]} in the mean instead of {waits[1]} with "
    )
    assert page.index('class="bars"') < page.index("<table")
    # It links to the runs side by side, by the names of the changes.
    assert 'href="runs.html"' in page
    assert all(f">{label}</option>" in (tmp_path / "runs.html").read_text() for label in variants)


def test_each_size_runs_on_so_many_hosts_whatever_the_platform_has(tmp_path: Path) -> None:
    examples = Path(batdispatch.__file__).parent / "examples"
    capacities(
        examples / "demo64.json", "easy,fcfs", (48, 96), platform=examples / "flat64.xml", out=tmp_path, processes=1
    )
    for size in (48, 96):
        for name in ("easy", "fcfs"):
            result = json.loads((tmp_path / f"{name}-on-{size}-hosts" / "result.json").read_bytes())
            assert result["platform"]["hosts"] == size


def test_one_size_is_a_comparison_with_nothing_else(site: made_up_site.MadeUpSite, tmp_path: Path) -> None:
    arguments = {"slurm": str(site.slurm), "time_zone": "UTC", "out": tmp_path}
    answers = capacities(site.accounts, "easy", (15,), **arguments)
    page = answers.page.read_text()
    assert "With easy on 15 hosts, jobs wait " in page
    assert "How long jobs wait" in page
    assert not [word for word in ("each change", "Ratio of", "Who gains") if word in page]
    assert "Ratios" not in str(answers)
    with pytest.raises(InputError, match="option --hosts: 15 stands twice"):
        capacities(site.accounts, "easy", (15, 20, 15), **arguments)


# ---------------------------------------------------------------------- changes


def setup(dispatcher: str = "slurm-backfill") -> Setup:
    return Setup(nodes=made_up_site.nodes(), queues=made_up_site.queues(), dispatcher=dispatcher)


def hosts_of(found: Setup, name: str) -> set[str]:
    (partition,) = (one for one in found.queues.partitions if one.name == name)
    return {host for text in partition.hosts or () for host in expand(text)}


def test_more_hosts_of_each_kind() -> None:
    found = with_change(setup(), "hosts=30")
    assert len(found.nodes) == 30
    assert {name: len(hosts_of(found, name)) for name in ("batch", "gpu", "short")} == {
        "batch": 24,
        "gpu": 6,
        "short": 6,
    }
    assert sum(node.capacity["core"] for node in found.nodes) == 24 * 16 + 6 * 32
    assert len(with_change(setup(), "hosts-3").nodes) == 12
    assert not hosts_of(with_change(setup(), "hosts-3"), "batch") - {
        node.name for node in with_change(setup(), "hosts-3").nodes
    }


def test_more_nodes_of_a_partition() -> None:
    found = with_change(setup(), "partition.short.nodes+2")
    new = {node.name for node in found.nodes} - {node.name for node in setup().nodes}
    assert len(new) == 2
    assert new <= hosts_of(found, "short")
    assert not new & hosts_of(found, "batch")


def test_other_settings() -> None:
    assert with_change(setup(), "SchedulerParameters=bf_interval=60,bf_window=10").options == {
        "interval": "60",
        "window": "600",
    }
    assert with_change(setup(), "walltimes=last-two").options == {"prediction": "last-two"}
    guarded = with_change(setup(), "dispatcher=guarded")
    assert (guarded.dispatcher, guarded.options) == ("easy", {"ordering": "guarded"})
    limit = {one.name: one.max_time for one in with_change(setup(), "partition.gpu.max_time=1:00:00").queues.partitions}
    assert limit["gpu"] == 3600.0


CONF = """SchedulerParameters=bf_interval=90,bf_continue,bf_max_job_test=50
PriorityType=priority/multifactor
PriorityWeightJobSize=1000
"""


def test_the_sites_slurm_conf_says_how_it_schedules(tmp_path: Path) -> None:
    (tmp_path / "slurm.conf").write_text(CONF)
    conf = read_conf(tmp_path / "slurm.conf")
    found, left = with_conf(replace(setup(), options={"interval": "20"}), conf)
    ordering = "multifactor[period=300,size=1000]"
    assert found.options == {
        "version": "22.05",
        "interval": "20",
        "depth": "50",
        "ordering": ordering,
        "notice": "0.15",
    }
    assert left == ["bf_continue"]
    assert with_conf(setup("easy"), conf) == (replace(setup("easy"), conf=conf), [])
    larger = with_change(found, "PriorityWeightJobSize=5000")
    assert larger.options == {**found.options, "ordering": "multifactor[period=300,size=5000]"}
    # Parameters of the file stay, and one that is changed goes before an option.
    assert with_change(found, "SchedulerParameters=bf_interval=60").options == {**found.options, "interval": "60"}
    assert with_change(found, "PriorityType=priority/basic").options == {
        name: text for name, text in found.options.items() if name != "ordering"
    }


def test_the_baseline_runs_as_slurm_conf_says(tmp_path: Path) -> None:
    small = made_up_site.make(tmp_path, jobs=60, seed=4, dispatcher="slurm-backfill")
    with (small.slurm / "slurm.conf").open("a") as file:
        file.write(CONF)
    with pytest.warns(UserWarning, match="of slurm.conf, not simulated: bf_continue; batdispatch slurm-conf says why"):
        asked(small, ["PriorityWeightJobSize=5000"], dispatcher="slurm-backfill", anyway=True, out=tmp_path / "out")
    options = [
        json.loads((tmp_path / "out" / run / "result.json").read_text())["options"]
        for run in ("baseline", "PriorityWeightJobSize=5000")
    ]
    sizes = ("multifactor[period=300,size=1000]", "multifactor[period=300,size=5000]")
    assert [(one["interval"], one["depth"], one["ordering"]) for one in options] == [(90, 50, size) for size in sizes]


def test_a_job_that_is_queued_again_counts_once(tmp_path: Path) -> None:
    small = made_up_site.make(tmp_path, jobs=150, seed=4, dispatcher="slurm-backfill", load=1.2)
    with (small.slurm / "slurm.conf").open("a") as file:
        file.write("PreemptType=preempt/partition_prio\nPreemptMode=REQUEUE\n")
    answers = asked(small, ["PreemptMode=OFF"], dispatcher="slurm-backfill", anyway=True, out=tmp_path / "out")
    jobs = FolderJobs(tmp_path / "out" / "baseline").logical
    assert len(read_columns(tmp_path / "out" / "baseline" / "jobs.csv")) > len(jobs) == 150
    first, nobody = answers.found.variants
    assert first.total_wait == pytest.approx(jobs.waiting_time.sum())
    assert nobody.total_wait != first.total_wait


def test_what_a_host_says_beside_stays(tmp_path: Path) -> None:
    (tmp_path / "p.xml").write_bytes(setup().platform)
    found = setup_of(read_platform(tmp_path / "p.xml").machine, "easy")
    assert {node.name: node.properties for node in found.nodes}["g1"] == made_up_site.HEAVY
    more = with_change(found, "partition.gpu.nodes+1")
    assert [node.properties for node in more.nodes if node.name.startswith("new")] == [made_up_site.HEAVY]


WRONG = {
    "more nodes": "is no change",
    "hosts-15": "leaves 0",
    "partition.bach.nodes+1": "batch",
    "partition.gpu.max_time=soon": "no value of max_time",
    "partition.gpu.nodes-3": "would have no node left",
    "SchedulerParameters=bf_intervall=60": "bf_interval",
    "SchedulerParameters=bf_interval=often": "expected a number",
    "SchedulerParameters=bf_continue": "take no simulated time",
    "PriorityWeightTRES=CPU=1": "PriorityType is not priority/multifactor",
    "colour=red": "has no option",
    "hots=12": "did you mean 'hosts=12'",
    "hosts=+2": "'hosts=+2' is no change, expected one such as hosts+10%, hosts=110",
    "partition.gpu.max_tim=1:00": "is no change",
}


@pytest.mark.parametrize("text", WRONG)
def test_wrong_changes(text: str) -> None:
    with pytest.raises(InputError) as caught:
        with_change(setup(), text)
    assert WRONG[text] in str(caught.value)


#: A change with a wrong word -> what is proposed.
TYPOS = {
    "host+10%": "hosts+10%",
    "Hosts=12": "hosts=12",
    "hosts +4": "hosts+4",
    "walltime=last-two": "walltimes=last-two",
    "walltimes=last-tow": "last-two",
    "dispatcher=guardd": "guarded",
    "dispatcher=easy[orderin=sjf]": "ordering",
    "ordering=multifactr": "multifactor",
    "partition.a.b.node+2": "partition.a.b.nodes+2",
    "partition.gpu.maxtime=1:00:00": "partition.gpu.max_time=1:00:00",
    "max_time=4:00:00": "partition.NAME.max_time=4:00:00",
    "SchedularParameters=bf_interval=60": "SchedulerParameters=bf_interval=60",
    "SchedulerParameters=bf_intervall=60": "bf_interval",
    "bf_interval=60": "SchedulerParameters=bf_interval=60",
    "PriorityWeigthAge=1000": "PriorityWeightAge=1000",
    "intervall=60": "interval=60",
}


@pytest.mark.parametrize("text", TYPOS)
def test_a_typo_is_refused_with_a_proposal_before_anything_is_read(text: str, tmp_path: Path) -> None:
    out = tmp_path / "out"
    with pytest.raises(InputError, match="option --change") as caught:
        whatif(tmp_path / "no-such-accounts.txt", ["hosts+10%", text], out=out)
    assert f"did you mean {TYPOS[text]!r}?" in str(caught.value)
    assert not out.exists()


@pytest.mark.parametrize(
    "text", ["interval=abc", "partition.gpu.max_time=soon", "xyz", "hosts+", "partition.gpu.nodes=7"]
)
def test_what_is_no_change_is_refused_before_anything_is_read(text: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="option --change"):
        whatif(tmp_path / "no-such-accounts.txt", [text])


def test_a_dispatcher_that_is_not_there_is_refused_before_anything_is_read(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="did you mean 'easy'"):
        whatif(tmp_path / "no-such-accounts.txt", ["hosts+2"], dispatcher="easi")


# ---------------------------------------------------------------------- grades


def waits(wait: np.ndarray) -> Waits:
    count = len(wait)
    submission = np.arange(count) * 3600.0
    return Waits(submission, submission + wait, np.full(count, 600.0), np.ones(count), 100)


def test_a_baseline_says_in_words_how_far_it_is_from_what_happened() -> None:
    submission, ones = np.arange(4.0), np.ones(4)

    def of(wait: list[float]) -> Waits:
        return Waits(submission, submission + np.array(wait), ones, ones, 10)

    # Waits of 100, 200, 300, 1,000 s become 100, 300, 200, 2,000: 5 of 6 pairs keep their order.
    found = grade_of(of([100.0, 200.0, 300.0, 1000.0]), of([100.0, 300.0, 200.0, 2000.0]), rejected=0.004)
    assert [line.replace("\N{NO-BREAK SPACE}", " ") for line in found.lines()] == [
        "Jobs really waited 6.67 min in the mean, and wait 10.8 min in the simulation.",
        "Which of two jobs waits longer is right in the simulation for 83 of 100 pairs.",
        "The simulated site refuses 0.4 % of the jobs.",
        (
            "Trust a change against the baseline, and no simulated wait as a forecast. "
            "Least like the real site: the mean wait."
        ),
    ]
    away = grade_of(of([100.0, 200.0, 300.0, 1000.0]), of([9000.0, 300.0, 200.0, 20.0]), rejected=0.0)
    assert away.trust().startswith("This is not the site that the log tells of, so trust no change.")


def test_runs_are_named_by_what_they_change() -> None:
    labels = ["baseline", "hosts+10%", "hosts+10/", "partition.busy.max_time=4:00:00", "../..", "%"]
    names = run_names(labels)
    assert names == ["baseline", "hosts+10-1", "hosts+10-2", "partition.busy.max_time=4-00-00", "change-4", "change-5"]


def test_grades() -> None:
    log = np.random.default_rng(1).exponential(7200, 500)
    assert grade_of(waits(log), waits(log), rejected=0.0).grade == "A"
    assert grade_of(waits(log), waits(log * 1.3), rejected=0.0).grade == "B"
    assert grade_of(waits(log), waits(log / 1.9), rejected=0.0).grade == "C"
    assert grade_of(waits(log), waits(log * 2.1), rejected=0.0).grade == "D"
    assert grade_of(waits(log), waits(log[::-1].copy()), rejected=0.0).grade == "D"
    assert grade_of(waits(log), waits(log), rejected=0.015).grade == "C"
    assert grade_of(waits(log), waits(log), rejected=0.1).grade == "D"
    short = np.linspace(0, 100, 500)
    assert grade_of(waits(short), waits(short[::-1].copy()), rejected=0.0).grade == "A"
    assert math.isnan(grade_of(waits(log), waits(np.zeros(500)), rejected=0.0).apart.rank)
    assert grade_of(waits(log), waits(np.zeros(500)), rejected=0.0).grade == "D"
