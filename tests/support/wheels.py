"""The wheel that is published, installed into an environment of its own: nothing of the checkout is there."""

import subprocess
import sys
import sysconfig
import venv
from pathlib import Path

ROOT = Path(__file__).parents[2]


def build_wheel(folder: Path) -> Path:
    """Build the package's wheel into a folder and return its path."""
    build = ["wheel", "--quiet", "--no-deps", "--no-build-isolation", "--wheel-dir", str(folder), str(ROOT)]
    subprocess.run([sys.executable, "-m", "pip", *build], check=True, capture_output=True)
    (wheel,) = folder.glob("batdispatch-*.whl")
    return wheel


def install_wheel(wheel: Path, folder: Path) -> Path:
    """Install a wheel into a new environment, beside the libraries of this one, and return its folder of programs."""
    venv.create(folder, with_pip=False)
    python = folder / "bin" / "python"
    install = ["--python", str(python), "install", "--quiet", "--no-deps", str(wheel)]
    subprocess.run([sys.executable, "-m", "pip", *install], check=True, capture_output=True)
    # A line of a .pth file adds a folder without the .pth files in it: not what is installed there as editable.
    site = sysconfig.get_path("purelib", vars={"base": str(folder), "platbase": str(folder)})
    Path(site, "libraries.pth").write_text(sysconfig.get_path("purelib") + "\n")
    return python.parent
