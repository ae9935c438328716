"""With all in view, the explorer has the values of the page's tables, each in the unit that it has there."""

from pathlib import Path

import pytest
from click.testing import CliRunner

from batdispatch.cli.main import cli
from batdispatch.report.page import render
from batdispatch.results.runs import read_runs
from browsing import needs_browser, opened

pytestmark = pytest.mark.usefixtures("unillustrated")
EXAMPLES = Path(__file__).parents[3] / "schedulers" / "batdispatch" / "examples"
DISPATCHERS = ("fcfs", "easy", "powered[dispatcher=easy,sleep=idle,after=300]")
#: Column of the explorer's table of runs -> metric of the page's.
SAME = {1: "mean_waiting_time", 2: "max_waiting_time", 3: "utilisation", 6: "energy"}


_READ = """() => {
  const all = (of, what) => [...of.querySelectorAll(what)];
  const texts = (rows) => all(document, rows).map((row) => all(row, "td").map((td) => td.textContent));
  const table = document.querySelector("#overview-table"), heads = table.tHead.rows[0].cells;
  const unit = (td) => heads[td.cellIndex].querySelector(".unit")?.textContent ?? "";
  const value = (td) => [`${td.dataset.metric} ${td.dataset.run}`, `${td.firstChild.textContent} ${unit(td)}`];
  return {
    rows: texts("#explore-runs tr"),
    who: texts("#explore-who-rows tr"),
    worst: texts("#explore-longest tr").map((row) => row.at(-1)),
    table: Object.fromEntries(all(table, "td").map(value)),
  };
}"""


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("runs")
    words = ["platform", "generate", "flat", "--hosts", "64", "--power", "batsim-cluster", "-o", str(folder / "p.xml")]
    assert CliRunner().invoke(cli, words).exit_code == 0
    inputs = ["--platform", str(folder / "p.xml"), "--workload", str(EXAMPLES / "demo64.json")]
    for place, name in enumerate(DISPATCHERS):
        words = ["run", *inputs, "--dispatcher", name, "--energy", "exact", "--out", str(folder / str(place))]
        done = CliRunner().invoke(cli, words)
        assert done.exit_code == 0, done.output
    return render(read_runs([folder / str(place) for place in range(len(DISPATCHERS))]), explain=True)


@needs_browser
def test_values_and_units_are_those_of_the_tables(page: str, tmp_path: Path) -> None:
    with opened(page, tmp_path) as shown:
        shown.wait_for_function("document.querySelector('#explore-runs td')?.textContent")
        told = shown.evaluate(_READ)
    for place, row in enumerate(told["rows"]):
        for column, metric in SAME.items():
            text = row[column].partition(",")[0] if column == 2 else row[column]
            assert text.replace("\u00a0", " ") == told["table"][f"{metric} {place}"], (place, metric)
    units = [[text.split("\u00a0")[-1] for text in column] for column in list(zip(*told["who"], strict=True))[2:]]
    # Mean waits of both runs and their changes have one unit, the longest ones theirs, for each user.
    mean, longest = (told["table"][f"{name}_waiting_time 0"].split()[1] for name in ("mean", "max"))
    for column in (0, 1, 2, 4, 5):
        assert set(units[column]) == {mean}, column
    assert {*units[6], *units[7]} == {longest}
    assert {text.split("\u00a0")[1] for text in told["worst"]} == {longest}
    assert mean != longest
