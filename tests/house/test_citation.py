"""CITATION.cff is of this version, and names what the package names."""

import re
import tomllib
from pathlib import Path

import yaml

import batdispatch
from batdispatch.cli.kinds import KINDS, names

ROOT = Path(__file__).parents[2]


def test_it_is_of_this_version_and_names_what_there_is() -> None:
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert cited["version"] == batdispatch.__version__ == project["version"]
    assert cited["license"] == project["license"]
    known = {name for kind in KINDS for name in names(kind)}
    said = {word for paper in cited["references"] for word in re.findall(r"[a-z0-9-]+", paper["notes"])}
    assert {"easy", "pcp20", "hcp19", "ipsched", "attempts", "pinned-io", "dada", "heft", "dmr"} <= said & known
