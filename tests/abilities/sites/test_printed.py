"""What sites print of themselves, in all its forms: the same two nodes of 16 cores, by hand."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from batdispatch.abilities.sites.doors.slurm.conf import read_conf
from batdispatch.abilities.sites.doors.slurm.site import draft_of_folder, read_folder
from batdispatch.abilities.sites.doors.slurm_texts import Gres, read_gres, read_gres_parts
from batdispatch.core.errors import InputError
from batdispatch.inputs.sites import SiteDraft
from batdispatch.inputs.workloads.moments import Clock
from batdispatch.inputs.workloads.node_use import Stay, use_of

NODE = """NodeName={name} Arch=x86_64 CoresPerSocket=8
   CPUAlloc=0 CPUEfctv=16 CPUTot=16 CPULoad=0.01
   AvailableFeatures=skylake
   Gres={gres}
   NodeAddr={name} NodeHostName={name} Version=22.05.8
   OS=Linux 5.10.0 #1 SMP Gres=gpu:9
   RealMemory=64000 AllocMem=0 FreeMem=N/A Sockets=2 Boards=1
   State={state} ThreadsPerCore=1 TmpDisk=0 Weight=1 Owner=N/A MCS_label=N/A
   CfgTRES=cpu=16,mem=64000M,billing=16
   Reason=Gres=gpu:8 State=DOWN and CPUTot=3 [root@2026-02-02T03:04:05]
   Comment=Weight=7 RealMemory=1
"""
PARTITION = "PartitionName=batch Default=YES MaxTime=7-00:00:00 Nodes=n[1-2] State=UP TotalNodes=2\n"


def node(name: str, *, gres: str = "(null)", state: str = "IDLE") -> str:
    return NODE.format(name=name, gres=gres, state=state)


def drafted(folder: Path, clock: Clock | None = None, **files: str | bytes) -> SiteDraft:
    for name, text in files.items():
        path = folder / name.replace("__", ".")
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return draft_of_folder(read_folder(folder), use_of([]), clock or Clock(None), 0.0)


def offers(draft: SiteDraft) -> dict[str, dict[str, int]]:
    return {one.name: dict(one.capacity) for one in draft.nodes}


# ---------------------------------------------------------------------- generic resources


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("gpu:2", [Gres("gpu", "", 2, True)]),
        ("gpu", [Gres("gpu", "", 1, True)]),
        ("gpu:a100", [Gres("gpu", "a100", 1, True)]),
        ("gpu:a100:4(S:0,2)", [Gres("gpu", "a100", 4, True)]),
        ("gpu:a100:4(IDX:0-1,3)", [Gres("gpu", "a100", 4, True)]),
        ("gpu:(null):4(S:0-1)", [Gres("gpu", "", 4, True)]),
        ("gpu:1080:4", [Gres("gpu", "1080", 4, True)]),
        ("gpu:nvidia_a100_1g.10gb:7(S:0)", [Gres("gpu", "nvidia_a100_1g.10gb", 7, True)]),
        ("gpu:a100:2,shard:a100:64", [Gres("gpu", "a100", 2, True), Gres("shard", "a100", 64, True)]),
        ("bandwidth:lustre:no_consume:4G", [Gres("bandwidth", "lustre", 4 * 2**30, False)]),
        ("nsight:no_consume:1", [Gres("nsight", "", 1, False)]),
        ("mps:2k", [Gres("mps", "", 2048, True)]),
        ("gres:gpu:2", [Gres("gpu", "", 2, True)]),
        ("gres/gpu:v100=3", [Gres("gpu", "v100", 3, True)]),
    ],
)
def test_generic_resources(text: str, parts: list[Gres]) -> None:
    assert read_gres_parts(text) == parts


@pytest.mark.parametrize("text", ["", ":::", "gpu:a:b:2", "3", "gpu:a b:2"])
def test_what_is_no_generic_resource(text: str) -> None:
    with pytest.raises(ValueError, match=r"^"):
        read_gres_parts(text)


def test_types_add_up_and_what_is_not_consumed_limits_nobody() -> None:
    found = read_gres("gpu:a100:4(S:0,2),gpu:v100:2,nsight:no_consume:1,tmp-disk:3")
    assert found == {"gpu": 6, "gpu_a100": 4, "gpu_v100": 2}


@pytest.mark.parametrize(("count", "amount"), [("Count=2K", 2048), ("Count=3", 3), ("File=/dev/nvidia[0-3,5]", 5)])
def test_counts_of_gres_conf(tmp_path: Path, count: str, amount: int) -> None:
    conf = "NodeName=n1 CPUs=16\nPartitionName=batch Nodes=n1\n"
    draft = drafted(tmp_path, slurm__conf=conf, gres__conf=f"AutoDetect=off\nName=gpu Type=a100 {count} Cores=0-3\n")
    assert offers(draft) == {"n1": {"core": 16, "gpu": amount}}


# ---------------------------------------------------------------------- scontrol


@pytest.mark.parametrize("form", ["lines", "oneliner"])
def test_texts_that_people_write_are_no_fields(tmp_path: Path, form: str) -> None:
    text = node("n1", gres="gpu:a100:2") + "\n" + node("n2")
    if form == "oneliner":
        text = "".join(
            " ".join(map(str.strip, one.splitlines())) + "\n" for one in (node("n1", gres="gpu:2"), node("n2"))
        )
    found = offers(drafted(tmp_path, nodes__txt=text, parts__txt=PARTITION))
    assert found["n1"] == {"core": 16, "gpu": 2, "memory": 64000}
    if form == "lines":
        assert found["n2"] == {"core": 16, "memory": 64000}


@pytest.mark.parametrize(
    ("state", "there"),
    [
        *[("IDLE", True), ("IDLE+CLOUD+POWERED_DOWN", True), ("IDLE+POWERING_DOWN", True), ("ALLOCATED+CLOUD", True)],
        *[("MIXED+DRAIN", True), ("IDLE~", True), ("IDLE+POWERING_UP", True), ("IDLE+MAINTENANCE+RESERVED", True)],
        *[("DOWN", False), ("DOWN*", False), ("DOWN*+DRAIN", False), ("FUTURE", False), ("FAILING+DRAIN", False)],
        *[("DOWN+CLOUD+POWERED_DOWN", False), ("IDLE+FAIL", False)],
    ],
)
def test_states_of_nodes(tmp_path: Path, state: str, there: bool) -> None:
    draft = drafted(tmp_path, nodes__txt=node("n1") + "\n" + node("n2", state=state), parts__txt=PARTITION)
    assert list(offers(draft)) == (["n1", "n2"] if there else ["n1"])


def test_nodes_that_are_all_down_are_taken_with_a_warning(tmp_path: Path) -> None:
    draft = drafted(
        tmp_path, nodes__txt=node("n1", state="DOWN*") + "\n" + node("n2", state="DOWN"), parts__txt=PARTITION
    )
    assert list(offers(draft)) == ["n1", "n2"]
    assert any("all nodes were down" in one for one in draft.warnings)


def test_partitions_without_nodes_and_with_nodes_that_are_hidden(tmp_path: Path) -> None:
    text = PARTITION.replace("n[1-2]", "n[1-3]") + "\nPartitionName=dynamic Nodes=(null) State=UP\n"
    draft = drafted(tmp_path, nodes__txt=node("n1") + "\n" + node("n2"), parts__txt=text)
    assert [(one.name, one.hosts) for one in draft.queues.partitions] == [("batch", ["n[1-2]"])]
    said = "\n".join(draft.warnings)
    assert "partition dynamic has no nodes: left out" in said
    assert "Nodes names n3, which nothing in" in said


RESERVATION = """ReservationName=class StartTime=1970-01-01T01:00:00 EndTime=1970-01-01T02:00:00 Duration=01:00:00
   Nodes={nodes} NodeCnt={count} CoreCnt=16 Features=(null) PartitionName=(null) Flags=SPEC_NODES
   Users={users} Groups=(null) Accounts={accounts} Licenses=(null) State=INACTIVE
"""


@pytest.mark.parametrize(
    ("nodes", "count", "hosts", "number"), [("n1", 1, ["n1"], None), ("(null)", 1, None, 1), ("(null)", 0, None, None)]
)
def test_reservations(tmp_path: Path, nodes: str, count: int, hosts: list[str] | None, number: int | None) -> None:
    text = RESERVATION.format(nodes=nodes, count=count, users="-bob", accounts="(null)")
    draft = drafted(tmp_path, nodes__txt=node("n1") + "\n" + node("n2"), parts__txt=PARTITION, res__txt=text)
    if not count:
        assert draft.queues.reservations == []
        assert "reservation class is of no nodes: left out" in draft.warnings
        return
    (window,) = draft.queues.reservations
    assert (window.hosts, window.nodes, window.users, window.start, window.end) == (hosts, number, ["-bob"], 3600, 7200)


def test_a_reservation_whose_times_cannot_be_read_is_left_out(tmp_path: Path) -> None:
    text = RESERVATION.format(nodes="n1", count=1, users="ada", accounts="(null)").replace("1970-01-01T02", "soon")
    draft = drafted(tmp_path, nodes__txt=node("n1") + "\n" + node("n2"), parts__txt=PARTITION, res__txt=text)
    assert draft.queues.reservations == []
    assert any("reservation class left out" in one for one in draft.warnings)


# ---------------------------------------------------------------------- sinfo

LONG = """Mon Mar  2 08:00:00 2026
NODELIST   NODES PARTITION       STATE CPUS    S:C:T MEMORY TMP_DISK WEIGHT AVAIL_FE REASON
n1             1    batch*        idle 16      2:8:1  64000        0      1  skylake none
n2             1    batch*       down* 16      2:8:1  64000        0      1   (null) Not responding, CPUS=3
n3             1    batch*       idle~ 16      2:8:1  64000        0      1   (null) none
"""
EMPTY = """Mon Mar  2 08:00:00 2026
PARTITION AVAIL  TIMELIMIT   JOB_SIZE ROOT OVERSUBS     GROUPS  CPUS       STATE RESERVATION NODELIST
batch*       up 7-00:00:00 1-infinite   no       NO        all    16       mixed             n[1-2]
batch*       up 7-00:00:00 1-infinite   no       NO        all     8        idle class       n3
"""
TABLES = {
    "-Nel": (LONG, {"n1": 16, "n3": 16}),
    "no date": (LONG.partition("\n")[2], {"n1": 16, "n3": 16}),
    "-N -o with |": (
        "NODELIST|PARTITION|CPUS|GRES\nn1|batch*|16|gpu:a100:2(S:0,1)\nn2|batch*|8+|(null)\n",
        {"n1": 16, "n2": 8},
    ),
    "-o with %C": ("PARTITION NODELIST CPUS(A/I/O/T)\nbatch* n[1-2] 4/28/0/32\n", {"n1": 32, "n2": 32}),
    "-o with %z": ("PARTITION NODELIST S:C:T\nbatch* n[1-2] 2:8:2\n", {"n1": 32, "n2": 32}),
    "-l with an empty column": (EMPTY, {"n1": 16, "n2": 16, "n3": 8}),
    "HOSTNAMES": ("HOSTNAMES PARTITION CPUS\nn1 batch* 16\nn2 batch* 16\n", {"n1": 16, "n2": 16}),
    "again": (LONG + LONG.replace("n3 ", "n4 "), {"n1": 16, "n3": 16, "n4": 16}),
}


@pytest.mark.parametrize("form", TABLES)
def test_tables_of_sinfo(tmp_path: Path, form: str) -> None:
    text, cores = TABLES[form]
    draft = drafted(tmp_path, sinfo__txt=text)
    assert {name: offer["core"] for name, offer in offers(draft).items()} == cores
    (partition,) = draft.queues.partitions
    assert (partition.name, partition.default) == ("batch", True)


PLAIN = """PARTITION AVAIL  TIMELIMIT  NODES  STATE NODELIST
batch*       up 7-00:00:00      1   idle n1
batch*       up 7-00:00:00      1  alloc n2
dynamic      up   infinite      0    n/a
"""


def test_sinfo_without_cores_leaves_these_to_the_accounts(tmp_path: Path) -> None:
    (tmp_path / "sinfo.txt").write_text(PLAIN)
    folder = read_folder(tmp_path)
    use = use_of([Stay("n1", 0.0, 10.0, {"core": 6}), Stay("n1", 5.0, 10.0, {"core": 4})])
    draft = draft_of_folder(folder, use, Clock(None), 0.0)
    assert offers(draft) == {"n1": {"core": 10}, "n2": {"core": 10}}
    assert [one.sure for one in draft.inferences if "core" in one.what] == ["a guess"]
    assert "partition dynamic has no nodes: left out" in draft.warnings
    nothing = draft_of_folder(folder, use_of([]), Clock(None), 0.0, least={"core": 4})
    assert offers(nothing) == {"n1": {"core": 4}, "n2": {"core": 4}}


def test_sinfo_of_several_clusters(tmp_path: Path) -> None:
    text = "CLUSTER: alpha\n" + PLAIN + "\nCLUSTER: beta\n" + PLAIN.replace("n1", "b1").replace("n2", "b2")
    (tmp_path / "sinfo.txt").write_text(text)
    with pytest.raises(InputError, match=r"is of several clusters \(alpha, beta\): choose one with --cluster NAME"):
        read_folder(tmp_path)
    assert sorted(read_folder(tmp_path, "beta").nodes) == ["b1", "b2"]


# ---------------------------------------------------------------------- JSON


def set_number(number: int) -> dict[str, object]:
    return {"set": True, "infinite": False, "number": number}


@pytest.mark.parametrize("version", ["old", "new"])
def test_json_of_scontrol_and_slurmrestd(tmp_path: Path, version: str) -> None:
    new = version == "new"
    nodes = [
        {"name": name, "cpus": 16, "real_memory": 64000, "gres": "gpu:a100:4(S:0,1)", "weight": 1}
        | ({"state": ["IDLE", "CLOUD"], "features": ["a", "b"]} if new else {"state": "idle", "features": "a,b"})
        for name in ("n1", "n2")
    ]
    down = {"name": "n3", "cpus": 16, "real_memory": 64000, "gres": "", "features": []}
    nodes.append(down | ({"state": ["DOWN"]} if new else {"state": "down", "state_flags": []}))
    partition = {"name": "batch", "nodes": {"configured": "n[1-3]", "total": 3}, "maximums": {"time": set_number(60)}}
    partition |= {"priority": {"tier": 2, "job_factor": 5}}
    older = {"name": "batch", "nodes": "n[1-3]", "max_time_limit": 60, "priority_tier": 2, "priority_job_factor": 5}
    reservation = {"name": "course", "node_list": "n1", "node_count": 1, "users": "ada", "accounts": ""}
    reservation |= {"start_time": set_number(3600), "end_time": 7200 if new else set_number(7200), "flags": ["DAILY"]}
    draft = drafted(
        tmp_path,
        nodes__json=json.dumps({"meta": {}, "nodes": nodes}),
        parts__json=json.dumps({"partitions": [partition if new else older]}),
        res__json=json.dumps({"reservations": [reservation]}),
        lic__json=json.dumps({"licenses": [{"LicenseName": "matlab", "Total": 9}]}),
    )
    offer = {"core": 16, "gpu": 4, "memory": 64000}
    assert offers(draft) == {"n1": offer, "n2": offer}
    assert draft.nodes[0].features == ("a", "b")
    (queue,) = draft.queues.partitions
    assert (queue.hosts, queue.max_time, queue.tier, queue.priority) == (["n[1-2]"], 3600, 2, 5)
    (window,) = draft.queues.reservations
    assert (window.hosts, window.users, window.start, window.end) == (["n1"], ["ada"], 3600, 7200)
    assert draft.licences == {"matlab": 9}


def test_json_of_sinfo(tmp_path: Path) -> None:
    line = {
        "nodes": {"nodes": ["n1", "n2"]},
        "cpus": {"minimum": 16},
        "memory": {"minimum": 64000},
        "gres": {"total": "gpu:2"},
        "features": {"total": "ib"},
        "node": {"state": ["IDLE"]},
        "partition": {"name": "batch", "maximums": {"time": {"set": False, "infinite": True, "number": 0}}},
    }
    draft = drafted(tmp_path, sinfo__json=json.dumps({"sinfo": [line]}))
    assert offers(draft)["n2"] == {"core": 16, "gpu": 2, "memory": 64000}
    assert [(one.name, one.max_time) for one in draft.queues.partitions] == [("batch", None)]


# ---------------------------------------------------------------------- slurm.conf

CONF = "ClusterName=Alpha\n{include}\nPartitionName=batch Nodes=n[1-2] Default=YES\n"


@pytest.mark.parametrize(
    ("include", "file"),
    [
        ("Include nodes.conf", "nodes.conf"),
        ("include /etc/slurm/nodes.conf", "nodes.conf"),
        ("Include /etc/slurm/conf.d/nodes.conf", "conf.d/nodes.conf"),
        ("Include /etc/slurm/conf.d/nodes.conf", "nodes.conf"),
        ("Include /etc/slurm/%c.conf", "alpha.conf"),
        ('Include "nodes.conf"', "nodes.conf"),
    ],
)
def test_includes(tmp_path: Path, include: str, file: str) -> None:
    (tmp_path / file).parent.mkdir(exist_ok=True)
    (tmp_path / file).write_text("NodeName=n[1-2] CPUs=16\n")
    draft = drafted(tmp_path, slurm__conf=CONF.format(include=include))
    assert offers(draft) == {"n1": {"core": 16}, "n2": {"core": 16}}


def test_an_absolute_include_of_which_there_is_no_copy_is_named(tmp_path: Path) -> None:
    conf = CONF.format(include="Include /nowhere/keys.conf\nNodeName=n[1-2] CPUs=16")
    draft = drafted(tmp_path, slurm__conf=conf)
    assert offers(draft) == {"n1": {"core": 16}, "n2": {"core": 16}}
    assert any(
        "line 2: includes /nowhere/keys.conf, of which there is no copy: left out" in one for one in draft.warnings
    )


@pytest.mark.parametrize("encoding", ["latin-1", "utf-8-sig", "utf-16"])
def test_encodings(tmp_path: Path, encoding: str) -> None:
    conf = CONF.format(include="# Universität\nNodeName=n[1-2] CPUs=16").encode(encoding)
    draft = drafted(tmp_path, slurm__conf=conf, sinfo__txt=PLAIN.encode(encoding))
    assert offers(draft) == {"n1": {"core": 16}, "n2": {"core": 16}}


def test_nodes_that_stand_in_no_file_may_be_those_that_scontrol_shows(tmp_path: Path) -> None:
    conf = CONF.format(include="MaxNodeCount=9")
    draft = drafted(tmp_path, slurm__conf=conf, nodes__txt=node("n1") + "\n" + node("n2"))
    assert offers(draft)["n2"] == {"core": 16, "memory": 64000}
    assert [one.hosts for one in draft.queues.partitions] == [["n[1-2]"]]


CONFIG = """Configuration data as of 2026-03-02T08:00:00
AccountingStorageType   = accounting_storage/slurmdbd
ClusterName             = alpha
KillWait                = 30 sec
PriorityType            = priority/multifactor
PriorityMaxAge          = 7-00:00:00
PriorityWeightAge       = 1000
SchedulerParameters     = bf_interval=60,defer
SelectType              = select/cons_tres
SelectTypeParameters    = CR_CORE_MEMORY
Prolog                  = (null)

Slurmctld(primary) at head is UP
"""


def test_what_scontrol_show_config_prints_is_a_configuration(tmp_path: Path) -> None:
    (tmp_path / "slurm.conf").write_text(CONFIG)
    general = read_conf(tmp_path / "slurm.conf").general
    assert general["killwait"].value == "30"
    assert "prolog" not in general
    (tmp_path / "slurm.conf").unlink()
    files = {"config__txt": CONFIG, "nodes__txt": node("n1") + "\n" + node("n2"), "parts__txt": PARTITION}
    drafted(tmp_path, **files)
    folder = read_folder(tmp_path)
    assert folder.counts_memory
    assert folder.conf is not None
    assert folder.conf.general["schedulerparameters"].value == "bf_interval=60,defer"
