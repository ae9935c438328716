"""What jobs of a site get, by hand: whole cores, shares of nodes, types of GPUs, limits of their partition."""

from pathlib import Path
from typing import Any

import pytest

from batdispatch import compare
from batdispatch.abilities.sites.doors.slurm.site import draft_of_folder, read_folder
from batdispatch.core.jobs.job import Job
from batdispatch.inputs.log_options import LogOptions
from batdispatch.inputs.sites import SiteDraft, fit_jobs
from batdispatch.inputs.workloads import Workload
from batdispatch.inputs.workloads.importers import read_log
from batdispatch.inputs.workloads.moments import Clock
from batdispatch.inputs.workloads.node_use import Stay, use_of
from batdispatch.inputs.workloads.report import ImportReport
from logs import log_of

PARTITION = "PartitionName=p Nodes=ALL Default=YES"


def draft_of(folder: Path, conf: str, **files: str) -> SiteDraft:
    site = folder / "site"
    site.mkdir()
    for name, text in {"slurm": conf, **files}.items():
        (site / f"{name}.conf").write_text(text)
    return draft_of_folder(read_folder(site), use_of([]), Clock(None), 0.0)


def offers(draft: SiteDraft) -> dict[str, dict[str, int]]:
    return {one.name: dict(one.capacity) for one in draft.nodes}


def fitted(folder: Path, conf: str, *jobs: dict[str, Any], runtime: float = 60.0) -> tuple[list[Job], ImportReport]:
    """Return jobs of the partition p once they ask for what the site gives them."""
    told = [{"id": str(n), "subtime": 0, "partition": "p"} | job for n, job in enumerate(jobs)]
    workload, report = log_of(folder / "account.txt", told, runtime=runtime), ImportReport("account.txt", "sacct")
    fit_jobs(workload.jobs, draft_of(folder, conf), report, workload.path)
    return workload.workload().jobs, report


# ---------------------------------------------------------------------- cores of several threads

TWO_THREADS = "Sockets=2 CoresPerSocket=4 ThreadsPerCore=2"


@pytest.mark.parametrize(
    ("select", "nodes", "threads"),
    [
        ("SelectTypeParameters=CR_Core", TWO_THREADS, 2),
        ("SelectTypeParameters=CR_Core_Memory", TWO_THREADS, 2),
        ("SelectTypeParameters=CR_Socket_Memory", TWO_THREADS, 2),
        ("", TWO_THREADS, 2),
        # Threads are given out one by one.
        ("SelectTypeParameters=CR_CPU", TWO_THREADS, 1),
        ("SelectTypeParameters=cr_cpu_memory", TWO_THREADS, 1),
        # As many CPUs as cores: threads are not given out.
        ("SelectTypeParameters=CR_Core", f"CPUs=8 {TWO_THREADS}", 1),
        ("SelectTypeParameters=CR_Core", "CPUs=8", 1),
        ("SelectTypeParameters=CR_Core", "Sockets=1 CoresPerSocket=4 ThreadsPerCore=4", 4),
    ],
)
def test_threads_that_are_given_out_together(tmp_path: Path, select: str, nodes: str, threads: int) -> None:
    assert draft_of(tmp_path, f"{select}\nNodeName=n[1-2] {nodes}\n{PARTITION}\n").threads == threads


def test_nodes_that_differ_in_threads_give_out_single_ones(tmp_path: Path) -> None:
    four = "Sockets=1 CoresPerSocket=2 ThreadsPerCore=4"
    conf = f"SelectTypeParameters=CR_Core\nNodeName=n1 {TWO_THREADS}\nNodeName=n2 {four}\n{PARTITION}\n"
    assert draft_of(tmp_path, conf).threads == 1


@pytest.mark.parametrize(
    ("job", "units", "demand", "nodes"),
    [
        ({"res": 4}, 2, {"core": 2}, None),
        ({"res": 3}, 2, {"core": 2}, None),
        ({"res": 1}, 1, {"core": 2}, None),
        # 3 x 1024 MiB on two cores.
        ({"res": 3, "demand": {"core": 1, "memory": 1024}}, 2, {"core": 2, "memory": 1536}, None),
        # 4 CPUs on three nodes: three cores, of which each has a third of the 4096 MiB, rounded up.
        ({"res": 4, "demand": {"core": 1, "memory": 1024}, "nodes": 3}, 3, {"core": 2, "memory": 1366}, (3, 3)),
        ({"res": 8, "nodes": 2, "per_node": {"gpu": 1}}, 4, {"core": 2}, (2, 2)),
        ({"res": 6, "nodes": [2, 4]}, 3, {"core": 2}, (2, 4)),
        ({"res": 4, "units_per_node": 2}, 4, {"core": 1}, None),
        # Units of several cores stay as they are.
        ({"res": 3, "demand": {"core": 3, "gpu": 1}}, 3, {"core": 3, "gpu": 1}, None),
    ],
)
def test_jobs_take_whole_cores(
    tmp_path: Path, job: dict[str, Any], units: int, demand: dict[str, int], nodes: Any
) -> None:
    conf = f"SelectTypeParameters=CR_Core\nNodeName=n[1-4] {TWO_THREADS} Gres=gpu:2\n{PARTITION}\n"
    (one,), report = fitted(tmp_path, conf, {"demand": {"core": 1}, "walltime": 100, **job})
    assert (one.units, dict(one.request.per_unit or ()), one.request.nodes) == (units, demand, nodes)
    assert dict(one.request.per_node) == job.get("per_node", {})
    rounds = "have CPUs of cores with 2 threads: they take whole cores"
    assert (rounds in report.changed) == (demand["core"] == 2)


# ---------------------------------------------------------------------- what accounts say was given

COLUMNS = "JobID|User|Partition|Submit|Start|ElapsedRaw|TimelimitRaw|State|NNodes|ReqTRES|AllocTRES|NodeList|SubmitLine"
BEGIN = 1_772_438_400


def row(number: int, requested: str, allocated: str = "", nodes: str = "n1", line: str = "", **fields: Any) -> str:
    told = {"start": 0, "elapsed": 3600, "limit": 120, "count": 1, **fields}
    begin = [number, "ada", "p", BEGIN, BEGIN + told["start"], told["elapsed"], told["limit"], "COMPLETED"]
    return "|".join(map(str, [*begin, told["count"], requested, allocated or requested, nodes, line]))


def account(folder: Path, *rows: str) -> Path:
    path = folder / "account.txt"
    path.write_text("\n".join([COLUMNS, *rows]) + "\n")
    return path


def jobs_of(folder: Path, *rows: str, **options: Any) -> Workload:
    return read_log(account(folder, *rows), options=LogOptions(**options)).workload


@pytest.mark.parametrize(
    ("requested", "allocated", "units", "demand"),
    [
        # A single thread takes a core of two, and Slurm's memory of both.
        ("cpu=1,mem=2G,node=1", "cpu=2,mem=4G,node=1", 2, {"core": 1, "memory": 2048}),
        # Memory that the account does not give out is that which was asked for.
        ("cpu=1,mem=2G,node=1", "cpu=2,node=1", 2, {"core": 1, "memory": 1024}),
        ("cpu=4,node=1", "cpu=4,node=1", 4, {"core": 1}),
    ],
)
def test_sizes_are_those_that_slurm_gave(
    tmp_path: Path, requested: str, allocated: str, units: int, demand: dict[str, int]
) -> None:
    (job,) = jobs_of(tmp_path, row(1, requested, allocated)).jobs
    assert (job.units, dict(job.request.per_unit or ())) == (units, demand)


def test_an_exclusive_job_takes_its_node_whole(tmp_path: Path) -> None:
    """The first asked for 1 core of 4 and got all: the second, of 1 core, starts when it is over."""
    rows = [
        row(1, "cpu=1,node=1", "cpu=4,node=1", line="sbatch --exclusive a.sh"),
        row(2, "cpu=1,node=1", start=3600),
    ]
    run = compare(account(tmp_path, *rows), "easy", out=tmp_path / "out")
    assert [float(figures["mean_waiting_time"]) for figures in run.figures.values()] == [1800.0]


def test_uneven_shares_enlarge_no_node() -> None:
    """6 cores on nodes of 4 lie 4 + 2: beside them, a job of 2 cores runs on the second node."""
    stays = [
        Stay("n1", 0.0, 10.0, {"core": 4}),
        Stay("n2", 0.0, 10.0, {"core": 4}),
        Stay("n[1-2]", 10.0, 10.0, {"core": 6}),
        Stay("n2", 10.0, 10.0, {"core": 2}),
    ]
    use = use_of(stays)
    assert use.peak["core"].tolist() == [4, 4]
    assert use.together["core"] == 8
    assert use.alone["core"].tolist() == [4, 4]


def test_nodes_grow_where_less_would_not_hold_what_ran_together() -> None:
    """8 cores ran on two nodes at a time, and one of them alone never had more than 2."""
    use = use_of([Stay("n[1-2]", 0.0, 10.0, {"core": 6}), Stay("n2", 5.0, 10.0, {"core": 2})])
    assert use.peak["core"].tolist() == [4, 4]
    assert use.alone["core"].tolist() == [0, 2]


# ---------------------------------------------------------------------- types of GPUs

A100, V100, ANY = (
    "cpu=1,node=1,gres/gpu=2,gres/gpu:a100=2",
    "cpu=1,node=1,gres/gpu=2,gres/gpu:v100=2",
    "cpu=1,node=1,gres/gpu=2",
)


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        ("gpu:a100:2", "gpu:a100:2", [{"gpu": 2}, {"gpu": 2}]),
        ("gpu:2", "gpu:2", [{"gpu": 2}, {"gpu": 2}]),
        ("gpu:a100:2", "gpu:v100:2", [{"gpu": 2, "gpu_a100": 2}, {"gpu": 2, "gpu_v100": 2}]),
        ("gpu:a100:1,gpu:v100:1", "gpu:a100:2", [{"gpu": 2, "gpu_a100": 1, "gpu_v100": 1}, {"gpu": 2, "gpu_a100": 2}]),
        # Some are of a type, and others of none.
        ("gpu:a100:2", "gpu:2", [{"gpu": 2, "gpu_a100": 2}, {"gpu": 2}]),
    ],
)
def test_types_are_resources_where_there_are_several(
    tmp_path: Path, first: str, second: str, expected: list[dict[str, int]]
) -> None:
    conf = f"NodeName=n1 CPUs=4 Gres={first}\nNodeName=n2 CPUs=4 Gres={second}\n{PARTITION}\n"
    assert list(offers(draft_of(tmp_path, conf)).values()) == [{"core": 4, **one} for one in expected]


def test_types_of_gres_conf(tmp_path: Path) -> None:
    gres = "NodeName=n1 Name=gpu Type=a100 File=/dev/nvidia[0-1]\nNodeName=n2 Name=gpu Type=v100 Count=3\n"
    draft = draft_of(tmp_path, f"NodeName=n[1-2] CPUs=4\n{PARTITION}\n", gres=gres)
    assert offers(draft) == {
        "n1": {"core": 4, "gpu": 2, "gpu_a100": 2},
        "n2": {"core": 4, "gpu": 3, "gpu_v100": 3},
    }


def starts(folder: Path, types: tuple[str, str], *rows: str, recwarn: pytest.WarningsRecorder) -> dict[str, float]:
    site = folder / "site"
    site.mkdir()
    nodes = "".join(f"NodeName=n{at} CPUs=4 Gres=gpu:{kind}:2\n" for at, kind in enumerate(types, 1))
    (site / "slurm.conf").write_text(f"{nodes}{PARTITION}\n")
    compare(account(folder, *rows), "easy", slurm=str(site), out=folder / "out")
    assert not [one for one in recwarn if "the log used more" in str(one.message)]
    lines = (folder / "out" / "easy" / "jobs.csv").read_text().splitlines()
    at = [lines[0].split(",").index(name) for name in ("job_id", "starting_time")]
    return {line.split(",")[at[0]]: float(line.split(",")[at[1]]) for line in lines[1:]}


def test_a_job_waits_for_its_type_and_one_without_takes_any(tmp_path: Path, recwarn: pytest.WarningsRecorder) -> None:
    rows = [row(1, A100), row(2, A100, start=3600), row(3, ANY, V100, "n2")]
    assert starts(tmp_path, ("a100", "v100"), *rows, recwarn=recwarn) == {"1": 0, "2": 3600, "3": 0}


def test_a_type_that_all_gpus_have_is_none(tmp_path: Path, recwarn: pytest.WarningsRecorder) -> None:
    rows = [row(1, A100), row(2, ANY, A100, "n2"), row(3, A100, start=3600)]
    assert starts(tmp_path, ("a100", "a100"), *rows, recwarn=recwarn) == {"1": 0, "2": 0, "3": 3600}


def test_the_type_that_was_given_is_asked_for_only_where_it_was_asked_for(tmp_path: Path) -> None:
    first, second = jobs_of(tmp_path, row(1, ANY, V100), row(2, V100)).jobs
    assert (dict(first.request.per_node), dict(second.request.per_node)) == ({"gpu": 2}, {"gpu": 2, "gpu_v100": 2})


# ---------------------------------------------------------------------- limits of a partition


@pytest.mark.parametrize(
    ("partition", "runtime", "walltime"),
    [
        ("DefaultTime=60 MaxTime=120", 1800.0, 3600.0),
        ("DefaultTime=60 MaxTime=120", 3600.0, 3600.0),
        # Slurm ends a job up to two minutes late.
        ("DefaultTime=60 MaxTime=120", 3660.0, 3600.0),
        # A job that ran for longer cannot have had that limit.
        ("DefaultTime=60 MaxTime=120", 5000.0, 7200.0),
        ("DefaultTime=60 MaxTime=120", 9000.0, float("inf")),
        ("DefaultTime=60", 1800.0, 3600.0),
        ("DefaultTime=60", 5000.0, float("inf")),
        ("MaxTime=120", 1800.0, 7200.0),
        ("", 1800.0, float("inf")),
    ],
)
def test_jobs_without_a_limit_have_that_of_their_partition(
    tmp_path: Path, partition: str, runtime: float, walltime: float
) -> None:
    conf = f"NodeName=n1 CPUs=4\n{PARTITION} {partition}\n"
    jobs, report = fitted(tmp_path, conf, {"res": 1}, {"res": 1, "walltime": 10_000}, runtime=runtime)
    assert [job.walltime for job in jobs] == [walltime, 10_000]
    changed = report.changed.get("without a time limit: that of their partition taken")
    assert (0 if changed is None else changed.count) == (walltime < float("inf"))


def test_scontrol_says_that_a_partition_has_no_default(tmp_path: Path) -> None:
    text = "PartitionName=p\n   DefaultTime={} DisableRootJobs=NO MaxTime=02:00:00 Nodes=n1 State=UP TotalNodes=1\n"
    for at, (said, expected) in enumerate({"NONE": {}, "01:00:00": {"p": 3600.0}, "UNLIMITED": {}}.items()):
        (tmp_path / f"{at}").mkdir()
        (tmp_path / f"{at}" / "nodes.txt").write_text("NodeName=n1 CPUTot=4\n")
        (tmp_path / f"{at}" / "partitions.txt").write_text(text.format(said))
        draft = draft_of_folder(read_folder(tmp_path / f"{at}"), use_of([]), Clock(None), 0.0)
        assert dict(draft.default_times) == expected
        assert [one.max_time for one in draft.queues.partitions] == [7200.0]
