"""Fills ``<!-- generated: NAME ARGUMENT -->`` in pages with what the code says of itself, so that it cannot drift."""

from __future__ import annotations

import functools
import inspect
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import click

from batdispatch.abilities.campaigns.campaign.file import RUN_SETTINGS
from batdispatch.abilities.kernels.applies import PREDICTIONS as predictions_of_kernels
from batdispatch.abilities.kernels.knowledge import KNOWLEDGE, Foresight
from batdispatch.abilities.kernels.queue_order import NO_KEY, formula_of
from batdispatch.abilities.verify.audit import rules as audit_rules
from batdispatch.abilities.verify.audit.case import RULES
from batdispatch.abilities.verify.differ.cases import CASES as SMALL_CASES
from batdispatch.cli.cards import SECTIONS, options_of, read_card
from batdispatch.cli.groups import HELP_ALL, Group
from batdispatch.cli.kinds import find
from batdispatch.cli.kinds import names as announced
from batdispatch.cli.main import cli
from batdispatch.core.line import dispatcher
from batdispatch.core.line.options import written
from batdispatch.core.line.registry import name_of
from batdispatch.core.line.settings import default_text
from batdispatch.parts.ordering import make_ordering
from batdispatch.parts.placement import GROUP as PLACEMENTS
from batdispatch.parts.prediction import GROUP as PREDICTIONS
from batdispatch.parts.prediction.requested import Requested
from batdispatch.results.metrics.compute import metrics as all_metrics
from batdispatch.testing import CASES

_MARK = re.compile(r"<!-- generated: (?P<name>[a-z]+) ?(?P<argument>[a-z0-9_-]*) -->")
_EXPE = Path(__file__).parents[2] / "expe"
#: Columns of a help text: what a page holds beside the navigation without scrolling sideways.
_WIDTH = 84


#: A block of commands, and a line of one that is a command or goes on with one.
_CONSOLE = re.compile(r"^```console\n(?P<lines>.*?)^```$", re.MULTILINE | re.DOTALL)


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Replace the marks of a page, and take the prompts from its commands (mkdocs calls this for each)."""
    return _CONSOLE.sub(without_prompts, _MARK.sub(lambda mark: _WRITERS[mark["name"]](mark["argument"]), markdown))


def without_prompts(block: re.Match[str]) -> str:
    """Return a block of commands that can be copied and run, if it holds nothing but commands."""
    lines, going_on = block["lines"].splitlines(), False
    for index, line in enumerate(lines):
        if not going_on and not line.startswith("$ "):
            # What a command prints stands there, too, so that the prompts are needed to tell what is what.
            return block[0]
        lines[index] = line if going_on else line.removeprefix("$ ")
        going_on = line.endswith("\\")
    return "\n".join(["```bash", *lines, "```"])


def commands(heading: str) -> str:
    """Return a section for each command under a heading of the help, with all its options, and for its subcommands."""
    assert isinstance(cli, Group)
    (names,) = (names for title, names in cli.headings.items() if re.sub(r"\W+", "-", title).lower() == heading)
    context = click.Context(cli, info_name="batdispatch", max_content_width=_WIDTH)
    return "\n".join(_command_sections(cli, context, names))


def _command_sections(group: click.Group, context: click.Context, names: Sequence[str]) -> Iterator[str]:
    for name in names:
        command = group.get_command(context, name)
        assert command is not None
        own = click.Context(
            command, info_name=name, parent=context, terminal_width=_WIDTH, help_option_names=["-h", "--help"]
        )
        own.meta[HELP_ALL] = True
        depth = own.command_path.count(" ") + 1
        text, shared = _without_shared_options(own.command_path, command.get_help(own))
        yield "\n\n".join([f"{'#' * depth} {own.command_path}", f"```text\n{text}\n```", *shared]) + "\n"
        if isinstance(command, click.Group):
            yield from _command_sections(command, own, command.list_commands(own))


#: Heading of options that several commands have alike -> the command whose section shows them, and where that stands.
_SHARED = {
    "How it is simulated": ("batdispatch run", "compare.md#batdispatch-run"),
    "Reading a log": ("batdispatch convert", "workloads.md#batdispatch-convert"),
}


def _without_shared_options(command: str, text: str) -> tuple[str, list[str]]:
    """Return (a command's help without options that another command shows, a sentence for each such heading)."""
    kept, shared = [], []
    for part in re.split(r"\n\n(?=\S)", text):
        heading = part.partition(":\n")[0]
        home, target = _SHARED.get(heading, (command, ""))
        if home != command and part in _help_of(home):
            shared.append(f"*{heading}*: these options are those of [`{home}`]({target}).")
        else:
            kept.append(part)
    return "\n\n".join(kept), shared


@functools.cache
def _help_of(path: str) -> str:
    """Return all of a command's help."""
    command = cli.get_command(click.Context(cli), path.removeprefix("batdispatch "))
    assert command is not None
    own = click.Context(command, info_name=path, terminal_width=_WIDTH)
    own.meta[HELP_ALL] = True
    return command.get_help(own)


#: What rules of the audit ask about -> heading of their table.
_ASKED = {
    "rows": "Rows of the jobs file",
    "hosts": "Hosts and queues",
    "order": "Order of jobs",
    "moments": "The exchange",
    "files": "Other files",
}


def rules(_: str = "") -> str:
    """Return a table of the audit's rules for each kind of thing that they ask about."""
    assert audit_rules.rows is not None
    listed = {about: [one for one in RULES.values() if one.about == about] for about in _ASKED}
    rows = {about: [f"| `{one.name}` | {_cell(one.sentence)} |" for one in found] for about, found in listed.items()}
    head = "| rule | what must hold |\n|---|---|\n"
    return "\n".join(f"### {_ASKED[about]}\n\n{head}" + "\n".join(found) + "\n" for about, found in rows.items())


def metrics(_: str = "") -> str:
    """Return a table of metrics under each group's heading."""
    groups: dict[str, list[str]] = {}
    for metric in all_metrics().values():
        unit = f" ({metric.unit})" if metric.unit else ""
        row = f"| `{metric.name}`{unit} | {_cell(metric.summary)}<br>{_cell(metric.formula)} |"
        groups.setdefault(metric.group, []).append(row)
    head = "| name in result.json | meaning and formula |\n|---|---|\n"
    return "\n".join(f"## {group}\n\n{head}" + "\n".join(rows) + "\n" for group, rows in groups.items())


def parts(kind: str) -> str:
    """Return what each ordering or placement says of itself as a table."""
    rows = []
    for name in announced(kind):
        text = inspect.cleandoc(find(kind, name).__doc__ or "")
        paragraphs = [" ".join(paragraph.split()) for paragraph in text.split("\n\n")]
        rows.append(f"| `{name}` | {'<br>'.join(map(_cell, paragraphs))} |")
    return "| name | |\n|---|---|\n" + "\n".join(rows)


def options(name: str) -> str:
    """Return the options of a dispatcher as a table."""
    rows = [
        f"| `{option.name}` | {f'`{option.default}`' if option.default else ''} | {_cell(option.accepts)} "
        f"| {_cell(option.text)} |"
        for option in options_of(dispatcher.find(name).options_type)
    ]
    return "| option | default | value | meaning |\n|---|---|---|---|\n" + "\n".join(rows)


def settings(_: str = "") -> str:
    """Return what a campaign may say of its runs as a table."""
    rows = []
    for name, setting in RUN_SETTINGS.items():
        default = "`false`" if name == "record" else f"`{text}`" if (text := default_text(setting)) else ""
        rows.append(f"| `{name}` | {default} | {_cell(setting.text)} |")
    return "| setting | default | meaning |\n|---|---|---|\n" + "\n".join(rows)


def section(heading: str) -> Callable[[str], str]:
    """Return what writes a section of a dispatcher's card, by what the card calls it."""

    def write(name: str) -> str:
        entries = [_prose(entry, name) for entry in read_card(dispatcher.find(name).__doc__ or "").sections[heading]]
        entries = [f"Time: {one}" if heading == "Time" else one[0].upper() + one[1:] for one in entries]
        return entries[0] if len(entries) == 1 and heading != "References" else "\n".join(f"- {one}" for one in entries)

    return write


def card(name: str) -> str:
    """Return the sections of a dispatcher's page that say nothing but what its card says."""
    headings = ("Time", "Deviations", "References")
    return "\n\n".join(f"## {SECTIONS[heading]}\n\n{section(heading)(name)}" for heading in headings)


def _prose(text: str, own: str) -> str:
    """Return a text of a docstring as Markdown: names of other dispatchers lead to their pages, DOIs to the papers."""
    parts = re.split(r"``?([^`]+)``?", text)
    known = set(announced("dispatchers")) - {own}
    parts[1::2] = [f"[`{code}`]({code}.md)" if code in known else f"`{code}`" for code in parts[1::2]]
    parts[::2] = [_linked(_cell(part)) for part in parts[::2]]
    return "".join(parts)


def _linked(text: str) -> str:
    text = re.sub(r"doi:(10\.\S+[\w])", lambda found: f"[doi:{found[1]}](https://doi.org/{_plain(found[1])})", text)
    return re.sub(r"(?<!\()(https://\S+\w)", lambda found: f"<{_plain(found[1])}>", text)


def _plain(address: str) -> str:
    return address.replace("\\_", "_")


def cases(_: str = "") -> str:
    """Return the cases of the conformance kit as a table."""
    return "| case | what it holds |\n|---|---|\n" + "\n".join(
        f"| `{case.name}` | {_cell(case.about)} |" for case in CASES
    )


def differential(_: str = "") -> str:
    """Return the cases of `batdispatch differ` as a table."""
    return "| case | policy | reveals | how it comes about |\n|---|---|---|---|\n" + "\n".join(
        f"| `{case.name}` | {case.policy} | {case.reveals} | {_cell(case.about)} |" for case in SMALL_CASES
    )


def measured(argument: str) -> str:
    """Return a measured section of an experiment's page, FOLDER-SECTION: what the last whole run of it filled in."""
    folder, _, section = argument.partition("-")
    page = (_EXPE / folder / "results.md").read_text(encoding="utf-8")
    found = re.search(rf"^<!-- measured: {section} -->\n(.*?)^<!-- end -->$", page, re.MULTILINE | re.DOTALL)
    if found is None or not found[1].strip():
        raise LookupError(f"expe/{folder}/results.md has no section {section}")
    return found[1].strip()


def kernels(what: str) -> str:
    """Return a table of what each kernel knows, or the orderings for which kernels have keys as a list."""
    if what == "orderings":
        made = {name: make_ordering(name) for name in announced("orderings")}
        kept = {name: each.dynamic for name, each in made.items() if formula_of(each) != NO_KEY}
        steady, changing = ([name for name, moves in kept.items() if moves is which] for which in (False, True))
        return f"- that do not change while a job waits: {_listed(steady)}\n- that do: {_listed(changing)}"
    listed = sorted(KNOWLEDGE.values(), key=lambda each: each.name)
    rows = {
        "orderings that change": [_known(each.changing_order) for each in listed],
        "`guarded` around an ordering": [_known(each.guarded) for each in listed],
        "placement": [_listed(name_of(PLACEMENTS, kind) for kind in each.placements) for each in listed],
        "prediction": [_predictions(each.foresight) for each in listed],
        "reservations": [_known(each.reservations) + _unless(each.foresight, "reservations") for each in listed],
        "whole hosts of partitions": ["yes" + _unless(each.foresight, "partitions") for each in listed],
        "whole hosts with weights": [_known(each.weights) for each in listed],
        "hosts that sleep": [_known(each.sleepers) for each in listed],
        "options": [_listed(f"{name}={written(value)}" for name, (value, _) in each.fixed.items()) for each in listed],
    }
    head = f"| | {' | '.join(f'`{each.name}`' for each in listed)} |\n|---|{'---|' * len(listed)}\n"
    return head + "\n".join(f"| {about} | {' | '.join(cells)} |" for about, cells in rows.items())


def _listed(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in names) or "any"


def _known(known: bool) -> str:
    return "yes" if known else "no"


def _predictions(foresight: Foresight | None) -> str:
    if foresight is None:
        return _listed([name_of(PREDICTIONS, Requested)])
    order = "" if foresight.changing_order else "; but for `requested` only with orderings that do not change"
    return _listed(name_of(PREDICTIONS, kind) for kind in predictions_of_kernels) + order


def _unless(foresight: Foresight | None, where: str) -> str:
    return "" if foresight is None or getattr(foresight, where) else "; there only with `prediction=requested`"


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("*", "\\*").replace("_", "\\_").replace("<", "&lt;")


_WRITERS: dict[str, Callable[[str], str]] = {
    "card": card,
    "cases": cases,
    "commands": commands,
    "differential": differential,
    "kernels": kernels,
    "measured": measured,
    "metrics": metrics,
    "parts": parts,
    "rules": rules,
    "options": options,
    "settings": settings,
    **{SECTIONS[heading].split()[-1].lower(): section(heading) for heading in SECTIONS},
}
