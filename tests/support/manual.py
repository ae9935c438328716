"""The pages of the manual, and the commands and files that they show."""

import importlib.util
import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import NamedTuple

ROOT = Path(__file__).parents[2]
#: Pages with prose for readers; the page of results of an experiment is none of the manual.
PAGES = sorted([ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").rglob("*.md")])
_BLOCK = re.compile(r"^(?P<indent> *)```console\n(?P<lines>.*?)^(?P=indent)```$", re.MULTILINE | re.DOTALL)
_FILE = re.compile(r'^```\w+ title="(?P<name>[^"]+)"\n(?P<text>.*?)^```$', re.MULTILINE | re.DOTALL)


class Shown(NamedTuple):
    """A command of a page.

    Attributes:
        text: the command, on one line.
        output: lines that the page shows it to print; ``...`` stands for any lines.
    """

    text: str
    output: tuple[str, ...]

    @property
    def words(self) -> list[str]:
        """The words of the command, without a comment behind them."""
        return shlex.split(re.sub(r"\s#\s.*", "", self.text))


def hook_of(name: str) -> ModuleType:
    """Return a hook of the manual's build, which is no module of a package."""
    spec = importlib.util.spec_from_file_location(name, ROOT / f"docs/hooks/{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def name_of(page: Path) -> str:
    """Return what a page is called in a test's name."""
    return str(page.relative_to(ROOT))


def blocks(page: Path, language: str) -> list[str]:
    """Return the blocks of a page in a language."""
    return re.findall(rf"^```{language}\b[^\n]*\n(.*?)^```$", page.read_text(), re.MULTILINE | re.DOTALL)


def shown_commands(text: str) -> Iterator[Shown]:
    """Return the commands of a page, in order."""
    for block in _BLOCK.finditer(text):
        command, output = "", list[str]()
        for line in block["lines"].replace("\\\n", " ").splitlines():
            if line.startswith("$ "):
                if command:
                    yield Shown(command, tuple(output))
                command, output = " ".join(line[2:].split("\n")), []
            else:
                output.append(line)
        if command:
            yield Shown(command, tuple(output))


def shown_files(text: str) -> list[tuple[str, str]]:
    """Return name and text of the files that a page shows whole: blocks that are entitled with a name."""
    return [(found["name"], found["text"]) for found in _FILE.finditer(text) if "--8<--" not in found["text"]]


def agrees(output: tuple[str, ...], printed: str) -> bool:
    """Return whether a program printed what a page shows; ``...`` stands for any lines, and the end may be left out.

    Widths of columns do not count: they depend on times, too.
    """

    def plain(text: str) -> str:
        return re.sub("[ \u00a0\u202f]+", " ", text).strip()

    printed = "".join(f"{plain(line)}\n" for line in printed.splitlines())
    pattern = "".join(".*?" if line == "..." else re.escape(plain(line)) + "\n" for line in output)
    return re.match(pattern, printed, re.DOTALL) is not None
