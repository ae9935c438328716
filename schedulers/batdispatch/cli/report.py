"""``batdispatch report``: metrics and pictures of runs that are there, on one HTML page."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import msgspec

from batdispatch.core.line.settings import RESULTS, Form
from batdispatch.core.questions import Answer, Question
from batdispatch.runs.comparison_options import ReportReasons


class ReportOptions(msgspec.Struct, frozen=True, kw_only=True):
    """A page over runs.

    output: Write the page here, or into this folder. The default is report/index.html in DIR, or here if there are
        several.
    title: Give the page this heading.
    baseline: Compare the other dispatchers of a campaign with this one. The default is easy, else the first.
    """

    output: Annotated[Path | None, Form("OUT", name="-o/--out")] = None
    title: Annotated[str | None, Form("TEXT")] = None
    baseline: Annotated[str | None, Form("NAME")] = None


def report_on(
    page: ReportOptions, reasons: ReportReasons, folders: Annotated[tuple[Path, ...], Form("DIR...")]
) -> Answer:
    """Compare runs on one HTML page: metrics, curves, charts, and what differs between the inputs.

    DIR is a run's folder (jobs.csv, with or without result.json; Batsim's own output works too) or a folder that
    holds several. The page needs no network. Its path is printed.

    The folder of a campaign, or of a comparison with replicates, gives one page over all its workloads and replicates:
    which dispatcher to choose for which aim, and how sure that is.

    \b
    Examples:
      batdispatch report campaigns/placements --baseline EASY
      batdispatch report comparison
      batdispatch report results/easy batsim-output -o easy-twice.html
    """
    from batdispatch.api.looks import report

    written = report(*folders, page=page.output, title=page.title, baseline=page.baseline, explain=reasons.explain)
    return Answer(written.facts, [str(written)])


QUESTION = Question("report", report_on, "Print the metrics as JSON instead of the path of the page.", RESULTS)
