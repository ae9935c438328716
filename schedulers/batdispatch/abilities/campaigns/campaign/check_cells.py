"""Whether what a campaign calls a cell is what its run was made from: the key of a cell is a digest of that."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import msgspec

from batdispatch.abilities.campaigns.campaign.inputs import cell_key, input_key
from batdispatch.abilities.campaigns.campaign.names import NamedCell
from batdispatch.results.runs import Result
from batdispatch.runs.provenance import ENVIRONMENT, others_names
from batdispatch.runs.spec import RunSpec

#: As the parts of a campaign's replicates are called.
_REPLICATE = re.compile(r"(?:seed|window|slice|resample|run seed) \d+")


def against_run(named: NamedCell, result: Result) -> Iterator[str]:
    """Yield how a cell's key and inputs contradict what its run says it was made from."""
    try:
        spec = msgspec.convert(result.settings, RunSpec)
    except msgspec.ValidationError:
        return  # `settings` says so.
    environment = {name: result.made_from.get(name) for name in ENVIRONMENT}
    inputs = {"platform": named.platform, "workload": named.workload}
    for what, made in inputs.items():
        if Path(str(result.settings.get(what))).name != made.output:
            yield f"its run has the {what} {Path(str(result.settings.get(what))).name}, expected {made.output}"
        if input_key(made.facts, environment) != Path(made.output).stem:
            yield f"its {what} {made.output} was not made from what is said of it"
    if spec.nix is not None or others_names(spec.dispatcher, *spec.options.values()):
        return  # Their digests need the code of others, and the shell.
    keys = [Path(made.output).stem for made in inputs.values()]
    events = result.input_digests.get("events")
    if cell_key(spec, keys, events, {}, environment, None) != named.cell:
        yield "its run was made from other settings, inputs or code than its key says"


def against_inputs(named: NamedCell) -> Iterator[str]:
    """Yield what a campaign states of a platform or a workload that is not what its file was made with."""
    for what, made in (("platform", named.platform), ("workload", named.workload)):
        settings = made.facts.get("settings", {})
        for name, text in named.names.items():
            key = name.removeprefix(f"{what}.")
            if key != name and key in settings and not _same(str(text), str(settings[key])):
                yield f"{name} is {text}, and the {what} was made with {settings[key]}"
        seed = settings.get("seed")
        parts = str(named.names["replicate"]).split(", ")
        if what == "workload" and seed not in (None, "None") and not made.facts.get("paths"):
            told = [part.removeprefix("seed ") for part in parts if part.startswith("seed ")]
            if told and not any(_same(each, str(seed)) for each in told):
                yield f"it is called {named.names['replicate']}, and the workload was drawn with seed {seed}"


def against_link(named: NamedCell) -> Iterator[str]:
    """Yield how the link of a cell is called otherwise than the table calls the cell, or its replicate as none is."""
    told = [str(named.names[name]) for name in ("part", "platform", "workload", "dispatcher")]
    parts = named.link.split("/")
    if len(parts) != len(told) or not all(
        part.startswith(_plain(name)) for part, name in zip(parts, told, strict=True)
    ):
        yield f"its link is called otherwise than its row: {' / '.join(told)}"
    for each in filter(None, str(named.names["replicate"]).split(", ")):
        if not _REPLICATE.fullmatch(each):
            yield f"its replicate is called {each!r}"


def _plain(name: str) -> str:
    """Return the beginning of a name as it stands in links."""
    return re.sub(r"[^A-Za-z0-9=.,_+-]+", "_", name.partition("[")[0])[:80].strip("._")


def _same(one: str, other: str) -> bool:
    """Return whether two texts of a setting mean the same; what is no number may be written in several ways."""
    try:
        return float(one) == float(other)
    except ValueError:
        return not (_is_number(one) or _is_number(other)) or one == other


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
