"""The machine and the queues from accounts, with and without the files of the site's Slurm."""

import json
from pathlib import Path
from typing import Any

import pytest

import made_up_site
from batdispatch import compare
from batdispatch.abilities.sites.doors.slurm.site import draft_of_folder, read_folder
from batdispatch.core.errors import InputError
from batdispatch.core.hosts.names import expand, fold
from batdispatch.core.machine.features import matches
from batdispatch.inputs.log_options import LogOptions, LogReading
from batdispatch.inputs.platforms import read_platform
from batdispatch.inputs.platforms.generate import flat
from batdispatch.inputs.sites import SiteDraft
from batdispatch.inputs.workloads import read_workload
from batdispatch.inputs.workloads.importers import read_log
from batdispatch.inputs.workloads.moments import Clock
from batdispatch.inputs.workloads.node_use import Stay, use_of
from batdispatch.inputs.workloads.workload_file import WorkloadFile
from batdispatch.runs.inputs import Inputs, platform_for
from batdispatch.runs.listener import SILENT
from logs import same

HEAD = "JobID|User|Partition|Submit|Start|ElapsedRaw|TimelimitRaw|State|NNodes|ReqTRES|AllocTRES|NodeList"
BEGIN = 1_772_438_400


def line(number: int, partition: str, nodes: str, start: int, *, cores: int = 32, count: int = 1, gpus: int = 0) -> str:
    tres = f"cpu={cores},mem={cores}G,node={count}" + (f",gres/gpu={gpus}" if gpus else "")
    fields = (1000 + number, "ada", partition, BEGIN, BEGIN + start, 3600, 600, "COMPLETED", count, tres, tres, nodes)
    return "|".join(map(str, fields))


def account(folder: Path, *lines: str) -> Path:
    path = folder / "account.txt"
    path.write_text("\n".join([HEAD, *lines]) + "\n")
    return path


def busy_and_quiet(folder: Path) -> Path:
    busy = [line(number + 1, "busy", f"n{number % 2 + 1}", number // 2 * 3600) for number in range(40)]
    return account(folder, *busy, line(41, "quiet", "n3", 0), line(42, "quiet", "n4", 0))


def mean_wait(path: Path, **settings: Any) -> float:
    (figures,) = compare(path, "easy", **settings).figures.values()
    return float(figures["mean_waiting_time"])


def test_jobs_wait_for_the_nodes_of_their_partition(tmp_path: Path) -> None:
    """40 jobs on two nodes wait 9.5 h on average, whatever else is idle; two jobs in another partition do not wait."""
    path = busy_and_quiet(tmp_path)
    assert mean_wait(path) == pytest.approx(3600 * 9.5 * 40 / 42)
    assert mean_wait(path, partitions="ignore") < 3600 * 9.5 * 40 / 42 / 1.8


def test_an_odd_job_resizes_no_node(tmp_path: Path) -> None:
    """One job of 128 cores and 3 GPUs on 4 nodes says nothing about how many cores a node has beyond 32."""
    jobs = [line(number + 1, "all", f"n{number % 4 + 1}", number // 4 * 3600) for number in range(40)]
    plain = mean_wait(account(tmp_path, *jobs))
    path = account(tmp_path, *jobs, line(41, "all", "n[1-4]", 36_000, cores=128, count=4, gpus=3))
    with pytest.warns(UserWarning, match="the machine has 4 gpu, of which the log never used more than 3"):
        waited = mean_wait(path)
    # The odd job itself waits 10 h.
    assert waited == pytest.approx((plain * 40 + 36_000) / 41)


@pytest.mark.parametrize("columns", ["Partition", "NodeList"])
def test_partitions_are_not_dropped_without_a_word(tmp_path: Path, columns: str) -> None:
    rows = [one.split("|") for one in busy_and_quiet(tmp_path).read_text().splitlines()]
    at = rows[0].index(columns)
    (tmp_path / "less.txt").write_text("\n".join("|".join(row[:at] + row[at + 1 :]) for row in rows) + "\n")
    if columns == "NodeList":
        with pytest.raises(InputError, match=r"partition busy \(40 jobs\), quiet \(2 jobs\).*--partitions ignore"):
            mean_wait(tmp_path / "less.txt")
        mean_wait(tmp_path / "less.txt", partitions="ignore")
    else:
        mean_wait(tmp_path / "less.txt")


def test_a_platform_without_the_partitions_is_refused(tmp_path: Path) -> None:
    path, platform = busy_and_quiet(tmp_path), tmp_path / "p.xml"
    platform.write_bytes(flat(4, capacity="core=32 memory=32768"))
    with pytest.raises(InputError, match="says nothing of partition busy"):
        mean_wait(path, platform=platform)


def test_nodes_by_what_was_in_use_on_each(tmp_path: Path) -> None:
    """Single nodes count by what ran there together; n3, which never was full, is like the others of its kind."""
    stays = [
        *(Stay(f"n{node}", 10.0 * turn, 10.0, {"core": 8}, "p") for node in (1, 2) for turn in (0, 0, 1)),
        Stay("n3", 0.0, 5.0, {"core": 5}, "p"),
        Stay("f[1-2]", 0.0, 5.0, {"core": 80, "gpu": 4}, "p"),
        Stay("f[2-3]", 5.0, 5.0, {"core": 80, "gpu": 4}, "p"),
    ]
    use = use_of(stays)
    assert dict(zip(use.names, use.peak["core"].tolist(), strict=True)) == {
        "n1": 16, "n2": 16, "n3": 5, "f1": 40, "f2": 40, "f3": 40,
    }  # fmt: skip
    assert use.together == {"core": 117, "gpu": 4}
    rows = "\n".join(
        f"{row}|p|{int(one.start)}|{int(one.start)}|{int(one.seconds)}|COMPLETED|cpu={one.amounts['core']},"
        f"gres/gpu={one.amounts.get('gpu', 0)},node={2 if 'f' in one.nodes else 1}|{one.nodes}"
        for row, one in enumerate(stays, 1)
    )
    (tmp_path / "a.txt").write_text(f"JobID|Partition|Submit|Start|ElapsedRaw|State|AllocTRES|NodeList\n{rows}\n")
    read = read_log(tmp_path / "a.txt")
    (tmp_path / "p.xml").write_bytes(platform_for(read.workload, "sacct", read.info).content)
    offers = {host.name: host.properties["capacity"] for host in read_platform(tmp_path / "p.xml").machine.hosts}
    assert offers == {f"n{node}": "core=16" for node in (1, 2, 3)} | {f"f{node}": "core=40 gpu=2" for node in (1, 2, 3)}


def test_whole_nodes_are_recognised(tmp_path: Path) -> None:
    """Who always got all 32 cores of a node and asked for 4 had the node alone."""
    rows = [
        f"{row}|p|{BEGIN}|{BEGIN + row // 2 * 100}|100|COMPLETED|cpu=4,node=1|cpu=32,node=1|n{row % 2}"
        for row in range(40)
    ]
    head = "JobID|Partition|Submit|Start|ElapsedRaw|State|ReqTRES|AllocTRES|NodeList"
    (tmp_path / "a.txt").write_text("\n".join([head, *rows]) + "\n")
    assert mean_wait(tmp_path / "a.txt") == pytest.approx(950.0)


def test_constraints_and_features(tmp_path: Path) -> None:
    masks = {"a": 0b0011, "b": 0b0101}
    wanted = {"a": 3, "a&b": 1, "a|b": 7, "a|b&a": 3, "(a|b)&(b)": 5, "b|(a&b)": 5, "none": 0, "a,b": 1}
    assert {text: matches(text, masks, 15) for text in wanted} == wanted
    for wrong in ("a&", "(a", "a)", "", "a b", "&a"):
        with pytest.raises(ValueError, match=r".*"):
            matches(wrong, masks, 15)
    names = ["n1", "n2", "n10", "login", "r01n1", "r01n2"]
    assert sorted(name for text in fold(names) for name in expand(text)) == sorted(names)


# ---------------------------------------------------------------------- a made-up site


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> made_up_site.MadeUpSite:
    return made_up_site.make(tmp_path_factory.mktemp("site"), jobs=400, seed=3, dispatcher="easy")


def test_what_the_generator_used_is_read_back(site: made_up_site.MadeUpSite, tmp_path: Path) -> None:
    compare(site.accounts, "easy", slurm=str(site.slurm), time_zone="UTC", out=tmp_path)
    first = json.loads(site.workload.read_text())["jobs"][0]["subtime"]
    made, truth = (read_platform(path).machine for path in (tmp_path / "input" / "platform.xml", site.platform))
    assert [(one.name, dict(one.properties)["capacity"]) for one in made.hosts] == [
        (one.name, " ".join(sorted(dict(one.properties)["capacity"].split()))) for one in truth.hosts
    ]
    assert [one.properties.get("weight") for one in made.hosts] == [one.properties.get("weight") for one in truth.hosts]
    assert made.site is not None
    assert truth.site is not None
    assert made.site.features == truth.site.features
    assert made.site.hosts == truth.site.hosts
    assert {**made.site.partitions} == {**truth.site.partitions}
    (window,), (true,) = made.site.windows, truth.site.windows
    assert (window.name, window.hosts, window.accounts) == (true.name, true.hosts, true.accounts)
    assert (window.start + first, window.end + first) == (true.start, true.end)


def test_the_simulation_of_the_accounts_is_that_of_the_generator(site: made_up_site.MadeUpSite, tmp_path: Path) -> None:
    truth = json.loads((site.run / "result.json").read_text())["metrics"]["mean_waiting_time"]
    again = mean_wait(site.accounts, slurm=str(site.slurm), time_zone="UTC")
    assert again == pytest.approx(truth, rel=0.02)


WRONG = {
    "half a file": ("PartitionName=batch Nodes=n[00-", "n[00-"),
    "no such node": ("NodeName=n1 CPUs=4\nPartitionName=batch Nodes=n[1-2]\n", "names 'n2'"),
    "nothing": ("", "says nothing of nodes"),
    "a size": ("NodeName=n1 CPUs=four\nPartitionName=batch Nodes=n1\n", "CPUs is 'four'"),
}


@pytest.mark.parametrize("what", WRONG)
def test_wrong_files(tmp_path: Path, what: str) -> None:
    content, message = WRONG[what]
    (tmp_path / "slurm.conf").write_text(content)
    with pytest.raises(InputError) as caught:
        read_folder(tmp_path)
    assert message in str(caught.value)


def test_unknown_keys_and_files_are_named(tmp_path: Path) -> None:
    (tmp_path / "slurm.conf").write_text("NodeName=n1 CPUs=4 Color=red\nPartitionName=p Nodes=n1\n")
    (tmp_path / "notes.txt").write_text("call Ada\n")
    remarks = read_folder(tmp_path).remarks
    assert any("Color is not known" in one for one in remarks)
    assert any("notes.txt: left alone" in one for one in remarks)


def test_a_partition_that_slurm_conf_lacks(site: made_up_site.MadeUpSite, tmp_path: Path) -> None:
    text = (site.slurm / "slurm.conf").read_text()
    (tmp_path / "slurm.conf").write_text("\n".join(one for one in text.splitlines() if "Name=gpu" not in one) + "\n")
    with pytest.raises(InputError, match=r"says nothing of partition gpu \(\d+ jobs\)"):
        mean_wait(site.accounts, slurm=str(tmp_path))


SINFO = """NODELIST   NODES PARTITION  STATE CPUS    S:C:T MEMORY TMP_DISK WEIGHT AVAIL_FE REASON
n[1-2]         2    batch*   idle 16    2:8:1  64000        0      1 ib,avx   none
n3             1    batch*   idle 32    2:16:1 128000       0      1 (null)   none
"""
NODE = """NodeName=n1 Arch=x86_64 CoresPerSocket=8
   CPUAlloc=0 CPUEfctv=16 CPUTot=20 CPULoad=0.01
   AvailableFeatures=ib,new
   Gres=gpu:a100:2(S:0)
   OS=Linux 5.10 #1 SMP
   RealMemory=64000 AllocMem=0 State=IDLE
   Partitions=batch
"""


QOS = """Name|Priority|GraceTime|Preempt|PreemptMode|MaxWall
normal|0|00:00:00||cluster|
high|100|00:00:00|normal,low|cluster|2:00:00
low|1|00:02:00||requeue|
"""


def test_qualities_of_service_are_those_of_sacctmgr(tmp_path: Path) -> None:
    (tmp_path / "slurm.conf").write_text(
        "NodeName=n1 CPUs=32\nPartitionName=batch Nodes=n1 PreemptMode=CANCEL GraceTime=90\n"
    )
    (tmp_path / "qos.txt").write_text(QOS)
    head, *lines = (
        HEAD.replace("Partition", "Partition|QOS"),
        line(1, "batch|high", "n1", 0),
        line(2, "batch|gone", "n1", 0),
    )
    log = tmp_path / "account.txt"
    log.write_text("\n".join([head, *lines]) + "\n")
    compare(log, "easy", slurm=str(tmp_path), out=tmp_path / "out")
    site = read_platform(tmp_path / "out" / "input" / "platform.xml").machine.site
    assert site is not None
    assert {name: (one.priority, one.max_time, one.preempts, one.preempt_mode) for name, one in site.qos.items()} == {
        "normal": (0, None, [], ""),
        "high": (100, 7200.0, ["normal", "low"], ""),
        "low": (1, None, [], "requeue"),
    }
    assert site.partitions["batch"].preempt_mode == "cancel"
    assert site.partitions["batch"].grace_time == 90.0
    assert {name: one.grace_time for name, one in site.qos.items()} == {"normal": 0.0, "high": 0.0, "low": 120.0}
    assert [job.extra.get("qos") for job in read_workload(tmp_path / "out" / "input" / "account.json").jobs] == [
        "high",
        None,
    ]
    (tmp_path / "slurm.conf").write_text("NodeName=n1 CPUs=32\nPartitionName=batch Nodes=n1 PreemptMode=GANG,SUSPEND\n")
    with pytest.warns(UserWarning, match="jobs of partition batch would be suspended for others"):
        compare(log, "easy", slurm=str(tmp_path), out=tmp_path / "again")
    (tmp_path / "qos.txt").write_text(QOS + "odd|1\n")
    with pytest.raises(InputError, match=r"qos.txt, line 5: found 2 fields, expected the 6 of the header"):
        read_folder(tmp_path)


def drafted(folder: Path, **files: str) -> SiteDraft:
    for name, text in files.items():
        (folder / f"{name}.conf").write_text(text)
    return draft_of_folder(read_folder(folder), use_of([]), Clock(None), 0.0)


@pytest.mark.parametrize(("shares", "warned"), [("FORCE:4", True), ("YES", True), ("FORCE:1", False), ("NO", False)])
def test_partitions_whose_jobs_share_cores_are_named(tmp_path: Path, shares: str, warned: bool) -> None:
    conf = f"NodeName=n[1-2] CPUs=32\nPartitionName=all Nodes=ALL OverSubscribe={shares}\n"
    found = drafted(tmp_path, slurm=conf)
    assert found.queues.partitions[0].hosts == ["n[1-2]"]
    said = f"partition all says OverSubscribe={shares}, by which jobs may share cores"
    assert any(one.startswith(said) for one in found.warnings) == warned


def test_all_nodes_of_a_part_of_slurm_conf(tmp_path: Path) -> None:
    """Sites keep partitions in files of their own, which begin as what scontrol prints does."""
    nodes = "NodeName=n1 CPUTot=32\nNodeName=n2 CPUTot=32\n"
    found = drafted(tmp_path, partitions="PartitionName=all Nodes=ALL\n", nodes=nodes)
    assert found.queues.partitions[0].hosts == ["n[1-2]"]


def test_gres_conf_that_begins_with_nodes_is_no_node(tmp_path: Path) -> None:
    conf = "NodeName=n[1-2] CPUs=32\nPartitionName=all Nodes=ALL\n"
    found = drafted(tmp_path, slurm=conf, gres="NodeName=n[1-2] Name=gpu Type=h100 File=/dev/nvidia[0-3]\n")
    assert [(one.name, dict(one.capacity)) for one in found.nodes] == [
        (name, {"core": 32, "gpu": 4}) for name in ("n1", "n2")
    ]


def test_a_part_of_slurm_conf_without_the_whole(tmp_path: Path) -> None:
    nodes = "NodeName=n[1-3] Sockets=2 CoresPerSocket=16 ThreadsPerCore=2\n"
    found = drafted(tmp_path, nodes=nodes, parts="PartitionName=all Nodes=ALL\n")
    assert [(one.name, dict(one.capacity)) for one in found.nodes] == [(f"n{row}", {"core": 64}) for row in (1, 2, 3)]
    with pytest.raises(InputError, match=r"nodes.conf, line 1: NodeName is 'DEFAULT', expected nodes: this is a part"):
        drafted(tmp_path, nodes="NodeName=DEFAULT CPUs=4\nNodeName=n1\n")


def test_what_slurm_conf_says_and_nothing_does_is_named(tmp_path: Path) -> None:
    conf = (
        "NodeName=n[1-3] CPUs=8\nPartitionName=all Nodes=ALL LLN=YES AllowQos=normal MaxNodes=2\n"
        "PartitionName=closed Nodes=n1 MaxTime=0\nDownNodes=n3 State=DOWN Reason=fan\n"
    )
    found = drafted(tmp_path, slurm=conf)
    assert [one.name for one in found.nodes] == ["n1", "n2"]
    assert [one.name for one in found.queues.partitions] == ["all"]
    assert found.queues.partitions[0].hosts == ["n[1-2]"]
    assert "of partition all, not simulated: AllowQos, LLN" in found.warnings
    assert "partition closed lets no job run (MaxTime=0): left out" in found.warnings


def test_nodes_that_are_down_are_in_no_partition_or_reservation(tmp_path: Path) -> None:
    conf = "NodeName=n[1-2] CPUs=8\nNodeName=n3 CPUs=8 State=DOWN\nPartitionName=all Nodes=ALL\n"
    times = "StartTime=2026-03-02T10:00:00 EndTime=2026-03-02T12:00:00"
    windows = f"ReservationName=a {times} Nodes=n[2-3]\n\nReservationName=b {times} Nodes=n3\n"
    found = drafted(tmp_path, slurm=conf + "PartitionName=few Nodes=n3\n", windows=windows)
    path = tmp_path / "platform.xml"
    path.write_bytes(found.platform())
    site = read_platform(path).machine.site
    assert site is not None
    assert site.hosts == {"all": 0b11}
    assert [(one.name, one.hosts) for one in site.windows] == [("a", ["n2"])]
    assert "partition few has no node that is up: left out" in found.warnings
    assert "partition all has 2 nodes (from slurm.conf; sure)" in map(str, found.inferences)
    assert "reservation b is of nodes that are not there: left out" in found.warnings


def test_nodes_of_sinfo_beyond_any_machine_are_refused(tmp_path: Path) -> None:
    (tmp_path / "sinfo.txt").write_text(SINFO.replace("n[1-2] ", "n[1-9][0-9999999] "))
    with pytest.raises(InputError, match=r"Nodes: 'n\[1-9\]\[0-9999999\]' stands for too many hosts"):
        read_folder(tmp_path)


def test_scontrol_is_believed_before_sinfo(tmp_path: Path) -> None:
    (tmp_path / "sinfo.txt").write_text(SINFO)
    (tmp_path / "node.txt").write_text(NODE)
    log = account(tmp_path, line(1, "batch", "n1", 0, cores=4), line(2, "batch", "n3", 0, cores=4))
    compare(log, "easy", slurm=str(tmp_path), out=tmp_path / "out")
    machine = read_platform(tmp_path / "out" / "input" / "platform.xml").machine
    offers = {host.name: (host.properties["capacity"], host.properties.get("features")) for host in machine.hosts}
    assert offers == {
        "n1": ("core=20 gpu=2 memory=64000", "ib new"),
        "n2": ("core=16 memory=64000", "ib avx"),
        "n3": ("core=32 memory=128000", None),
    }
    assert LogOptions().slurm is None


LICENSED = HEAD + "|Licenses"


def licensed(folder: Path, *jobs: tuple[int, int, str]) -> Path:
    """Return accounts of jobs of one core on n1 or n2: number, start in hours, licences."""
    lines = [line(number, "", "n1", start * 3600, cores=1) + f"|{asked}" for number, start, asked in jobs]
    path = folder / "account.txt"
    path.write_text("\n".join([LICENSED, *lines]) + "\n")
    return path


@pytest.mark.parametrize("column", ["NodeList", "nothing"])
@pytest.mark.parametrize("units", ["hosts", "cores"])
def test_licences_are_as_many_as_jobs_held_at_a_time(tmp_path: Path, column: str, units: str) -> None:
    path = licensed(tmp_path, (1, 0, "matlab:2"), (2, 0, "matlab"), (3, 1, "matlab:2,ansys"), (4, 1, ""))
    if column == "nothing":
        path.write_text("\n".join(one.replace("|n1|", "||") for one in path.read_text().splitlines()) + "\n")
    compare(path, "easy", out=tmp_path / "out", units=units)
    machine = read_platform(tmp_path / "out" / "input" / "platform.xml").machine
    assert machine.licences == (("ansys", 1), ("matlab", 3))


def test_slurm_says_how_many_licences_there_are(tmp_path: Path, recwarn: pytest.WarningsRecorder) -> None:
    path = licensed(tmp_path, (1, 0, "matlab:2"), (2, 0, "ansys:4"), (3, 0, "fluent"))
    slurm = tmp_path / "slurm"
    slurm.mkdir()
    conf = "Licenses=matlab:9,ansys:3\nNodeName=n1 CPUs=8 RealMemory=64000\nPartitionName=all Nodes=n1\n"
    (slurm / "slurm.conf").write_text(conf)
    compare(path, "easy", slurm=str(slurm), out=tmp_path / "out")
    found = dict(read_platform(tmp_path / "out" / "input" / "platform.xml").machine.licences)
    assert found == {"ansys": 4, "fluent": 1, "matlab": 9}
    assert any("held 4 licences ansys at a time, of 3: 4 taken" in str(one.message) for one in recwarn)
    (slurm / "slurm.conf").write_text(conf.replace("matlab:9", "matlab:many"))
    with pytest.raises(
        InputError, match=r"slurm.conf, line 1: Licenses is 'matlab:many,ansys:3', expected licences such"
    ):
        compare(path, "easy", slurm=str(slurm), out=tmp_path / "wrong")
    (slurm / "slurm.conf").write_text(conf)
    (slurm / "licences.txt").write_text("LicenseName=matlab\n    Total=7 Used=2 Free=5 Reserved=0 Remote=no\n")
    compare(path, "easy", slurm=str(slurm), out=tmp_path / "again")
    assert dict(read_platform(tmp_path / "again" / "input" / "platform.xml").machine.licences)["matlab"] == 7


def test_a_platform_without_the_licences_runs_the_jobs_without_them(tmp_path: Path) -> None:
    path = licensed(tmp_path, (1, 0, "matlab:2"), (2, 0, "matlab"))
    platform = tmp_path / "platform.xml"
    platform.write_bytes(flat(1, capacity="core=8 memory=64000"))
    (figures,) = compare(path, "easy", platform=platform).figures.values()
    assert figures["mean_waiting_time"] == 0.0
    report = read_log(path, machine=read_platform(platform).machine).report
    assert report.changed["ask for licences that the platform does not state: without these"].count == 2


def test_accounts_that_do_not_say_partitions(tmp_path: Path) -> None:
    path = tmp_path / "account.txt"
    names = HEAD.replace("Partition|", "")
    rows = [line(number, "", "n1", 0, cores=1).replace("|ada||", "|ada|") for number in range(3)]
    path.write_text("\n".join([names, *rows]) + "\n")
    slurm = tmp_path / "slurm"
    slurm.mkdir()
    nodes = "NodeName=n[1-2] CPUs=8 RealMemory=64000\nPartitionName=all Nodes=n1\n"
    (slurm / "slurm.conf").write_text(nodes)
    assert mean_wait(path, slurm=str(slurm)) == 0.0
    (slurm / "slurm.conf").write_text(nodes + "PartitionName=few Nodes=n2\n")
    with pytest.raises(InputError, match="does not say in which partition jobs ran, and the site has all, few"):
        mean_wait(path, slurm=str(slurm))
    assert mean_wait(path, slurm=str(slurm), partitions="ignore") == 0.0
    swf = tmp_path / "log.swf"
    swf.write_text("1 0 0 10 1 -1 -1 1 20 -1 1 1 1 1 1 1 -1 -1\n")
    with pytest.raises(InputError, match=r"--slurm: goes with the accounts of Slurm \(sacct\)"):
        mean_wait(swf, slurm=str(slurm))


def test_runs_of_a_requeued_job_use_their_nodes_and_count_as_one_job(tmp_path: Path) -> None:
    """The first run lost its node after an hour; the log and each dispatcher know one job of two runs."""
    lost = line(1, "all", "n1", 0).replace("COMPLETED", "NODE_FAIL")
    again = line(1, "all", "n1", 7200).replace(str(BEGIN), str(BEGIN + 3600), 1)
    path = account(tmp_path, lost, again, line(2, "all", "n1", 10800))
    for requeues, runs in (("last", 2), ("all", 3)):
        out = tmp_path / requeues
        found = compare(path, "easy,slurm-backfill", requeues=requeues, with_log=True, overrun="extend", out=out)
        assert [figures["nb_jobs"] for figures in found.figures.values()] == [2, 2, 2]
        # The log's machine works for two or three of four hours.
        assert found.figures["the-log"]["utilisation_core"] == runs / 4
        assert found.figures["easy"]["makespan"] == 3600 * runs
        assert found.check(replay="always").violations == []


def test_runs_of_accounts_are_given_what_their_workload_says(site: made_up_site.MadeUpSite, tmp_path: Path) -> None:
    """Jobs that were fitted to their site go to its runs without their file, and are those that it holds."""
    reading = LogReading(slurm=str(site.slurm), time_zone="UTC")
    inputs = Inputs(site.accounts, None, tmp_path, reading=reading)
    inputs.prepare(SILENT)
    assert inputs.file is not None
    assert any(job.request.dependencies or "reservation" in job.extra for job in inputs.file.workload().jobs)
    same(inputs.file, WorkloadFile(inputs.workload))
