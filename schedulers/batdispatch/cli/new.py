"""``batdispatch new``: a package to start from, for a dispatcher or a part of one's own."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from pathlib import Path

import click

from batdispatch.cli.groups import Command, Group, option
from batdispatch.cli.messages import conclude
from batdispatch.cli.outputs import written_option
from batdispatch.core.abilities import Skeleton, own_abilities

_BASE = (
    Skeleton("dispatcher", "dispatchers", "dispatcher", "A dispatcher for batdispatch.", "patient-first"),
    Skeleton("ordering", "orderings", "ordering", "An ordering for batdispatch's dispatchers.", "small-soon"),
    Skeleton("placement", "placements", "placement", "A placement for batdispatch's dispatchers.", "far-apart"),
    Skeleton("prediction", "predictions", "prediction", "A prediction for batdispatch's dispatchers.", "median"),
)
#: Subcommand -> what it writes.
KINDS = {each.kind: each for each in (*_BASE, *(found for ability in own_abilities() for found in ability.skeletons))}
#: Longest name: tables show it, and file systems have to take it with what is written around it.
MAX_NAME = 100
_NAME = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")


@click.group(cls=Group)
def command() -> None:
    """Write a package for a dispatcher or a part of one's own: code that runs, its entry point, its tests.

    The package passes its tests, ruff and mypy as it is written. Change it from there.

    \b
    Examples:
      batdispatch new dispatcher patient-first
      batdispatch new placement far-apart -o far-apart-placement
    """


def _subcommand(kind: str) -> Callable[[str, Path | None, bool], None]:
    def write(name: str, output: Path | None, as_json: bool) -> None:
        write_package(kind, name, output, as_json=as_json)

    what = kind.replace("-", " ")
    write.__doc__ = f"""Write a package that adds {"an" if kind[0] in "aeiou" else "a"} {what}.

    NAME is what `batdispatch list {KINDS[kind].group}` will show, in lower case with hyphens.

    \b
    Example:
      batdispatch new {kind} {KINDS[kind].example}
    """
    return write


output_option = option(
    "-o",
    "--out",
    "output",
    metavar="DIR",
    type=click.Path(path_type=Path),
    help="Write the package into this folder, which must not exist yet. The default is the name.",
)

for _kind in KINDS:
    command.add_command(
        click.command(_kind, cls=Command)(click.argument("name")(output_option(written_option(_subcommand(_kind))))),
    )


def write_package(kind: str, name: str, output: Path | None, *, as_json: bool = False) -> None:
    """Write a package, and print how to try it and its folder.

    Args:
        kind: a key of `KINDS`.
        name: of the dispatcher or part.
        output: the folder; None: called like it.
        as_json: print JSON.

    Raises:
        InputError: the name is no name, or taken, or the folder is there.
    """
    from importlib import resources
    from string import Template

    import batdispatch
    from batdispatch.core.errors import InputError
    from batdispatch.core.line import registry

    what = KINDS[kind]
    if len(name) > MAX_NAME:
        raise InputError(f"has {len(name):,} letters, expected at most {MAX_NAME}", source="NAME")
    if not _NAME.fullmatch(name):
        raise InputError(f"{name!r} is no name in lower case with hyphens, such as {what.example}", source="NAME")
    if name in registry.names(f"batdispatch.{what.group}"):
        raise InputError(f"{name!r} is taken: `batdispatch explain {name}` says by what", source="NAME")
    folder = output or Path(name)
    if folder.exists():
        raise InputError(f"{folder} is there already, expected a new folder", source="option --out")
    words = name.split("-")
    class_name = "".join(word.capitalize() for word in words)
    if class_name in batdispatch.__all__:
        # The code imports a class of that name.
        class_name += "".join(word.capitalize() for word in kind.split("-"))
    module = f"{'_'.join(words)}_{what.option}"
    values = {
        "about": what.about,
        "class_name": class_name,
        "group": what.group,
        "module": module,
        "name": name,
        "option": what.option,
        "project": f"batdispatch-{name}",
    }
    files = {}
    for package, source, target in (
        ("batdispatch.cli", "pyproject.toml", "pyproject.toml"),
        ("batdispatch.cli", "README.md", "README.md"),
        (what.package, f"{what.option}.py", f"{module}/__init__.py"),
        ("batdispatch.cli", "py.typed", f"{module}/py.typed"),
        (what.package, f"test_{what.option}.py", f"tests/test_{module}.py"),
    ):
        text = (resources.files(package) / "skeleton" / f"{source}.txt").read_text(encoding="utf-8")
        files[target] = Template(text).substitute(values).encode()
    _write_folder(folder, files)
    trial = f"pip install --editable '{folder}[test]' && pytest {folder}"
    conclude(folder, {"name": name, "kind": kind, "files": list(files), "trial": trial}, as_json=as_json, words=trial)


def _write_folder(folder: Path, files: Mapping[str, bytes]) -> None:
    """Write a new folder that appears whole or not at all: it is made beside its place and renamed."""
    from tempfile import TemporaryDirectory

    from batdispatch.inputs.files import write_whole

    folder.absolute().parent.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(prefix=f"{folder.name[:40]}.", suffix=".partial", dir=folder.absolute().parent) as place:
        whole = Path(place) / "whole"
        for name, content in files.items():
            path = whole / name
            path.parent.mkdir(parents=True, exist_ok=True)
            write_whole(path, content)
        whole.rename(folder)
