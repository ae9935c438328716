"""Builds the kernels that are written in C into the package, if there is a compiler."""

import importlib.util
import subprocess
import sysconfig
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

NATIVE = "schedulers/batdispatch/native"


class KernelBuild(BuildHookInterface):
    """Puts the library where the package looks for it, and into the wheel."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        folder = Path(self.root) / NATIVE
        # The package itself needs libraries that are not there while it is built.
        spec = importlib.util.spec_from_file_location("library", folder / "library.py")
        library = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(library)
        target = library.path()
        try:
            for stale in folder.glob("kernels-*"):
                stale.unlink()
            library.build(target)
        except (OSError, subprocess.CalledProcessError) as problem:
            told = getattr(problem, "stderr", None) or problem
            self.app.display_warning(f"The kernels in C are left out, and Python does their work: {told}")
            return
        build_data["artifacts"].append(f"{NATIVE}/{target.name}")
        build_data["pure_python"] = False
        build_data["tag"] = f"py3-none-{sysconfig.get_platform().replace('-', '_').replace('.', '_')}"
