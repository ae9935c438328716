"""Size and time of an installation, plain and with each extra: the wheel of this checkout into new environments.

    python benchmarks/install.py [EXTRA...]

prints a row for each installation: what `du` says of site-packages without pip itself, packages in it, CPU seconds of
pip (its children included) and wall-clock seconds. The wheels of the libraries come from pip's index or its cache,
whatever pip is set up to use: the first installation of a library takes longer than the next, so each row is measured
the second time.
"""

from __future__ import annotations

import resource
import subprocess
import sys
import tempfile
import time
import tomllib
import venv
from pathlib import Path

ROOT = Path(__file__).parents[1]


def main(names: list[str]) -> None:
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    # Extras for those who work on the project, and what is built from sources.
    chosen = names or [name for name in extras if name not in ("dev", "docs", "simgrid", "all")] + ["all"]
    print("| installed | MiB | packages | CPU seconds | seconds |")
    print("| --- | ---: | ---: | ---: | ---: |")
    with tempfile.TemporaryDirectory() as scratch:
        build = ["wheel", "--quiet", "--no-deps", "--wheel-dir", scratch, str(ROOT)]
        subprocess.run([sys.executable, "-m", "pip", *build], check=True)
        (wheel,) = Path(scratch).glob("*.whl")
        for extra in ["", *chosen]:
            for again in (False, True):
                row = install(wheel, extra, Path(scratch) / f"{extra or 'plain'}{again}")
            print(f"| {f'batdispatch[{extra}]' if extra else 'batdispatch'} | {row} |", flush=True)


def install(wheel: Path, extra: str, folder: Path) -> str:
    """Install into a new environment and return the cells of its row."""
    venv.create(folder, with_pip=False)
    python = str(folder / "bin" / "python")
    began, before = time.monotonic(), resource.getrusage(resource.RUSAGE_CHILDREN)
    what = f"{wheel}[{extra}]" if extra else str(wheel)
    pip = [sys.executable, "-m", "pip", "--python", python, "--quiet", "--disable-pip-version-check", "install", what]
    subprocess.run(pip, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    wall = time.monotonic() - began
    (site,) = folder.glob("lib/python*/site-packages")
    size = subprocess.run(["du", "-sm", str(site)], check=True, capture_output=True, text=True).stdout.split()[0]
    packages = len(list(site.glob("*.dist-info")))
    return f"{size} | {packages} | {cpu:.0f} | {wall:.0f}"


if __name__ == "__main__":
    main(sys.argv[1:])
