"""Builds what is written in C into the package, if there is a compiler: a library of each folder of sources."""

import importlib.util
import subprocess
import sysconfig
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

PACKAGE = "schedulers/batdispatch"


class KernelBuild(BuildHookInterface):
    """Puts the libraries where the package looks for them, and into the wheel."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        package = Path(self.root) / PACKAGE
        # The package itself needs libraries that are not there while it is built.
        spec = importlib.util.spec_from_file_location("library", package / "native" / "library.py")
        library = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(library)
        built = []
        try:
            for folder in library.folders(package):
                for stale in folder.glob("*.so"):
                    stale.unlink()
                made = library.Library(folder)
                made.build(target := made.path())
                built.append(target.relative_to(self.root).as_posix())
        except (OSError, subprocess.CalledProcessError) as problem:
            told = getattr(problem, "stderr", None) or problem
            self.app.display_warning(f"The kernels in C are left out, and Python does their work: {told}")
        if not built:
            return
        build_data["artifacts"] += built
        build_data["pure_python"] = False
        build_data["tag"] = f"py3-none-{sysconfig.get_platform().replace('-', '_').replace('.', '_')}"
