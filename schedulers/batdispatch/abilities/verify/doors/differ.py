"""What people ask of the schedules of any simulator, held against textbook definitions."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

from batdispatch.abilities.verify.differ.options import CasesOptions, FigureOptions, FileOptions
from batdispatch.core.line.settings import Form
from batdispatch.core.questions import Answer, Question, Questions


def file(wanted: FileOptions, path: Annotated[Path, Form("JOBFILE")]) -> Answer:
    """Compare a schedule with the one that a definition gives, and say what explains the differences.

    JOBFILE is Batsim's jobs.csv, an SWF file with waits filled in, or whatever else `batdispatch convert` reads.
    The expected schedule comes from a naive simulation that shares no code with this package's dispatchers. If the
    schedule is another one, known variants are simulated until one gives it exactly: other readings of simultaneous
    events, other sizes of the machine, known mistakes, other policies.

    Exit status: 0 when the schedule is what the policy's name says, 1 when it is not, 2 when a file cannot be read.
    """
    from batdispatch.abilities.verify.differ.files import hold_file
    from batdispatch.abilities.verify.differ.words import as_dict, differences, verdict

    schedule, hosts, why, held = hold_file(path, wanted)
    said = [f"{path}: {len(schedule.jobs):,} jobs on {hosts:,} processors ({why})", *schedule.notes]
    said += [*differences(schedule, held), verdict(held, wanted.policy, hosts)]
    return Answer(as_dict(schedule, held, wanted.policy, hosts), said, status=int(not held.closest.exact))


def cases(how: CasesOptions, folder: Annotated[Path, Form("DIR", folder=True)]) -> Answer:
    """Write small cases for another simulator to run, or check what it made of them.

    With --write, each case becomes a folder DIR/CASE: workload.swf and workload.json (Batsim's), platform.xml, the
    starts expected of every policy, and what the case reveals. Run your simulator on each, and leave its schedule
    there as POLICY.csv (Batsim's jobs.csv) or POLICY.swf (waits filled in), such as DIR/extra-nodes/easy.swf. Without
    --write, the schedules found are checked.

    Exit status: 0 when every schedule is right, 1 when one is not, 2 when a file cannot be read or there is none.
    """
    from batdispatch.abilities.verify.differ.files import checked_cases, write_cases
    from batdispatch.abilities.verify.differ.words import cases_as_dict, verdict

    if how.write:
        return Answer(None, [f"{folder}: {len(write_cases(folder))} cases"])
    checked = checked_cases(folder)
    facts = cases_as_dict(checked)
    said = [f"{each.path}: {verdict(each.held, each.policy, each.case.hosts)}" for each in checked]
    return Answer(facts, [*said, f"{len(checked)} schedules, {facts['wrong']} wrong"], status=int(facts["wrong"] > 0))


def figures(wanted: FigureOptions, log: Annotated[Path, Form("LOG")]) -> Answer:
    """Print what a policy and its known variants make of a log, to find out what a published figure is of.

    For each variant and number of processors: the quantile of the bounded slowdown of the jobs, and the mean wait.
    """
    from batdispatch.abilities.verify.differ.figures import figures_of_log

    jobs, listed = figures_of_log(log, wanted)

    def said() -> Iterator[str]:
        yield f"{log}: {jobs:,} jobs; {wanted.quantile:.0%} bounded slowdown ({wanted.threshold:g} s), mean wait"
        for figure in listed:
            mark = f"  <- {wanted.published:g}" if figure.is_near(wanted.published) else ""
            yield f"{figure.hosts:>7,} {figure.slowdown:>10,.2f} {figure.wait:>12,.0f} s  {figure.about}{mark}"

    return Answer(lambda: {"jobs": jobs, "figures": [figure._asdict() for figure in listed]}, said())


QUESTION = Questions(
    "differ",
    """Hold the schedules of any simulator against textbook definitions.

    \b
    Examples:
      batdispatch differ file theirs.swf --log CTC-SP2.swf --policy easy --hosts 338
      batdispatch differ cases kit --write
      batdispatch differ cases kit
      batdispatch differ figures CTC-SP2.swf --policy easy --hosts 338,512 --threshold 60
    """,
    (
        Question("file", file, "Print what is found as JSON."),
        Question("cases", cases, "Print what is found as JSON."),
        Question("figures", figures, "Print the figures as JSON."),
    ),
)
