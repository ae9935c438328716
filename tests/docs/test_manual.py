"""What the manual and the README show is true: commands exist with their options, code runs, files can be read."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from batdispatch.cli.main import cli
from batdispatch.core import dispatcher, registry
from batdispatch.engines.external import read_external_events
from batdispatch.inputs.workloads import read_workload
from batdispatch.inputs.workloads.tiles import tiles
from batdispatch.inputs.workloads.writer import job_fields

ROOT = Path(__file__).parents[2]
PAGES = sorted([ROOT / "README.md", *(ROOT / "docs").rglob("*.md")])
#: What the page of every dispatcher has, in this order.
HEADINGS = [
    "Overview",
    "Typical use",
    "Limits",
    "Options",
    "Guarantee",
    "Complexity",
    "Deviations",
    "References",
    "Production ready?",
]


def blocks(page: Path, language: str) -> list[str]:
    return re.findall(rf"^```{language}\b[^\n]*\n(.*?)^```$", page.read_text(), re.MULTILINE | re.DOTALL)


def commands(page: Path) -> Iterator[list[str]]:
    for block in blocks(page, "console"):
        for line in block.replace("\\\n", " ").splitlines():
            words = shlex.split(line, comments=True)
            if words[:2] == ["$", "batdispatch"]:
                yield words[2:]
            elif words[:2] == ["$", ".venv/bin/batdispatch"]:
                yield [word for word in words[2:] if word != "&"]


COMMANDS = [pytest.param(words, id=" ".join(words)) for page in PAGES for words in commands(page)]


@pytest.mark.parametrize("words", COMMANDS)
def test_shown_commands_parse(words: list[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    for word in words:
        # Arguments that must exist; what matters here is that the options do.
        if re.fullmatch(r"[\w.-]+\.(jsonl|swf|xz)|kth", word):
            (tmp_path / word).touch()
    command: click.Command | None = cli
    context = click.Context(cli, info_name="batdispatch")
    while isinstance(command, click.Group) and words and not words[0].startswith("-"):
        name, *words = words
        command = command.get_command(context, name)
        assert command is not None, name
        context = click.Context(command, info_name=name, parent=context)
    if words != ["--help"]:
        assert command is not None
        command.make_context(context.info_name, list(words), parent=context.parent)


def test_there_are_commands_to_parse() -> None:
    assert len(COMMANDS) > 12


def test_python_of_the_first_page_runs() -> None:
    names: dict[str, object] = {}
    for block in blocks(ROOT / "docs/first-dispatcher.md", "python"):
        if "--8<--" not in block:
            exec(compile(block, "docs/first-dispatcher.md", "exec", dont_inherit=True), names)
    assert "reply" in names


def test_python_of_the_pybatsim_page_runs(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    pytest.importorskip("batsim")
    for folder in ("platforms", "workloads"):
        (tmp_path / folder).symlink_to(ROOT / folder)
    monkeypatch.chdir(tmp_path)
    (block,) = blocks(ROOT / "docs/pybatsim.md", "python")
    exec(compile(block, "docs/pybatsim.md", "exec", dont_inherit=True), {})
    assert (tmp_path / "out" / "jobs.csv").exists()


def test_the_explained_wait_is_printed_like_that(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for folder in ("platforms", "workloads"):
        (tmp_path / folder).symlink_to(ROOT / folder)
    monkeypatch.chdir(tmp_path)
    page = ROOT / "docs/explain-wait.md"
    compare, explain = commands(page)
    assert compare[0] == "compare"
    inputs = compare[1 : compare.index("--dispatchers")]
    cli.main(["run", *inputs, "--dispatcher", "easy", "--out", "comparison/easy"], standalone_mode=False)
    capsys.readouterr()
    cli.main(explain, standalone_mode=False)
    # The further blocks are checked beside the tests of what they show.
    shown, *_ = blocks(page, "text")
    assert capsys.readouterr().out == shown


def test_files_shown_can_be_read(tmp_path: Path) -> None:
    workload, task, events = blocks(ROOT / "docs/files.md", "json")
    (tmp_path / "w.json").write_text(workload)
    (tmp_path / "events").write_text(events)
    assert [job.request.demand for job in read_workload(tmp_path / "w.json").jobs] == [
        None,
        {"core": 2, "memory": 4096},
    ]
    shown = json.loads(task)
    assert shown in [job_fields(job) for job in tiles("cholesky", size=8192, tile=512).jobs]
    assert len(read_external_events(tmp_path / "events", 4)) == 2


#: Pages that the manual's build makes (docs/hooks).
MADE = {ROOT / "docs/demonstration/index.html", ROOT / "docs/images/demonstration-by-evalys.png"}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", page.read_text()):
        if "://" not in target:
            assert (page.parent / target).exists() or page.parent / target in MADE, target


@pytest.mark.parametrize("name", registry.names(dispatcher.GROUP))
def test_every_dispatcher_has_its_page(name: str) -> None:
    page = (ROOT / f"docs/dispatchers/{name}.md").read_text()
    assert [found for found in re.findall(r"^## (.+)$", page, re.MULTILINE) if found in HEADINGS] == HEADINGS
    assert f"<!-- generated: options {name} -->" in page
    assert f"[`{name}`]({name}.md)" in (ROOT / "docs/dispatchers/index.md").read_text()
    assert f"`{name}`" in (ROOT / "README.md").read_text()


def test_every_page_is_in_the_navigation() -> None:
    listed = (ROOT / "mkdocs.yml").read_text()
    for page in (ROOT / "docs").rglob("*.md"):
        assert str(page.relative_to(ROOT / "docs")) in listed, page
