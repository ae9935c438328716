"""What the manual and the README show is true: code runs, files can be read, links lead somewhere."""

import json
import re
from pathlib import Path

import pytest
from click.testing import CliRunner

from batdispatch.cli.main import cli
from batdispatch.core.line import dispatcher, registry
from batdispatch.engines.external import read_external_events
from batdispatch.inputs.workloads import read_workload
from batdispatch.inputs.workloads.writer import job_fields
from batdispatch_papers.dada.workload import tiles
from manual import PAGES, ROOT, blocks, hook_of, name_of
from small_log import write_log

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

#: Lines of the page of a dispatcher. What is measured has a page of its own.
LONGEST = 85


#: Pages with Python whose blocks run one after the other.
PYTHON = [page for page in PAGES if any("--8<--" not in block for block in blocks(page, "python"))]
#: Of these, the ones that are run elsewhere, or cannot be: page -> where, or why.
ELSEWHERE = {
    "docs/architecture.md": "files of an ability, tests/house/test_worked_example.py uses them in a copy",
    "docs/campaigns.md": "reads the table of a campaign that runs for minutes; tests/abilities/campaigns reads others",
    "docs/teaching.md": "a dispatcher that test_commands runs, and a part of it",
}


@pytest.mark.parametrize("page", PYTHON, ids=name_of)
def test_python_runs(page: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    if name_of(page) in ELSEWHERE:
        pytest.skip(ELSEWHERE[name_of(page)])
    if page.name == "pybatsim.md":
        pytest.importorskip("batsim")
    for folder in ("platforms", "workloads"):
        (tmp_path / folder).symlink_to(ROOT / folder)
    monkeypatch.chdir(tmp_path)
    if page.name == "notebook.md":
        done = CliRunner().invoke(cli, ["demo", "--no-report"])
        assert done.exit_code == 0, done.output
    if page.name == "python.md":
        write_log(tmp_path / "log.swf")
    names: dict[str, object] = {}
    for block in blocks(page, "python"):
        if "--8<--" not in block:
            exec(compile(block, name_of(page), "exec", dont_inherit=True), names)


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
    hook = hook_of("generated")
    built = hook.on_page_markdown(page)
    assert [found for found in re.findall(r"^## (.+)$", built, re.MULTILINE) if found in HEADINGS] == HEADINGS
    for writer in ("options", "guarantee", "complexity", "deviations", "references"):
        assert hook.on_page_markdown(f"<!-- generated: {writer} {name} -->") in built
    assert len(page.splitlines()) <= LONGEST
    assert f"[`{name}`]({name}.md)" in (ROOT / "docs/dispatchers/index.md").read_text()
    assert f"`{name}`" in (ROOT / "README.md").read_text()


def test_the_tests_that_pages_name_exist() -> None:
    named = {
        found
        for page in (ROOT / "docs").rglob("*.md")
        for found in re.findall(r"`(tests/[\w/.]+\.py)::(\w+)`", page.read_text())
    }
    assert len(named) > 20
    for path, name in sorted(named):
        assert f"def {name}(" in (ROOT / path).read_text(), (path, name)


def test_every_page_is_in_the_navigation() -> None:
    listed = (ROOT / "mkdocs.yml").read_text()
    for page in (ROOT / "docs").rglob("*.md"):
        assert str(page.relative_to(ROOT / "docs")) in listed, page


#: Characters of a line of running text; what programs print, commands and tables may be longer.
WIDEST = 130


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_lines_fit_beside_each_other(page: Path) -> None:
    text = re.sub(r"^```.*?^```$", "", page.read_text(), flags=re.MULTILINE | re.DOTALL)
    wide = [line for line in text.splitlines() if len(line) > WIDEST and not line.startswith(("|", "!["))]
    assert wide == []
