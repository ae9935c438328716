"""Every command of the manual runs, with the files that a page shows or stand-ins for those that it only names.

What cannot run here stands in `NOT_RUN` with the reason. Of `batdispatch` the options of these commands are checked all
the same; of our scripts, that they know the options.
"""

import csv
import functools
import lzma
import os
import re
import shutil
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from batdispatch.cli.main import cli
from manual import PAGES, ROOT, Shown, agrees, blocks, name_of, shown_commands, shown_files

pytestmark = pytest.mark.usefixtures("worker_threads")
ACCOUNTS = """JobID|User|Submit|Start|End|ElapsedRaw|TimelimitRaw|State|NNodes|ReqTRES
7|ada|2026-01-05T10:00:00|2026-01-05T10:01:00|2026-01-05T11:01:00|3600|120|COMPLETED|1|cpu=4,mem=8G,node=1
8|bob|2026-01-05T10:05:00|2026-01-05T10:06:00|2026-01-05T10:16:00|600|30|COMPLETED|1|cpu=2,mem=2G,node=1
"""
TABLE = """SUBMITTED,ELAPSED,LIMIT,NCPUS,MEM,NODES,WHO
2026-01-05T10:00:00,5,1,4,2,1,ada
2026-01-05T10:01:00,7,1,8,2,2,bob
"""
LOG = "KTH-SP2-1996-2.1-cln.swf.xz"
#: Beginning of a command, or a text in it -> why it is not run here. One list, for all pages.
NOT_RUN = {
    "make ": "sets up an environment or runs everything; what each target calls is run by CI",
    "pip install": "installs packages; tests/end_to_end installs the wheel",
    "apt-get ": "installs packages",
    "sacct ": "needs a Slurm; tests/end_to_end/test_slurm.py asks a real one where there is one",
    "cat /var/spool/pbs/": "needs a PBS; tests/inputs/workloads/test_pbs.py has lines such as it writes",
    "batdispatch convert accounts.pbs": "needs the accounts of a PBS; tests/inputs/workloads/test_pbs.py has some",
    "mkdir ": "makes a folder for what scontrol prints",
    "scontrol ": "needs a Slurm; tests/abilities/sites/test_sites.py has files such as it prints",
    "batdispatch whatif accounts.txt": "needs a site's accounts; tests/abilities/whatif/test_whatif.py has some",
    "batdispatch compare accounts.txt --slurm": "needs a slurm.conf; tests/abilities/sites/test_sites.py has one",
    "batdispatch eta": "needs a queue and its accounts; tests/abilities/sites/test_eta.py has some",
    "squeue ": "needs a Slurm; tests/abilities/sites/test_queue.py has what one printed",
    "batdispatch export evalys": "evalys draws for 20 s; tests/results/test_evalys_figures.py runs it",
    "nix ": "needs Nix",
    "--nix ": "needs Nix; tests/runs try it with a stand-in",
    "podman ": "needs a container engine",
    "batsim ": "needs a real Batsim",
    "--engine batsim": "needs a real Batsim; tests/end_to_end try it with a stand-in",
    "batdispatch serve": "waits for a Batsim; tests/links and tests/end_to_end drive it",
    "batdispatch engine": "waits for a scheduler; tests/links and tests/end_to_end drive it",
    "pybatsim ": "the launcher waits for a Batsim; tests/conformance/test_every_door.py runs it",
    "pybatsim:": "needs pybatsim's launcher and a scheduler of the reader's; tests/links run one",
    "--pybatsim ": "needs a recording that suits the scheduler; tests/links replay some",
    "pytest ": "runs the tests of the package just written; tests/cli/test_new.py does so",
    "batdispatch explain patient-first": "needs the package just written to be installed; tests/cli/test_new.py",
    "--executor slurm": "needs a cluster; tests/abilities/campaigns/test_campaign_slurm.py starts one",
    "--dispatchers simple,my_package.mine:Mine": "needs more jobs than the stand-in has; see tests/abilities/campaigns",
    "python benchmarks/": "measures for minutes",
    "python -m expe": "measures for minutes; tests/runs/test_expe_reproduced.py runs small versions",
    "batdispatch convert job_table.parquet": "needs PM100's table; test_tables_with_power.py has rows like its own",
    "eurora_historical": "needs the log of Eurora, in a format of its own",
    "batdispatch workload fidelity KIT": "needs the log of KIT, in a format of its own",
    "batdispatch check --replay always ipsched": "audits the run on the log of Eurora",
    "--workload eurora.json": "needs the log of Eurora",
    "batdispatch check campaigns/mine": "needs a campaign that ran; tests/runs/checking checks small ones",
    "batdispatch check batsim-output": "needs what a real Batsim wrote; tests/results/audit checks recorded output",
    "batdispatch campaign campaign.yaml --jobs": "simulates 62 runs; tests/abilities/campaigns runs smaller ones",
}
#: Beginnings of commands whose output is that of a real log, which the stand-in does not have.
OF_REAL_LOGS = ("batdispatch compare KTH-SP2", "batdispatch campaign", "batdispatch workload fidelity")
#: Exit status of a command that is to find something; 0 is usual.
STATUS = {"batdispatch differ file (third/|theirs)": 1, "batdispatch differ cases kit$": 1}
#: Pages whose commands take more than some seconds.
SLOW = (
    "docs/dispatchers/constraint.md",
    "docs/teaching.md",
    "docs/comparing.md",
    "docs/stochastic.md",
    "docs/dispatchers/stochastic-measured.md",
    "docs/dispatchers/tasks.md",
    "docs/malleable.md",
)
WITH_COMMANDS = [page for page in PAGES if any(True for _ in shown_commands(page.read_text()))]


def reason(text: str) -> str:
    """Return why a command is not run; empty: it is."""
    found = (why for what, why in NOT_RUN.items() if text.startswith(what) or (what[0] in "-pe" and what in text))
    return next(found, "")


def call(text: str) -> None:
    """Run a command of ours that must end well."""
    done = CliRunner().invoke(cli, text.split())
    assert done.exit_code == 0, f"{text}: {done.output}"


@pytest.fixture(scope="session")
def stand_ins(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with small files of the names that pages use for the reader's own."""
    folder = tmp_path_factory.mktemp("stand-ins")
    before = Path.cwd()
    os.chdir(folder)
    try:
        _make(folder)
    finally:
        os.chdir(before)
    return folder


def _make(folder: Path) -> None:
    call("platform generate flat --hosts 100 -o P.xml")
    call("generate lublin -o W.json --seed 1 --jobs 100 --hosts 100 --load 1.5")
    for name in ("kth.xml", "platform.xml", "esp.xml"):
        shutil.copy("P.xml", name)
    for name in ("kth.json", "kth-half.json", "jobs.json"):
        shutil.copy("W.json", name)
    call("platform generate torus --dims 4,4,4 --io 8 -o torus.xml")
    call("generate lublin -o w.json --seed 1 --jobs 20 --hosts 32")
    call("run --platform P.xml --workload W.json --dispatcher easy --out run")
    log = _as_log(Path("run/jobs.csv"))
    for name in ("log.swf", "CTC-SP2.swf", "theirs.swf"):
        Path(name).write_text(log)
    Path(LOG).write_bytes(lzma.compress(log.encode()))
    call("run --platform P.xml --workload W.json --dispatcher easy[reservation=hosts] --out hosts")
    shutil.copy("hosts/decisions.jsonl", "exchange.jsonl")
    call("compare --platform P.xml --workload W.json --dispatchers easy,fcfs --out comparison --no-report")
    shutil.copytree("run", "batsim-output")
    examples = ROOT / "schedulers/batdispatch/examples"
    shutil.copy(examples / "strided.py", "my.py")
    Path("mine.py").write_text((examples / "smallest_first.py").read_text().replace("SmallestFirst", "Mine"))
    Path("accounts.txt").write_text(ACCOUNTS)
    Path("jobs.csv").write_text(TABLE)
    hosts = "".join(f'<host id="n{number:02}" speed="1Gf"/>' for number in range(64))
    Path("cluster.xml").write_text(f'<platform version="4.1"><zone id="z" routing="Full">{hosts}</zone></platform>')
    for source in ("platforms", "workloads"):
        (folder / source).symlink_to(ROOT / source)


def _as_log(jobs: Path) -> str:
    """Return a run as a log in the Standard Workload Format, on a machine of 100 processors and with five users."""
    lines = ["; MaxProcs: 100", "; UnixStartTime: 0"]
    with jobs.open(newline="") as file:
        for row in sorted(csv.DictReader(file), key=lambda row: int(row["job_id"])):
            columns = ("submission_time", "waiting_time", "execution_time", "requested_time")
            submitted, waited, ran, asked = (f"{float(row[name]):.0f}" for name in columns)
            size = row["requested_number_of_resources"]
            who = f"{int(size) % 5} 1 1 1 1 -1 -1"
            lines.append(f"{row['job_id']} {submitted} {waited} {ran} {size} -1 -1 {size} {asked} -1 1 {who}")
    return "\n".join(lines) + "\n"


@functools.cache
def _module_source(path: Path) -> str:
    return path.read_text()


@pytest.mark.parametrize(
    "page",
    [
        pytest.param(page, id=name_of(page), marks=[pytest.mark.slow] if name_of(page) in SLOW else [])
        for page in WITH_COMMANDS
    ],
)
def test_commands_run_and_print_what_is_shown(
    page: Path, stand_ins: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(stand_ins, tmp_path, symlinks=True, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    text = page.read_text()
    for name, content in shown_files(text):
        Path(name).parent.mkdir(parents=True, exist_ok=True)
        Path(name).write_text(content)
    for shown in shown_commands(text):
        if not reason(shown.text):
            _run(shown)


def _run(shown: Shown) -> None:
    assert shown.words[0] == "batdispatch", f"{shown.text}: run it here, or say in NOT_RUN why it is not"
    words = shown.words[1:]
    if words[0] in ("compare", "demo") and not shown.output and "--replicates" not in words:
        # Drawing takes most of the time; tests/results/report draws reports.
        words.append("--no-report")
    done = CliRunner().invoke(cli, words)
    status = next((status for what, status in STATUS.items() if re.match(what, shown.text)), 0)
    assert done.exit_code == status, f"{shown.text}: {done.output}"
    if shown.output and not shown.text.startswith(OF_REAL_LOGS):
        assert agrees(shown.output, done.stdout), f"{shown.text} prints\n{done.stdout}"


LEFT = [(page, shown) for page in WITH_COMMANDS for shown in shown_commands(page.read_text()) if reason(shown.text)]


@pytest.mark.parametrize("what", NOT_RUN)
def test_nothing_is_excused_that_no_page_shows(what: str) -> None:
    assert any(shown.text.startswith(what) or what in shown.text for _, shown in LEFT)


OURS = [(page, shown) for page, shown in LEFT if re.search(r"(^|--command |\| )batdispatch ", shown.text)]


@pytest.mark.parametrize("shown", [pytest.param(shown, id=f"{name_of(page)}: {shown.text}") for page, shown in OURS])
def test_options_of_what_is_not_run_exist(shown: Shown, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    words = shown.words[shown.words.index("batdispatch") + 1 :]
    words = ["piped.txt" if word == "-" else word for word in words]
    for word in words:
        # Arguments that must exist; what matters here is that the options do.
        if re.fullmatch(r"[\w.-]+\.(jsonl|swf|xz)|kth", word):
            Path(word).touch()
    command: click.Command | None = cli
    context = click.Context(cli, info_name="batdispatch")
    while isinstance(command, click.Group) and words and not words[0].startswith("-"):
        name, *words = words
        command = command.get_command(context, name)
        assert command is not None, name
        context = click.Context(command, info_name=name, parent=context)
    assert command is not None
    command.make_context(context.info_name, list(words), parent=context.parent)


SCRIPTS = [shown for _, shown in LEFT if shown.text.startswith("python ")]


@pytest.mark.parametrize("shown", [pytest.param(shown, id=shown.text) for shown in dict.fromkeys(SCRIPTS)])
def test_scripts_know_the_options_shown(shown: Shown) -> None:
    _, *words = shown.words
    path = ROOT / ("expe/__main__.py" if words[0] == "-m" else words[0])
    for word in words:
        if word.startswith("--"):
            assert f'"{word}"' in _module_source(path), f"{path} knows no {word}"


def test_make_has_the_targets_shown() -> None:
    makefile = (ROOT / "Makefile").read_text()
    for _, shown in LEFT:
        if shown.words[0] == "make":
            for target in shown.words[1:]:
                assert re.search(rf"^{target}:", makefile, re.MULTILINE), shown.text


@pytest.mark.slow
def test_students_dispatcher_once_mended_is_easy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = (ROOT / "docs/teaching.md").read_text()
    ((name, whole),) = shown_files(text)
    loop = blocks(ROOT / "docs/teaching.md", "python")[1]
    begin, end = whole.index(loop.splitlines()[0]), whole.index("        spare = free")
    monkeypatch.chdir(tmp_path)
    Path(name).write_text(whole[:begin] + loop + whole[end:])
    commands = list(shown_commands(text))
    for shown in commands[:2]:
        call(shown.text.removeprefix("batdispatch "))
    call("compare --platform course.xml --workload course.json --dispatchers easy,backfill.py:Backfill --out third")
    call("differ file third/backfill/jobs.csv --hosts 64")
    assert Path("third/backfill/jobs.csv").read_bytes() == Path("third/easy/jobs.csv").read_bytes()


def test_output_is_compared_line_by_line() -> None:
    assert agrees(("a  b", "...", "d"), "a  b\nc\nd\ne\n")
    assert agrees(("a b",), "a  b\n")
    assert not agrees(("a b",), "ab\n")
    assert not agrees(("a", "d"), "a\nc\nd\n")
