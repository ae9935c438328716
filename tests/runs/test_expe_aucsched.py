"""The AUCSCHED experiment: each statement of the slides is a claim, and programs are as large as their formulas say."""

from expe.aucsched import show
from expe.common.claims import read_claims
from expe.common.running import CLAIMS, EXPE

#: Slides, "Problem size": the rows of both tables for N jobs and J nodes, as they are printed.
VARIABLES = ("N", "N", "N * J", "N * J")
CONSTRAINTS = ("J", "N", "J", "N", "2 * J", "2 * J * N")


def printed(rows: tuple[str, ...], jobs: int, nodes: int) -> int:
    return sum(eval(row, {"N": jobs, "J": nodes}) for row in rows)


def test_the_sizes_are_the_sums_of_the_slides_tables_and_ours_are_close() -> None:
    rows = show.others(EXPE, quick=True)
    assert [row["sizes"][:2] for row in rows] == list(show.QUICK_SIZES)
    for row in rows:
        jobs, nodes, slides, single, by_class = row["sizes"]
        assert slides == (printed(VARIABLES, jobs, nodes), printed(CONSTRAINTS, jobs, nodes))
        assert row["variables_ratio"] == single[0] / slides[0]
        assert row["constraints_ratio"] == single[1] / slides[1]
        assert by_class[0] < single[0] / 10, "three classes of 64 nodes"


def test_both_ends_of_the_slides_range_of_fragmentation_are_claims() -> None:
    claims = read_claims(EXPE / "aucsched" / CLAIMS).claims
    bars = [claim.expected for claim in claims if claim.ours.metric == "fragmentation" and claim.paper]
    assert bars == ["at least 10 %", "at most 20 %"]
