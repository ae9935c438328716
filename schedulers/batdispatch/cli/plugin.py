"""``batdispatch plugin``: a package to start from, for a dispatcher or a part of one's own."""

from __future__ import annotations

import re
from importlib import resources
from pathlib import Path
from string import Template

import click

from batdispatch.cli.groups import Choice, Command, option

KINDS = {
    "dispatcher": "A dispatcher for batdispatch.",
    "ordering": "An ordering of waiting jobs for batdispatch's dispatchers.",
    "placement": "A placement of jobs for batdispatch's dispatchers.",
}
_NAME = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")


@click.command(cls=Command)
@click.argument("name")
@option("--kind", type=Choice(list(KINDS)), default="dispatcher", show_default=True, help="What it is.")
@option(
    "-o",
    "--output",
    metavar="DIR",
    type=click.Path(path_type=Path),
    help="Folder to write, which must not exist. Default: the name.",
)
def command(name: str, kind: str, output: Path | None) -> None:
    """Write a package that adds a dispatcher, an ordering or a placement: code that runs, its entry point, its tests.

    NAME is what `batdispatch list` will show, in lower case with hyphens.

    \b
    Examples:
      batdispatch plugin patient-first
      batdispatch plugin far-apart --kind placement -o far-apart-placement
    """
    from batdispatch.core import registry
    from batdispatch.core.errors import InputError

    if not _NAME.fullmatch(name):
        raise InputError(f"{name!r} is no name in lower case with hyphens, such as patient-first", source="NAME")
    if name in registry.names(f"batdispatch.{kind}s"):
        raise InputError(f"{name!r} is taken: `batdispatch explain {name}` says by what", source="NAME")
    folder = output or Path(name)
    if folder.exists():
        raise InputError(f"{folder} is there already, expected a new folder", source="option --output")
    words = name.split("-")
    module = f"{'_'.join(words)}_{kind}"
    values = {
        "about": KINDS[kind],
        "class_name": "".join(word.capitalize() for word in words),
        "kind": kind,
        "module": module,
        "name": name,
        "project": f"batdispatch-{name}",
    }
    for source, target in (
        ("pyproject.toml", "pyproject.toml"),
        ("README.md", "README.md"),
        (f"{kind}.py", f"{module}/__init__.py"),
        (f"test_{kind}.py", f"tests/test_{module}.py"),
    ):
        text = (resources.files("batdispatch.cli") / "skeleton" / f"{source}.txt").read_text(encoding="utf-8")
        path = folder / target
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(Template(text).substitute(values), encoding="utf-8")
    click.echo(f"pip install --editable '{folder}[test]' && pytest {folder}")
    click.echo(str(folder))
