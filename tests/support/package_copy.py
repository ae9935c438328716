"""Copies of the package with other abilities, which are the installed ones in a process of their own."""

import os
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Collection
from pathlib import Path

import batdispatch
from batdispatch.core.abilities import own_abilities

ROOT = Path(__file__).parents[2]
POINTS: dict[str, dict[str, str]] = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["entry-points"]


def with_dependents(ability: str) -> list[str]:
    """Return an ability and those that need it, directly or by way of others."""
    found = [ability]
    for name in found:
        found += [each.name for each in own_abilities() if name in each.needs and each.name not in found]
    return found


def without(abilities: Collection[str], place: Path) -> dict[str, str]:
    """Copy the package without some abilities, and without those that need one of them.

    Returns:
        The environment in which the copy is the one installed.
    """
    abilities = {each.name for each in own_abilities() if {each.name, *each.needs} & {*abilities}}
    gone = [Path(batdispatch.__file__).parent / "abilities" / name for name in abilities]
    shutil.copytree(
        Path(batdispatch.__file__).parent,
        place / "batdispatch",
        ignore=lambda folder, names: [name for name in names if name == "__pycache__" or Path(folder, name) in gone],
    )
    about = place / f"batdispatch-{batdispatch.__version__}.dist-info"
    about.mkdir()
    (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: batdispatch\nVersion: {batdispatch.__version__}\n")
    lines = []
    for group, points in POINTS.items():
        lines += ["", f"[{group}]"]
        for name, value in points.items():
            if not value.startswith(tuple(f"batdispatch.abilities.{ability}." for ability in abilities)):
                lines.append(f"{name} = {value}")
    (about / "entry_points.txt").write_text("\n".join(lines))
    return {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, (place, ROOT / "expe/papers")))}


def run(environment: dict[str, str], *words: str | Path) -> str:
    done = subprocess.run(
        [sys.executable, *map(str, words)], env=environment, cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    return done.stdout
