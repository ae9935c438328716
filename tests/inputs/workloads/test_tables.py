"""Tables of jobs with a mapping of their columns."""

from pathlib import Path
from typing import Any

import pytest

from batdispatch.core.errors import InputError
from batdispatch.inputs.log_options import LogOptions
from batdispatch.inputs.workloads.importers import ImportResult, guess_format, read_log

PLAIN = "id=job,submit=when,runtime=took,cores=cpus"


def imported(tmp_path: Path, content: str | bytes, columns: str = PLAIN, **options: Any) -> ImportResult:
    path = tmp_path / "jobs.csv"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return read_log(path, options=LogOptions(columns=columns, **options))


def test_a_table(tmp_path: Path) -> None:
    content = "job,when,took,cpus,limit,mem,gpus,nodes,who,queue\n"
    content += '1,100,60,4,90,8,2,2,"ada, the first",long\n2,130,30,1,,1,,,bob,\n3,140,,1,,1,,,bob,\n'
    columns = f"{PLAIN},walltime=limit,memory=mem:GiB,gpus=gpus,nodes=nodes,user=who,queue=queue"
    workload, report, info = imported(tmp_path, content, columns)
    first, second = workload.jobs
    assert (first.id, first.submission, first.units, first.walltime, first.profile) == ("1", 0, 4, 90, "d60")
    assert first.extra == {
        "user": "ada, the first",
        "queue": "long",
        "per_node": {"gpu": 1},
        "nodes": 2,
        "demand": {"core": 1, "memory": 2048},
    }
    assert (second.id, second.submission, second.extra["demand"]) == ("2", 30, {"core": 1, "memory": 1024})
    assert {why: tally.count for why, tally in report.dropped.items()} == {"without a run time": 1}
    assert (report.records, report.kept, info.dated) == (3, 2, False)


MAPPING = """delimiter = ";"
header = ["job", "when", "took", "wanted", "got"]
unknown = ["?"]
[columns]
id = "job"
submit = "when"
runtime = "took"
cores = "wanted"
allocated = "got"
"""


@pytest.mark.parametrize(("size", "units"), [("requested", [4, 2, 3]), ("allocated", [5, 2, 3])])
def test_a_mapping_file_names_the_columns_of_a_table_without_a_header(
    size: str, units: list[int], tmp_path: Path
) -> None:
    mapping = tmp_path / "m.toml"
    mapping.write_text(MAPPING)
    rows = "1;0;60;4;5\n2;10;60;?;2\n3;20;60;3;0\n4;30;?;1;1\n"
    read = imported(tmp_path, rows, str(mapping), size=size)
    assert [job.units for job in read.workload.jobs] == units
    assert {why: tally.count for why, tally in read.report.dropped.items()} == {"without a run time": 1}


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (('["?"]', '"?"'), "unknown: expected a list of texts"),
        (('"job", "when"', '"job", 3'), "header: expected a list of texts"),
        (("header", "heading"), "did you mean 'header'"),
        (('"took", ', '"lasted", '), "there is no column 'took' for runtime"),
    ],
)
def test_wrong_mapping_files_say_what_is_wrong(change: tuple[str, str], said: str, tmp_path: Path) -> None:
    mapping = tmp_path / "m.toml"
    mapping.write_text(MAPPING.replace(*change, 1))
    with pytest.raises(InputError) as raised:
        imported(tmp_path, "1;0;60;4;5\n", str(mapping))
    assert said in str(raised.value)


@pytest.mark.parametrize(
    ("unit", "text", "seconds"),
    [
        ("", "90", 90.0),
        (":min", "1.5", 90.0),
        (":ms", "90000", 90.0),
        (":h", "0.025", 90.0),
        (":d", "1", 86400.0),
        ("", "00:01:30", 90.0),
        (":min", "1-00:00:30", 86430.0),
    ],
)
def test_durations(tmp_path: Path, unit: str, text: str, seconds: float) -> None:
    read = imported(tmp_path, f"job,when,took,cpus\n1,0,{text},1\n", PLAIN.replace("took", f"took{unit}"))
    assert read.workload.profiles[read.workload.jobs[0].profile]["delay"] == seconds


@pytest.mark.parametrize(
    ("unit", "texts"),
    [
        ("", ("2026-03-29T01:30:00", "2026-03-29T03:30:00")),
        (":%d.%m.%Y %H:%M", ("29.03.2026 01:30", "29.03.2026 03:30")),
        (":%m/%d/%y %I:%M %p", ("03/29/26 01:30 AM", "03/29/26 03:30 AM")),
        (":%Y-%m-%dT%H:%M:%S%z", ("2026-03-29T00:30:00+0000", "2026-03-29T03:30:00+0200")),
        (":ms", ("1774744200000", "1774747800000")),
        ("", ("2026-03-29", "2026-03-29 01:00")),
    ],
)
def test_moments(tmp_path: Path, unit: str, texts: tuple[str, str]) -> None:
    content = f"job;when;took;cpus\n1;{texts[0]};1;1\n2;{texts[1]};1;1\n"
    read = imported(tmp_path, content, PLAIN.replace("when", f"when{unit}"), time_zone="Europe/Berlin")
    assert [job.submission for job in read.workload.jobs] == [0, 3600]


@pytest.mark.parametrize(
    ("unit", "text", "each"),
    [
        ("", "4096", 1024),
        (":GiB", "4", 1024),
        (":GB/node", "1.073741824", 512),
        (":KiB/core", "2048", 2),
        (":B", "4294967296", 1024),
        ("", "4G", 1024),
    ],
)
def test_memory(tmp_path: Path, unit: str, text: str, each: int) -> None:
    content = f"job,when,took,cpus,mem,n\n1,0,1,4,{text},2\n"
    read = imported(tmp_path, content, f"{PLAIN},memory=mem{unit},nodes=n")
    assert read.workload.jobs[0].extra["demand"] == {"core": 1, "memory": each}
    read = imported(tmp_path, content, f"{PLAIN},memory=mem{unit},nodes=n", memory="none")
    assert read.workload.jobs[0].extra["demand"] == {"core": 1}


def test_cores_and_gpus_of_each_node(tmp_path: Path) -> None:
    content = "job,when,took,ppn,nodes,gpn\n1,0,1,16,3,2\n"
    read = imported(tmp_path, content, "submit=when,runtime=took,cores=ppn:/node,nodes=nodes,gpus=gpn:/node")
    (job,) = read.workload.jobs
    assert (job.units, job.extra["per_node"], job.extra["nodes"]) == (48, {"gpu": 2}, 3)


def test_times_from_one_another(tmp_path: Path) -> None:
    content = "start\twaited\tend\tn\n100\t40\t160\t3\n"
    read = imported(tmp_path, content, "start=start,wait=waited,end=end,nodes=n", keep_clock=True)
    (job,) = read.workload.jobs
    assert (job.submission, job.profile, job.units, job.request.per_unit) == (60, "d60", 3, None)


def test_a_mapping_in_a_file(tmp_path: Path) -> None:
    mapping = tmp_path / "mapping.toml"
    mapping.write_text(
        'delimiter = "|"\n[columns]\nsubmit = { column = "a, b", unit = "%d.%m.%Y" }\n'
        'runtime = { column = "t", unit = "min" }\ncores = "N"\nqos = "class"\ndependencies = "after"\nid = "#"\n'
    )
    content = "#|a, b|t|n|class|after\r\nx|01.02.2026|1|2|gold|\r\ny|02.02.2026|2|2|tin|x z\r\n"
    read = imported(tmp_path, b"\xef\xbb\xbf" + content.encode(), str(mapping))
    first, second = read.workload.jobs
    assert (first.id, first.profile, first.extra["qos"], second.submission) == ("x", "d60", "gold", 86400)
    assert second.extra["dependencies"] == ["x"]
    assert "depend on a job that is left out or killed at its walltime: without it" in read.report.changed


def test_an_ending_asks_for_a_mapping(tmp_path: Path) -> None:
    path = tmp_path / "jobs.csv.gz"
    assert guess_format(path) == "table"
    with pytest.raises(InputError, match="needs to be told which column means what"):
        read_log(path)


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (
            "job,when,took,cpu\n1,0,1,1\n",
            "line 1: there is no column 'cpus' for cores: did you mean 'cpu'?",
        ),
        ("job,when,took,cpus\n1,0,1\n", "line 2: found 3 fields, expected the 4 of the header"),
        ("job,when,took,cpus\n1,0,1,1\n2,0,soon,1\n", "line 3, column 'took': 'soon', expected a number, or"),
        ("job,when,took,cpus\n1,0,1,1.5\n", "line 2, column 'cpus': '1.5', expected a whole number from 0"),
        ("job,when,took,cpus\n1,0,1,1e300\n", "line 2, column 'cpus'"),
        ("job,when,took,cpus\n1,yesterday,1,1\n", "line 2, column 'when': 'yesterday', expected a time such as"),
        ('job,when,took,cpus\n"1\n\n",x,1,1\n', "line 4, column 'when'"),
        ("job,when,took,cpus\n1,0,1e300,1\n", "beyond a thousand years"),
        ("job,when,took,cpus\n" + '"' + "x\n" * 200_000, "is no table: field larger than field limit"),
        ("", "there is no column"),
    ],
)
def test_refusals(tmp_path: Path, content: str, told: str) -> None:
    with pytest.raises(InputError) as raised:
        imported(tmp_path, content, bad_records=0)
    assert told in str(raised.value)


def test_bad_rows_are_left_out_and_named_and_ids_that_come_again_get_a_number(tmp_path: Path) -> None:
    read = imported(tmp_path, "job,when,took,cpus\n1,0,1,1\n2,0,soon,1\n1,5,1,1\n3,0\n")
    assert [job.id for job in read.workload.jobs] == ["1", "1~2"]
    assert [note for note in read.report.notes if note.startswith("left out")] == [
        "left out: line 3, column 'took': 'soon', expected a number, or [D-]HH:MM:SS",
        "left out: line 5: found 2 fields, expected the 4 of the header",
    ]


@pytest.mark.parametrize(
    ("columns", "told"),
    [
        ("submit", "'submit', expected FIELD=COLUMN"),
        ("submit=", "expected FIELD=COLUMN"),
        ("sumbit=a,runtime=b,cores=c", "did you mean 'submit'"),
        ("submit=a,submit=b,runtime=b,cores=c", "'submit' is given twice"),
        ("submit=a,runtime=b:week,cores=c", "runtime: unit 'week', expected one of s, ms"),
        ("submit=a:parsec,runtime=b,cores=c", "submit: unit 'parsec'"),
        ("submit=a,runtime=b,cores=c,memory=d:stone", "memory: unit 'stone'"),
        ("submit=a,runtime=b,cores=c:/core", "cores: 'core', expected an amount for each /node"),
        ("submit=a,runtime=b,cores=c,user=d:x", "user: has no unit, found 'x'"),
        ("runtime=b,cores=c", "no column for submit"),
        ("submit=b,cores=c", "no column for runtime"),
        ("submit=a,runtime=b", "no column for cores or nodes"),
        ("absent.toml", "absent.toml: cannot be read"),
    ],
)
def test_wrong_mappings(tmp_path: Path, columns: str, told: str) -> None:
    with pytest.raises(InputError) as raised:
        imported(tmp_path, "job,when\n", columns)
    assert told in str(raised.value)


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ("columns = 3", "columns: is missing, expected a table"),
        ("[columns", "is no TOML"),
        ("[colums]\n", "did you mean 'columns'"),
        ('delimiter = "ab"\n[columns]\n', "delimiter: 'ab', expected one character"),
        ("[columns]\nsubmit = 3\n", "columns.submit: expected a name"),
        ('[columns]\nsubmit = { column = "a", units = "s" }\n', "columns.submit: expected a name"),
        ("\xff", "is no TOML"),
    ],
)
def test_wrong_mapping_files(tmp_path: Path, content: str, told: str) -> None:
    mapping = tmp_path / "m.toml"
    mapping.write_bytes(content.encode("latin-1"))
    with pytest.raises(InputError) as raised:
        imported(tmp_path, "job,when\n", str(mapping))
    assert told in str(raised.value)
