"""slurm.conf: how lines are taken apart, what they mean, and what is said where one is wrong."""

import math
from pathlib import Path

import pytest

from batdispatch.abilities.sites.doors.slurm.conf import SlurmConf, read_conf
from batdispatch.abilities.sites.doors.slurm.settings import Setting
from batdispatch.core.errors import InputError

SITE = r"""# A site of two partitions \
ClusterName=Blue SelectType=select/cons_tres   # two on a line
schedulerparameters=bf_interval=60,defer,\
bf_max_job_test=500
PriorityWeightAge=1000
PRIORITYWEIGHTAGE=2000
Include nodes.%c
PartitionName=DEFAULT State=UP MaxTime=1-0
PartitionName=busy Nodes=n[1-2] Default=yes PriorityTier=5 OverSubscribe=Exclusive
PartitionName=DEFAULT MaxTime=UNLIMITED
PartitionName=quiet Nodes=fat,n1 DefaultTime=30 MaxNodes=2 Priority=7
DownNodes=n4 Reason="waits for a disk" State=DOWN
"""
NODES = r"""NodeName=DEFAULT Sockets=2 CoresPerSocket=4 ThreadsPerCore=2 RealMemory=1000
NodeName=n[1-2] Feature=old
NodeName=n[3-4,7],login1 CPUs=24 RealMemory=2000 Gres=gpu:a100:2,gpu:v100:1 Features=new,fast Weight=9 State=down
NodeSet=fat Feature=fast
"""


def conf(folder: Path, text: str, **others: str) -> SlurmConf:
    for name, content in others.items():
        (folder / name.replace("_", ".")).write_text(content)
    path = folder / "slurm.conf"
    path.write_text(text)
    return read_conf(path)


def lines(*settings: Setting | None) -> list[int]:
    return [setting.line for setting in settings if setting is not None]


def test_settings_know_their_file_and_line(tmp_path: Path) -> None:
    read = conf(tmp_path, SITE, nodes_blue=NODES)
    general = read.general
    assert lines(general["clustername"], general["selecttype"], general["schedulerparameters"]) == [2, 2, 3]
    assert [(one.key, one.value, one.line) for one in general["schedulerparameters"].parameters()][:2] == [
        ("bf_interval", "60", 3),
        ("defer", "", 3),
    ]
    assert read.get("PriorityWeightAge", Setting.whole, 0) == 2000
    assert lines(*read.repeated) == [5]
    assert (read.nodes[0].head.source, read.nodes[0].head.line) == (str(tmp_path / "nodes.blue"), 2)
    # What a DEFAULT line says is said there.
    assert read.nodes[0].settings["sockets"].line == 1
    assert (read.unknown, read.cut) == ((), ())


def test_a_value_that_goes_on_in_the_next_line_has_the_line_it_begins_in(tmp_path: Path) -> None:
    read = conf(tmp_path, "ClusterName=a \\\n # of the next line\nPriorityMaxAge=7 \\\n  PriorityFavorSmall=yes\n")
    general = read.general
    assert lines(general["clustername"], general["prioritymaxage"], general["priorityfavorsmall"]) == [1, 3, 4]


def test_nodes_are_what_their_line_and_the_default_lines_above_say(tmp_path: Path) -> None:
    first, second = conf(tmp_path, SITE, nodes_blue=NODES).nodes
    assert (first.names, first.cpus, first.cores, first.memory) == (("n1", "n2"), 16, 8, 1000)
    assert (first.features, first.gres, first.weight, first.state) == (("old",), {}, 1, "UNKNOWN")
    assert second.names == ("n3", "n4", "n7", "login1")
    assert (second.cpus, second.cores, second.memory) == (24, 12, 2000)
    assert second.gres == {"gpu": 3, "gpu_a100": 2, "gpu_v100": 1}
    assert (second.features, second.weight, second.state) == (("new", "fast"), 9, "DOWN")


def test_partitions_are_what_their_line_and_the_default_lines_above_say(tmp_path: Path) -> None:
    busy, quiet = conf(tmp_path, SITE, nodes_blue=NODES).partitions
    assert (busy.name, busy.nodes, busy.default, busy.max_time) == ("busy", ("n1", "n2"), True, 86_400)
    assert (busy.priority_tier, busy.priority_job_factor, busy.oversubscribe) == (5, 1, "EXCLUSIVE")
    assert (busy.default_time, busy.max_nodes) == (None, None)
    assert quiet.nodes == ("n3", "n4", "n7", "login1", "n1")
    assert (quiet.default, quiet.max_time, quiet.default_time, quiet.max_nodes) == (False, math.inf, 1800, 2)
    assert (quiet.priority_tier, quiet.priority_job_factor) == (7, 7)


def test_all_nodes(tmp_path: Path) -> None:
    read = conf(tmp_path, "NodeName=a[01-03]\nPartitionName=p Nodes=ALL\n")
    assert read.partitions[0].nodes == ("a01", "a02", "a03")


def test_comments_quotes_and_escapes(tmp_path: Path) -> None:
    read = conf(tmp_path, 'MailProg="/bin/a b"#note\nEpilog=/x\\#y # z\nProlog=""\n\n   # nothing\n')
    assert [read.general[key].value for key in ("mailprog", "epilog", "prolog")] == ["/bin/a b", "/x#y", ""]


def test_unknown_keys_are_listed_and_change_nothing(tmp_path: Path) -> None:
    read = conf(tmp_path, "ClusterNam=x\nNodeName=n1 Colour=red CPUs=3\nSchedulerPort=7321\n")
    assert [(one.key, one.line) for one in read.unknown] == [("ClusterNam", 1), ("Colour", 2), ("SchedulerPort", 3)]
    assert read.nodes[0].cpus == 3
    assert read.remarks()[0].endswith("line 1: ClusterNam is not known to Slurm; did you mean 'ClusterName'?")


def test_a_file_that_may_be_cut_is_said(tmp_path: Path) -> None:
    assert "may be cut" in conf(tmp_path, "NodeName=n[1-3] CPUs=1").remarks()[0]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("ClusterName=a\nPartitionName=busy Nod", "line 2: found 'Nod', expected KEY=VALUE"),
        ("ClusterName=a \\\nwhat", "line 2: found 'what', expected KEY=VALUE"),
        ('MailProg="/bin/a', "line 1: found 'MailProg=\"/bin/a', expected KEY=VALUE"),
        ("NodeName=n[1-\n", "line 1: NodeName: 'n[1-' is no list of hosts"),
        ("NodeName=n[3-1]\n", "line 1: NodeName: 'n[3-1]': found '3-1' in brackets"),
        ("NodeName=n[0-9999999]\n", "line 1: NodeName: 'n[0-9999999]' stands for too many hosts, expected at most"),
        ("NodeName=n1\nPartitionName=p Nodes=n[1-9999][0-9]\n", "line 2: Nodes names 'n10', which no NodeName or Node"),
        ("NodeName=ALL\n", "line 1: NodeName is 'ALL', expected names of nodes"),
        ("NodeName=n1 CPUs=many\n", "line 1: CPUs is 'many', expected a whole number, at least 1"),
        ("NodeName=n1 CPUs=0\n", "line 1: CPUs is '0', expected a whole number, at least 1"),
        ("NodeName=n1 Gres=:::\n", "line 1: Gres is ':::', expected generic resources"),
        ("NodeName=n[1-2]\nNodeName=n2\n", "line 2: node 'n2' stands in line 1 already"),
        ("NodeName=n1\nPartitionName=p Nodes=n[1-2]\n", "line 2: Nodes names 'n2', which no NodeName or NodeSet"),
        ("PartitionName=p MaxTime=soon\n", "line 1: MaxTime is 'soon', expected minutes"),
        ("PartitionName=DEFAULT MaxNodes=-3\nPartitionName=p\n", "line 1: MaxNodes is '-3', expected a whole number"),
        ("PartitionName=p Default=perhaps\n", "line 1: Default is 'perhaps', expected YES or NO"),
        ("Include other.conf\n", "other.conf', which does not exist"),
        ("Include slurm.conf\n", "which is being read already"),
    ],
)
def test_what_is_wrong_is_said_with_file_and_line(tmp_path: Path, text: str, expected: str) -> None:
    with pytest.raises(InputError) as caught:
        conf(tmp_path, text)
    assert expected in str(caught.value)
    assert str(caught.value).startswith(str(tmp_path / "slurm.conf"))


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "latin-1", "utf-16"])
def test_a_file_may_be_written_in_any_common_encoding(tmp_path: Path, encoding: str) -> None:
    path = tmp_path / "slurm.conf"
    path.write_bytes("ClusterName=a # Universität\nNodeName=n1 CPUs=4 Reason=Lüfter\n".encode(encoding))
    read = read_conf(path)
    assert read.general["clustername"].value == "a"
    assert [(line.names, line.cpus) for line in read.nodes] == [(("n1",), 4)]


def test_a_file_that_is_not_there_or_no_text(tmp_path: Path) -> None:
    path = tmp_path / "slurm.conf"
    path.write_bytes(b"ClusterName=a\nMailProg=\0\n")
    with pytest.raises(InputError, match="holds zero bytes"):
        read_conf(path)
    with pytest.raises(InputError, match="does not exist"):
        read_conf(tmp_path / "nowhere.conf")


def test_times_are_minutes_unless_they_have_colons() -> None:
    def seconds(text: str) -> float:
        return Setting("MaxTime", text, "slurm.conf", 1).seconds()

    assert [seconds(text) for text in ("5", "1:30", "1:00:00", "2-1", "infinite")] == [300, 90, 3600, 176_400, math.inf]
