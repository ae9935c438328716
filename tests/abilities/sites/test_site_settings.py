"""What a site's files say of limits, states, threads and devices, as it was meant: hand-worked cases."""

import csv
import warnings
from pathlib import Path

import pytest

from batdispatch import compare
from batdispatch.abilities.sites.doors.slurm.settings import Setting
from batdispatch.abilities.sites.doors.slurm.site import draft_of_folder, read_folder
from batdispatch.abilities.sites.doors.slurm_texts import read_limit
from batdispatch.core.errors import InputError
from batdispatch.inputs.sites import SiteDraft
from batdispatch.inputs.workloads.moments import Clock
from batdispatch.inputs.workloads.node_use import NodeUse, Stay, use_of

INFINITE = float("inf")
NODES = "NodeName=n[1-3] CPUs=4 RealMemory=1000\n"
PARTITION = "PartitionName=p Nodes=ALL Default=YES MaxTime=INFINITE\n"


def draft(folder: Path, use: NodeUse | None = None, **files: str) -> SiteDraft:
    for name, text in files.items():
        (folder / name.replace("_", ".")).write_text(text)
    return draft_of_folder(read_folder(folder), use or NodeUse(), Clock(None), 0.0)


@pytest.mark.parametrize("text", ["UNLIMITED", "unlimited", "INFINITE", "Infinite", "-1", "4294967295"])
def test_texts_that_mean_no_limit(tmp_path: Path, text: str) -> None:
    assert read_limit(text, minutes=True) == INFINITE
    assert Setting("MaxNodes", text, "slurm.conf", 1).whole_or_none() is None
    told = f"PartitionName=p Nodes=ALL MaxTime={text} MaxNodes={text} DefaultTime={text}\n"
    found = draft(tmp_path, slurm_conf=NODES + told)
    assert (found.queues.partitions[0].max_time, found.queues.partitions[0].max_nodes) == (None, None)
    assert found.default_times == {}


@pytest.mark.parametrize("text", ["", "Partition_Limit", "NOT_SET", "INVALID", "4294967294"])
def test_texts_of_limits_that_are_not_told(text: str) -> None:
    assert read_limit(text, minutes=True) is None


@pytest.mark.parametrize("text", ["-2", "no", "1.5"])
def test_texts_that_are_no_limits(text: str) -> None:
    with pytest.raises(ValueError):
        read_limit(text, minutes=True)
    with pytest.raises(InputError, match=f"MaxNodes is '{text}'"):
        Setting("MaxNodes", text, "slurm.conf", 1).whole_or_none()


def starts(folder: Path, lines: list[str], conf: str) -> dict[str, float]:
    """Return when the jobs of accounts start at a site under easy, in seconds."""
    (folder / "accounts.txt").write_text("\n".join(lines) + "\n")
    (folder / "site").mkdir()
    (folder / "site" / "slurm.conf").write_text(conf)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        compare(folder / "accounts.txt", "easy", slurm=str(folder / "site"), out=folder / "out")
    with next((folder / "out").rglob("jobs.csv")).open(newline="") as file:
        return {row["job_id"]: float(row["starting_time"]) for row in csv.DictReader(file)}


def walltimes(folder: Path, partition: str) -> dict[str, float]:
    """Return the walltimes of a job of no limit, one of its partition's, and one of no limit that ran for 3 h."""
    head = "JobID|Partition|Submit|Start|ElapsedRaw|Timelimit|State|NNodes|AllocTRES|NodeList"
    rows = [
        f"{job}|p|{start}|{start}|{length}|{limit}|COMPLETED|1|cpu=1,node=1|n1"
        for job, start, length, limit in (
            (1, 1_772_438_400, 60, "UNLIMITED"),
            (2, 1_772_438_400, 60, "Partition_Limit"),
            (3, 1_772_438_400, 10_800, "UNLIMITED"),
        )
    ]
    (folder / "accounts.txt").write_text("\n".join([head, *rows]) + "\n")
    (folder / "site").mkdir()
    (folder / "site" / "slurm.conf").write_text(NODES + f"PartitionName=p Nodes=ALL {partition}\n")
    compare(folder / "accounts.txt", "easy", slurm=str(folder / "site"), out=folder / "out")
    with next((folder / "out").rglob("jobs.csv")).open(newline="") as file:
        told = {row["job_id"]: float(row["requested_time"]) for row in csv.DictReader(file)}
    return {name: INFINITE if walltime < 0 else walltime for name, walltime in told.items()}


@pytest.mark.filterwarnings("ignore")
def test_a_job_of_no_limit_is_none_whose_limit_is_missing(tmp_path: Path) -> None:
    found = walltimes(tmp_path, "DefaultTime=30 MaxTime=UNLIMITED")
    assert found == {"1": INFINITE, "2": 1800, "3": INFINITE}


@pytest.mark.filterwarnings("ignore")
def test_a_job_of_no_limit_ran_in_a_partition_that_has_one_now(tmp_path: Path) -> None:
    """The partition's limit is taken as what the longest of them ran for, so that none is refused."""
    found = walltimes(tmp_path, "DefaultTime=30 MaxTime=60")
    assert found == {"1": 10_800, "2": 1800, "3": 10_800}


@pytest.mark.parametrize(
    ("line", "names"),
    [
        ("DownNodes=n2 State=DOWN Reason=broken\n", ["n1", "n3"]),
        ("DownNodes=n[1-2]\n", ["n3"]),
        ("DownNodes=n2 State=FAIL\n", ["n1", "n3"]),
        # Nodes that finish their jobs are there, and so is each of a cluster all of which was down.
        ("DownNodes=n2 State=DRAIN\n", ["n1", "n2", "n3"]),
        ("DownNodes=ALL State=DOWN\n", ["n1", "n2", "n3"]),
        ("", ["n1", "n2", "n3"]),
    ],
)
def test_nodes_that_slurm_conf_has_down(tmp_path: Path, line: str, names: list[str]) -> None:
    assert [node.name for node in draft(tmp_path, slurm_conf=NODES + line + PARTITION).nodes] == names


@pytest.mark.parametrize(("state", "there"), [("IDLE", True), ("MIXED+PLANNED", True), ("DOWN*", False)])
def test_scontrol_is_believed_before_down_nodes(tmp_path: Path, state: str, there: bool) -> None:
    printed = f"NodeName=n2 Arch=x86_64 CoresPerSocket=4\n   CPUAlloc=0 CPUTot=4\n   State={state} ThreadsPerCore=1\n"
    found = draft(tmp_path, slurm_conf=f"{NODES}DownNodes=n2 State=DOWN\n{PARTITION}", node_txt=printed)
    assert ("n2" in {node.name for node in found.nodes}) is there


@pytest.mark.parametrize(
    ("state", "said"),
    [("DOWN", "starts no job"), ("INACTIVE", "starts no job"), ("DRAIN", "takes no new job"), ("UP", "")],
)
def test_partitions_that_take_no_jobs(tmp_path: Path, state: str, said: str) -> None:
    conf = NODES + PARTITION + f"PartitionName=q Nodes=n1 State={state}\n"
    unused = draft(tmp_path, slurm_conf=conf)
    assert [one.name for one in unused.queues.partitions] == (["p", "q"] if state == "UP" else ["p"])
    ran = draft(tmp_path, use_of([Stay("n1", 0.0, 5.0, {"core": 1}, "q")]), slurm_conf=conf)
    assert [one.name for one in ran.queues.partitions] == ["p", "q"]
    for found, ends in ((unused, "left out"), (ran, "so it is UP here")):
        told = [one for one in found.warnings if one.startswith("partition q is")]
        assert bool(told) is bool(said)
        assert all(said in one and one.endswith(ends) for one in told)


@pytest.mark.parametrize(
    ("settings", "threads"),
    [
        ("SelectTypeParameters=CR_Core\n", 2),
        ("SelectTypeParameters=CR_Core_Memory\n", 2),
        ("SelectTypeParameters=CR_CPU\n", 1),
        ("", 2),
    ],
)
def test_threads_by_what_scontrol_prints(tmp_path: Path, settings: str, threads: int) -> None:
    """slurm.conf says CPUs alone, as where nodes register themselves."""
    printed = "".join(
        f"NodeName=n{number} CoresPerSocket=1\n   CPUTot=4 Boards=1 Sockets=2\n   State=IDLE ThreadsPerCore=2\n\n"
        for number in (1, 2, 3)
    )
    assert draft(tmp_path, slurm_conf=settings + NODES + PARTITION, node_txt=printed).threads == threads
    (tmp_path / "node.txt").unlink()
    assert draft(tmp_path, slurm_conf=settings + NODES + PARTITION).threads == 1
    with_cores = NODES.replace("CPUs=4", "Boards=1 SocketsPerBoard=2 CoresPerSocket=1 ThreadsPerCore=2")
    assert draft(tmp_path, slurm_conf=settings + with_cores + PARTITION).threads == threads


def test_types_of_gres_conf_beside_a_plain_number(tmp_path: Path) -> None:
    conf = "NodeName=n[1-2] CPUs=4 Gres=gpu:4\nNodeName=n3 CPUs=4 Gres=gpu:2\n" + PARTITION
    devices = """NodeName=n1 Name=gpu Type=a100 File=/dev/nvidia[0-3]
NodeName=n2 Name=gpu Type=v100 File=/dev/nvidia[0-1]
NodeName=n2 Name=gpu Type=a100 File=/dev/nvidia[2-3]
NodeName=n3 Name=gpu Type=a100 File=/dev/nvidia[0-3]
"""
    found = draft(tmp_path, slurm_conf=conf, gres_conf=devices)
    assert [dict(node.capacity) for node in found.nodes] == [
        {"core": 4, "gpu": 4, "gpu_a100": 4},
        {"core": 4, "gpu": 4, "gpu_a100": 2, "gpu_v100": 2},
        # What slurm.conf counts is believed; gres.conf is of another number.
        {"core": 4, "gpu": 2},
    ]


@pytest.mark.parametrize("accounted", ["gres/gpu=4", "gres/gpu=4,gres/gpu:A100=4"])
def test_types_of_devices_by_the_submit_line_and_in_any_case(tmp_path: Path, accounted: str) -> None:
    """Two jobs of four A100 each: there is one node with these, whatever else is idle."""
    conf = "GresTypes=gpu\nNodeName=g1 CPUs=16 Gres=gpu:a100:4\nNodeName=g2 CPUs=16 Gres=gpu:v100:4\n"
    tres, begin = f"cpu=4,node=1,{accounted}", 1_772_438_400
    head = "JobID|Partition|Submit|Start|ElapsedRaw|Timelimit|State|NNodes|ReqTRES|AllocTRES|NodeList|SubmitLine"
    rows = [
        f"{job}|p|{begin}|{begin + start}|3600|2:00:00|COMPLETED|1|{tres}|{tres}|g1|sbatch --gres=gpu:a100:4 a.sh"
        for job, start in ((1, 0), (2, 3600))
    ]
    assert starts(tmp_path, [head, *rows], conf + "PartitionName=p Nodes=ALL\n") == {"1": 0.0, "2": 3600.0}


@pytest.mark.parametrize("settings", ["", "SelectTypeParameters=CR_Core\n"])
def test_jobs_run_where_no_node_states_its_memory(tmp_path: Path, settings: str) -> None:
    """Then Slurm gives out none. Accounts without NodeList do not say how much there is, either."""
    head = "JobID|Partition|Submit|Start|ElapsedRaw|Timelimit|State|NNodes|ReqTRES|AllocTRES"
    row = "1|p|1772438400|1772438400|60|0:10:00|COMPLETED|1|cpu=4,mem=8G,node=1|cpu=4,mem=8G,node=1"
    conf = f"{settings}NodeName=n[1-2] CPUs=8\nPartitionName=p Nodes=ALL\n"
    assert starts(tmp_path, [head, row], conf) == {"1": 0.0}


@pytest.mark.parametrize(("text", "default"), [("NONE", None), ("None", None), ("90", 5400), ("1:30:00", 5400)])
def test_default_times(tmp_path: Path, text: str, default: float | None) -> None:
    found = draft(tmp_path, slurm_conf=f"{NODES}PartitionName=p Nodes=ALL DefaultTime={text}\n")
    assert found.default_times == ({} if default is None else {"p": default})
    table = f"NODELIST|CPUS|PARTITION|STATE|DEFAULTTIME\nn1|4|q|idle|{text}\n"
    (tmp_path / "slurm.conf").unlink()
    assert draft(tmp_path, sinfo_txt=table).default_times == ({} if default is None else {"q": default})
