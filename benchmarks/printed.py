"""Fills the measured sections of a page of the manual with what their own commands print.

Usage: ``python benchmarks/printed.py PAGE.md [SECTION ...] [--folder DIR]``

A section that begins with a ``console`` block of one command is filled by this script: the command runs in DIR, where
the files are that it names, and what it prints follows it. Other sections are filled by the programs that measure them.
A table stays a table, and all else stands in the block of the command. A section whose command fails stays as it was.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from batdispatch.report.pages import fill

_BENCHMARKS = Path(__file__).resolve().parent
_SECTION = re.compile(
    r"^<!-- measured: (?P<name>\S+) -->\s+```console\n\$ (?P<command>(?:[^\n]*\\\n)*[^\n]*)\n.*?^<!-- end -->$",
    re.MULTILINE | re.DOTALL,
)
#: Columns of what is printed: as many as lines of the manual have.
_WIDTH = "130"


class Printed(NamedTuple):
    """A section and its command, with the line breaks of the page."""

    section: str
    command: str


def printed_sections(text: str) -> Iterator[Printed]:
    """Yield the sections of a page that say their command."""
    for found in _SECTION.finditer(text):
        yield Printed(found["name"], found["command"])


def content(command: str, output: str) -> str:
    """Return what a section holds: the command, and what it printed."""
    output = "\n".join(line.rstrip() for line in output.strip("\n").splitlines())
    if output.startswith("|"):
        return f"```console\n$ {command}\n```\n\n{output}"
    return f"```console\n$ {command}\n{output}\n```"


def run(command: str, folder: Path) -> str:
    """Return what a command prints in a folder, with this checkout's benchmarks and package.

    Raises:
        CalledProcessError: the command failed.
    """
    own = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    words = command.replace("python benchmarks/", f"{sys.executable} {_BENCHMARKS}/")
    done = subprocess.run(
        ["bash", "-c", words],
        cwd=folder,
        env={**os.environ, "PATH": own, "COLUMNS": _WIDTH, "NO_COLOR": "1"},
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    return done.stdout


def main() -> None:
    """Fill what the command line names."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("page", type=Path)
    parser.add_argument("sections", nargs="*", help="those that are filled; without any, all that say their command")
    parser.add_argument("--folder", type=Path, default=Path(), help="where the commands run")
    given = parser.parse_args()
    failed = []
    for section, command in printed_sections(given.page.read_text(encoding="utf-8")):
        if section in given.sections or not given.sections:
            print(f"{section}: {command}", flush=True)
            try:
                fill(given.page, {section: content(command, run(command, given.folder))})
            except subprocess.CalledProcessError:
                failed.append(section)
    if failed:
        raise SystemExit(f"left as they were, since their commands failed: {', '.join(failed)}")


if __name__ == "__main__":
    main()
