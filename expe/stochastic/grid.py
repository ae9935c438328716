"""What is simulated: the scenarios of the paper, what it claims, and what it leaves open."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

Options = dict[str, str]

HPC: Options = {"requests": "hpc"}
NEUROSCIENCE: Options = {"requests": "neuroscience"}
TOPTIMAL: Options = {"requests": "toptimal"}
#: ATOptimal that is told the rate of the workload, and ATOptimal that measures it.
ATOPTIMAL: Options = {"requests": "atoptimal", "rate": "told"}
MEASURED: Options = {"requests": "atoptimal"}
SPECULATE: Options = {"speculate": "true"}
REPACK: Options = {"plan": "repack"}
EASY: Options = {"dispatcher": "stochastic-easy"}
CONSERVATIVE: Options = {"dispatcher": "stochastic-conservative"}


@dataclass(frozen=True)
class Table:
    """One table of results.md: workloads by the value of what is varied, dispatchers by their label.

    Attributes:
        key: names its rows in results.json; begins with the scenario's number.
        title: its heading.
        claim: what the paper says about it.
        varied: heading of the column of values; empty when nothing is varied.
        workloads: value -> arguments of `workloads.stochastic.scenario`.
        dispatchers: label -> options, with the dispatcher's name unless it is stochastic-batch.
        found: what the figures say about the claim.
    """

    key: str
    title: str
    claim: str
    dispatchers: dict[str, Options]
    workloads: dict[str, dict[str, Any]]
    varied: str = ""
    found: str = ""


@dataclass(frozen=True)
class Claim:
    """Something that the paper says of two dispatchers, and the table that can tell.

    Attributes:
        scenario: its number and what it is about.
        says: the paper's words, shortened.
        table: key of the table.
        metric: of the table's cells.
        ours: label of the dispatcher that is said to be better, or worse.
        base: label of the other one.
        sign: 1 if the metric is said to be higher, -1 if lower.
        values: those of what is varied for which it is said; empty: all.
    """

    scenario: str
    says: str
    table: str
    metric: str
    ours: str
    base: str
    sign: int
    values: tuple[str, ...] = ()


def rates(*values: float, **more: Any) -> dict[str, dict[str, Any]]:
    """Return scenario 2 at some rates."""
    return {f"{value:g}": {"which": 2, "rate": value, **more} for value in values}


AUTHORS = "Figures of the authors' simulator, which we ran"
BOTH = {"HPC": HPC, "TOptimal": TOPTIMAL}
SPECULATIVE = BOTH | {"HPC, speculative": HPC | SPECULATE, "TOptimal, speculative": TOPTIMAL | SPECULATE}

TABLES = (
    Table(
        "1-plan",
        "Scenario 1: no small jobs",
        "TOptimal is better than HPC and Neuroscience in utilisation and response time (pictures). "
        f"{AUTHORS}: HPC .407, 483 h; Neuroscience .596; TOptimal .662, 285 h.",
        {
            "HPC": HPC,
            "Neuroscience": NEUROSCIENCE,
            "TOptimal": TOPTIMAL,
            "HPC, re-packed": HPC | REPACK,
            "TOptimal, re-packed": TOPTIMAL | REPACK,
            "HPC, EASY": HPC | EASY,
            "TOptimal, EASY": TOPTIMAL | EASY,
        },
        {"": {"which": 1}},
        found="it holds, and by more than the conclusion says, where planned starts stay. Where they move up, "
        "the sign turns.",
    ),
    Table(
        "1-closed",
        "Scenario 1: machine-wide jobs, which have closed forms",
        "Not in the paper. Closed forms: rigid HPC .400, TOptimal .670; re-packed HPC 1, TOptimal .897.",
        {"HPC": HPC, "TOptimal": TOPTIMAL, "HPC, re-packed": HPC | REPACK, "TOptimal, re-packed": TOPTIMAL | REPACK},
        {"": {"which": 1, "widths": "all"}},
    ),
    Table(
        "1-laws",
        "Scenario 1: other laws",
        "Jobs follow different laws, which the slides do not list. Ours are those of the authors' tests.",
        {"HPC": HPC, "Neuroscience": NEUROSCIENCE, "TOptimal": TOPTIMAL},
        {
            "normal": {"which": 1},
            "exponential": {"which": 1, "law": "texp:0,15,1"},
            "beta": {"which": 1, "law": "beta:2,2"},
            "Pareto": {"which": 1, "law": "pareto:1,20,2.1"},
        },
        "law",
        found="it holds for each law; the further the bound lies above the mean, the more HPC loses.",
    ),
    Table(
        "1-widths",
        "Scenario 1: other processor counts",
        "Processor counts follow different laws; the pictures show the beta law.",
        BOTH,
        {widths: {"which": 1, "widths": widths} for widths in ("beta", "normal", "half", "all", "powers")},
        "widths",
        found="processor counts hardly matter.",
    ),
    Table(
        "2-rate",
        "Scenario 2: 50 large jobs, and small ones of known run time",
        "ATOptimal moves from TOptimal to HPC as the rate grows; its utilisation is always the best; its response time "
        "is better than TOptimal's but worse than HPC's. (The slides' words; their curves have no figures.)",
        {"HPC": HPC, "TOptimal": TOPTIMAL, "ATOptimal": ATOPTIMAL},
        rates(0.1, 0.2, 0.3, 0.5, jobs=50),
        "rate",
        found="ATOptimal's mean utilisation is the highest or level with TOptimal's, apart from it by less than "
        "the intervals at each rate; its large jobs respond a little later than TOptimal's and far earlier "
        "than HPC's. Over all jobs it responds earlier than TOptimal from a rate of 0.3 on, and HPC "
        "earlier than both at 0.5, where they leave small jobs no gaps while large ones wait. Rates above "
        "0.5 were left out: the machine is full.",
    ),
    Table(
        "2-wide",
        "Scenario 2: 100 large jobs, small ones as wide as the machine",
        "Not said; so they are in the authors' code.",
        {"HPC": HPC, "TOptimal": TOPTIMAL, "ATOptimal": ATOPTIMAL},
        rates(0.1, 0.3, 0.5, 0.7, small_units=10),
        "rate",
        found="small jobs that need the whole machine at once fit few gaps, so ATOptimal, which counts on them, "
        "falls behind TOptimal; both stay ahead of HPC in utilisation and behind it in the response time "
        "over all jobs from 0.3 on.",
    ),
    Table(
        "2-measured",
        "Scenario 2: the rate told or measured",
        "The rate is taken for known. 300 jobs are three batches; nothing is measured yet when the first is planned.",
        {"HPC": HPC, "TOptimal": TOPTIMAL, "ATOptimal, told": ATOPTIMAL, "ATOptimal, measured": MEASURED},
        rates(0.3, small_units=10, jobs=300),
        "rate",
        found="measured, ATOptimal lies between TOptimal, which it is for the first batch, and ATOptimal that is told.",
    ),
    Table(
        "3-share",
        "Scenario 3: speculative backfilling",
        "TOptimal is a little better than HPC; speculative HPC is better than TOptimal where many jobs are small. "
        f"{AUTHORS}, at 0.3: HPC .482, 170 h; TOptimal .641, 115 h; its speculation cannot be run.",
        SPECULATIVE,
        {f"{share:g}": {"which": 3, "share": share} for share in (0.1, 0.3, 0.5, 0.7, 0.9)},
        "share of small jobs",
        found="TOptimal is better than HPC by more than a little, most where many jobs are small. Speculative "
        "HPC is better than TOptimal at every share, not only at high ones. Speculation adds little to "
        "TOptimal.",
    ),
    Table(
        "3-repack",
        "Scenario 3: speculation where planned starts move up",
        "Not in the paper.",
        {
            f"{name}{', speculative' if more else ''}, {where}": options | more | base
            for where, base in (("re-packed", REPACK), ("EASY", EASY), ("conservative", CONSERVATIVE))
            for name, options in BOTH.items()
            for more in ({}, SPECULATE)
        },
        {"": {"which": 3, "share": 0.5}},
        found="EASY and conservative leave short gaps; to speculate on them lowers HPC's response time, not "
        "TOptimal's, and no utilisation rises.",
    ),
    Table(
        "3-widths",
        "Scenario 3: other processor counts",
        "Not said for this scenario; in the authors' code beta or machine-wide.",
        SPECULATIVE,
        {widths: {"which": 3, "share": 0.5, "widths": widths} for widths in ("beta", "half", "all", "powers")},
        "widths",
        found="as with beta widths.",
    ),
    Table(
        "4-intrepid",
        "Scenario 4: neuroscience applications on Intrepid",
        "Pictures without figures; the conclusion, over all scenarios: response time -25 %, utilisation +30 %.",
        {"HPC": HPC, "TOptimal": TOPTIMAL, "ATOptimal": ATOPTIMAL},
        {
            "beta, uniform": {"which": 4, "rate": 0.21},
            "powers, uniform": {"which": 4, "rate": 0.21, "widths": "powers"},
            "beta, start": {"which": 4, "rate": 0.21, "arrivals": "start"},
        },
        "widths, arrivals",
        found="it does not hold with what we chose. The laws end close above their means, so TOptimal hardly "
        "asks for less than HPC, and small jobs fill HPC's idle tails: utilisations differ by less than "
        "their intervals, and response times, which vary much from seed to seed, are no shorter.",
    ),
)

#: What the summary of results.md sets beside what was measured.
CLAIMS = (
    Claim(
        "1: no small jobs", "TOptimal uses the machine better than HPC", "1-laws", "utilisation", "TOptimal", "HPC", 1
    ),
    Claim("1: no small jobs", "TOptimal responds earlier than HPC", "1-laws", "response", "TOptimal", "HPC", -1),
    Claim(
        "1: no small jobs",
        "TOptimal uses the machine better than Neuroscience",
        "1-laws",
        "utilisation",
        "TOptimal",
        "Neuroscience",
        1,
    ),
    Claim(
        "1: no small jobs",
        "TOptimal responds earlier than Neuroscience",
        "1-laws",
        "response",
        "TOptimal",
        "Neuroscience",
        -1,
    ),
    Claim(
        "2: known small jobs", "ATOptimal uses the machine best (HPC)", "2-rate", "utilisation", "ATOptimal", "HPC", 1
    ),
    Claim(
        "2: known small jobs",
        "ATOptimal uses the machine best (TOptimal)",
        "2-rate",
        "utilisation",
        "ATOptimal",
        "TOptimal",
        1,
    ),
    Claim(
        "2: known small jobs",
        "ATOptimal responds earlier than TOptimal",
        "2-rate",
        "response_all",
        "ATOptimal",
        "TOptimal",
        -1,
    ),
    Claim("2: known small jobs", "ATOptimal responds later than HPC", "2-rate", "response_all", "ATOptimal", "HPC", 1),
    Claim(
        "3: speculation",
        "TOptimal uses the machine a little better than HPC",
        "3-share",
        "utilisation",
        "TOptimal",
        "HPC",
        1,
    ),
    Claim(
        "3: speculation",
        "with many small jobs, speculative HPC uses the machine better than TOptimal",
        "3-share",
        "utilisation",
        "HPC, speculative",
        "TOptimal",
        1,
        ("0.7", "0.9"),
    ),
    Claim(
        "3: speculation",
        "with many small jobs, speculative HPC responds earlier than TOptimal",
        "3-share",
        "response",
        "HPC, speculative",
        "TOptimal",
        -1,
        ("0.7", "0.9"),
    ),
    Claim(
        "4: Intrepid",
        "speculative scheduling uses the machine better",
        "4-intrepid",
        "utilisation",
        "ATOptimal",
        "HPC",
        1,
    ),
    Claim("4: Intrepid", "speculative scheduling responds earlier", "4-intrepid", "response", "ATOptimal", "HPC", -1),
    Claim(
        "not in the paper",
        "TOptimal uses a re-packed machine better",
        "1-plan",
        "utilisation",
        "TOptimal, re-packed",
        "HPC, re-packed",
        1,
    ),
    Claim(
        "not in the paper",
        "TOptimal responds earlier on a re-packed machine",
        "1-plan",
        "response",
        "TOptimal, re-packed",
        "HPC, re-packed",
        -1,
    ),
)
