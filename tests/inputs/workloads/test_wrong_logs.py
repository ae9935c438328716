"""Wrong logs and options of ``convert`` and ``generate``: exit 2, one message, no traceback, no file."""

import io
import lzma
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from batdispatch.cli.convert import command as convert
from batdispatch.cli.generate import command as generate
from batdispatch.cli.workload import command as workload
from batdispatch.core.errors import InputError
from batdispatch.inputs.files import MAX_LINE

ROOT = Path(__file__).parents[3]
SWF = "1 100 5 60 4 -1 -1 4 90 -1 1 3 2 7 1 -1 -1 -1"
KIT = "1;100;100;14400.0;14400.0;0.0;0.0;0.0;14400.0"
EURORA = (
    "1;xxx;yyy;parallel;2014-03-31 11:09:04__3;8;1;0;2048#__2014-03-31 16:00:00;2014-03-31 16:30:00;1;8;4;04:00;"
    "NA;NA;COMPLETED;1"
)


def swf(position: int, value: str) -> str:
    fields = SWF.split()
    fields[position - 1] = value
    return SWF + "\n" + " ".join(fields)


WRONG_LOGS: dict[str, tuple[str, str, str, str]] = {
    # name: (file, content, place, part of the message)
    "swf empty": ("a.swf", "", "", "no job is left of 0 records"),
    "swf only comments": ("a.swf", "; MaxProcs: 4\n", "", "no job is left"),
    "swf 17 fields": ("a.swf", SWF + "\n" + SWF[:-3], "line 2", "found 17 fields"),
    "swf text": ("a.swf", swf(4, "abc"), "line 2", "field 4 is 'abc'"),
    "swf NaN": ("a.swf", swf(4, "nan"), "line 2", "field 4 is 'nan'"),
    "swf infinite": ("a.swf", swf(9, "inf"), "line 2", "field 9 is 'inf'"),
    "swf underscore": ("a.swf", swf(2, "1_0"), "line 2", "field 2 is '1_0'"),
    "swf beyond floats": ("a.swf", swf(4, "1e999"), "line 2", "field 4"),
    "swf job negative": ("a.swf", swf(1, "-1"), "line 2", "job number -1"),
    "swf job a fraction": ("a.swf", swf(1, "1.5"), "line 2", "job number 1.5"),
    "swf huge time": ("a.swf", swf(2, "1e300").replace("\n1 ", "\n2 "), "job 2", "thousand years"),
    "swf huge run": ("a.swf", swf(4, "1e300").replace("\n1 ", "\n2 "), "job 2", "thousand years"),
    "swf huge size": ("a.swf", swf(8, "1e15").replace("\n1 ", "\n2 "), "job 2", "units"),
    "swf binary": ("a.swf", "\x00\x01\x02", "line 1", "found 1 fields"),
    "swf endless line": ("a.swf", "1" * (MAX_LINE + 10), "line 1", "longer than"),
    "swf none ran": ("a.swf", swf(4, "-1").splitlines()[1], "", "1 without a run time"),
    "kit fields": ("a.rst", KIT + "\n1;2;3", "line 2", "found 3 fields"),
    "kit text": ("a.rst", KIT.replace("14400.0;0.0", "x;0.0", 1), "line 1", "run time is 'x'"),
    "kit NaN": ("a.rst", KIT.replace("14400.0;0.0", "nan;0.0", 1), "line 1", "run time is 'nan'"),
    "kit id": ("a.rst", "x" + KIT[1:], "line 1", "id is 'x'"),
    "kit id a fraction": ("a.rst", "1.5" + KIT[1:], "line 1", "id is 1.5"),
    "kit no processors": ("a.rst", KIT.replace("100;100", "0;-1"), "line 1", "processors, expected at least 1"),
    "eurora parts": ("a.log_crypt", EURORA.replace("__", "_", 1), "line 1", "found 2 parts"),
    "eurora fields": ("a.log_crypt", EURORA.replace(";NA", "", 1), "line 1", "found 5 and 9 fields"),
    "eurora id": ("a.log_crypt", "x" + EURORA[1:], "line 1", "job id 'x'"),
    "eurora start": ("a.log_crypt", EURORA.replace("2014-03-31 16:00:00", "soon"), "line 1", "time 'soon'"),
    "eurora month 13": ("a.log_crypt", EURORA.replace("2014-03-31 11", "2014-13-31 11"), "line 1", "time '2014-13"),
    "eurora backwards": ("a.log_crypt", EURORA.replace("16:30:00", "15:30:00"), "line 1", "before it starts"),
    "eurora nodes": ("a.log_crypt", EURORA.replace("16:30:00;1;", "16:30:00;0;"), "line 1", "requested nodes '0'"),
    "eurora walltime": ("a.log_crypt", EURORA.replace("04:00", "4h"), "line 1", "walltime '4h'"),
    "eurora walltime zero": ("a.log_crypt", EURORA.replace(";04:00", ";00:00"), "line 1", "walltime '00:00'"),
    "eurora minutes": ("a.log_crypt", EURORA.replace(";04:00", ";04:75"), "line 1", "walltime '04:75'"),
    "eurora node entry": ("a.log_crypt", EURORA.replace("3;8;1;0;2048", "3;8;1;0"), "line 1", "node used '3;8;1;0'"),
    "eurora negative cores": ("a.log_crypt", EURORA.replace("3;8;1", "3;-8;1"), "line 1", "node used"),
    "eurora no node": ("a.log_crypt", EURORA.replace("3;8;1;0;2048#", ""), "line 1", "no node used"),
    "unknown format": ("log.txt", "hello world", "", "none we know"),
    "unknown and empty": ("log.txt", "\n\n", "", "is empty"),
    "JSON already": ("log.json", '{"jobs": []}', "", "needs no importer"),
    "broken xz": ("a.swf", "\xfd7zXZ\x00rubbish", "", "broken"),
}


def run(*arguments: str) -> Result:
    return CliRunner().invoke(convert, list(arguments))


@pytest.mark.parametrize("name", WRONG_LOGS)
def test_wrong_logs(name: str, tmp_path: Path) -> None:
    file, content, place, part = WRONG_LOGS[name]
    log, out = tmp_path / file, tmp_path / "w.json"
    log.write_bytes(content.encode("latin-1"))
    result = run(str(log), "-o", str(out), "--bad-records", "0")
    assert isinstance(result.exception, InputError)
    text = str(result.exception)
    assert text.startswith(str(log))
    assert place in text
    assert part in text
    assert [path.name for path in tmp_path.iterdir()] == [file]


WRONG_OPTIONS: dict[str, tuple[tuple[str, ...], str]] = {
    "select nothing": (("--select", "first"), "option --select: 'first'"),
    "select unknown": (("--select", "frist=3"), "did you mean 'first'"),
    "select first 0": (("--select", "first=0"), "first='0'"),
    "select first text": (("--select", "first=ten"), "first='ten'"),
    "select twice": (("--select", "first=1", "--select", "first=2"), "given twice"),
    "select time": (("--select", "from=soon"), "option --select from: 'soon'"),
    "select empty time": (("--select", "to="), "'' is no time"),
    "select backwards": (("--select", "from=2d", "--select", "to=1d"), "from=172800 is not before to=86400"),
    "select no users": (("--select", "users=,"), "names no user"),
    "select none left": (("--select", "users=nobody"), "no job is left"),
    "processors and cores": (("--units", "cores", "--processors-per-host", "4"), "--units cores"),
    "memory of hosts": (("--memory", "used"), "option --memory"),
    "compute beyond numbers": (("--compute", "1e307f"), "option --compute: '1e307f' is beyond numbers"),
    "master without platform": (("--master-host", "m"), "option --master-host"),
    "platform missing": (("--platform", "nowhere.xml"), "nowhere.xml"),
}


@pytest.mark.parametrize("name", WRONG_OPTIONS)
def test_wrong_options(name: str, tmp_path: Path) -> None:
    options, part = WRONG_OPTIONS[name]
    log, out = tmp_path / "a.swf", tmp_path / "w.json"
    log.write_text(SWF)
    result = run(str(log), "-o", str(out), *options)
    assert isinstance(result.exception, InputError)
    assert part in str(result.exception)
    assert not out.exists()


@pytest.mark.parametrize(
    ("fields", "options", "part"),
    [
        ({7: "1e300"}, ("--units", "cores", "--memory", "used"), "job 2: 'demand.memory' is 976562"),
        ({17: "1", 18: "1e12"}, ("--think-times",), "job 2: 'dependencies.delay' is 1000000000000.0, expected"),
    ],
)
@pytest.mark.parametrize("machine", [(), ("--platform", str(ROOT / "platforms" / "flat8.xml"))])
def test_what_no_workload_may_say_is_refused(
    fields: dict[int, str], options: tuple[str, ...], part: str, machine: tuple[str, ...], tmp_path: Path
) -> None:
    values = ["2", *SWF.split()[1:]]
    for position, value in fields.items():
        values[position - 1] = value
    log, out = tmp_path / "a.swf", tmp_path / "w.json"
    log.write_text(SWF + "\n" + " ".join(values))
    result = run(str(log), "-o", str(out), *options, *machine)
    assert isinstance(result.exception, InputError)
    assert part in str(result.exception)
    assert not out.exists()


def test_a_workload_without_a_platform_has_no_master_host(tmp_path: Path) -> None:
    log = tmp_path / "a.swf"
    log.write_text(SWF)
    result = CliRunner().invoke(workload, ["show", str(log), "--master-host", "m"])
    assert str(result.exception) == "option --master-host: needs --platform"


def test_a_host_has_at_least_one_processor(tmp_path: Path) -> None:
    log, out = tmp_path / "a.swf", tmp_path / "w.json"
    log.write_text(SWF)
    result = run(str(log), "-o", str(out), "--processors-per-host", "0")
    assert "Invalid value for '--processors-per-host': 0 is not in the range 1<=x<=1000000" in result.output
    assert not out.exists()


@pytest.mark.parametrize("options", [("--memory", "used"), ("--processors-per-host", "2")])
def test_options_that_a_format_does_not_have(options: tuple[str, str], tmp_path: Path) -> None:
    log = tmp_path / "a.log_crypt"
    log.write_text(EURORA)
    result = run(str(log), "-o", str(tmp_path / "w.json"), *options)
    assert isinstance(result.exception, InputError)
    assert str(result.exception).startswith(f"option {options[0]}")


def tar_of(name: str, text: str) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as tar:
        entry = tarfile.TarInfo(name)
        entry.size = len(text)
        tar.addfile(entry, io.BytesIO(text.encode()))
    return buffer.getvalue()


@pytest.mark.parametrize(
    ("content", "part"),
    [
        (tar_of("README", "nothing"), "no file *.log_crypt in this archive"),
        (tar_of("x.log_crypt", EURORA * 400)[:2000], "archive is broken"),
        (lzma.compress(tar_of("x.log_crypt", EURORA))[:-40], "broken"),
        (tar_of("x.log_crypt", "rubbish"), "(x.log_crypt), line 1: found 1 parts"),
    ],
)
def test_wrong_archives(content: bytes, part: str, tmp_path: Path) -> None:
    log = tmp_path / "a.tar"
    log.write_bytes(content)
    result = run(str(log), "-o", str(tmp_path / "w.json"))
    assert isinstance(result.exception, InputError)
    assert part in str(result.exception)
    assert str(log) in str(result.exception)


def test_a_folder_without_logs(tmp_path: Path) -> None:
    result = run(str(tmp_path), "-o", str(tmp_path / "w.json"))
    assert isinstance(result.exception, InputError)
    assert "no file *.log_crypt in this folder" in str(result.exception)


@pytest.mark.parametrize(
    ("options", "part"),
    [
        (("--jobs", "0", "--hosts", "8"), "option --jobs: 0"),
        (("--jobs", "99999999", "--hosts", "8"), "option --jobs"),
        (("--jobs", "5", "--hosts", "0"), "option --hosts: 0"),
        (("--jobs", "5", "--hosts", "8", "--load", "0"), "option --load: 0"),
        (("--jobs", "5", "--hosts", "8", "--load", "nan"), "option --load: nan"),
        (("--jobs", "1", "--hosts", "8", "--load", "0.5"), "option --load"),
        (("--jobs", "5", "--hosts", "8", "--walltimes", "factor", "--factor", "0.5"), "option --factor: 0.5"),
        (("--jobs", "5", "--hosts", "8", "--factor", "nan"), "option --factor: nan"),
    ],
)
def test_wrong_options_of_generate(options: tuple[str, ...], part: str, tmp_path: Path) -> None:
    out = tmp_path / "w.json"
    result = CliRunner().invoke(generate, ["lublin", "-o", str(out), "--seed", "1", *options])
    assert isinstance(result.exception, InputError)
    assert part in str(result.exception)
    assert not out.exists()


def test_the_program_says_it_in_one_line_and_exits_with_2(tmp_path: Path) -> None:
    log = tmp_path / "a.swf"
    log.write_text(SWF + "\nrubbish")
    command = [sys.executable, "-c", "from batdispatch.cli.main import main; main()"]
    done = subprocess.run(
        [*command, "convert", str(log), "-o", str(tmp_path / "w.json"), "--bad-records", "0"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr == f"batdispatch: error: {log}, line 2: found 1 fields, expected the 18 of the format\n"
