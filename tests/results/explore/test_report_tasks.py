"""The questions of docs/report-tasks.md, answered by doing in the demonstration's page what the manual says."""

import re
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from batdispatch.report.page import render
from batdispatch.results.runs import read_runs
from batdispatch.runs.run import execute
from batdispatch.runs.spec import RunSpec
from browsing import browse, needs_browser

ROOT = Path(__file__).parents[3]
EXAMPLES = ROOT / "schedulers" / "batdispatch" / "examples"

CLICKS = """
await until(() => window.explorer && window.explorer.layout.width);
const by = (id) => document.getElementById("explore-" + id);
const peaks = () => [...document.querySelectorAll("#explore-charts figure button")];
const choose = (id, text) => {
  const list = by(id);
  list.selectedIndex = [...list.options].findIndex((option) => option.textContent === text);
  list.dispatchEvent(new Event("change"));
};
const find = (text) => { by("name").value = text; by("find").requestSubmit(); };
const cells = (id) => [...by(id).rows].map((row) => [...row.cells].map((cell) => cell.textContent));
const pair = (from, to) => { choose("base", from); choose("other", to); };
const answers = [];

// 1 and 2: the extremes of the mean changes, in one unit.
pair("easy", "conservative");
choose("group", "user");
const units = { s: 1, min: 60, h: 3600, days: 86400 };
const seconds = (text) => {
  const [amount, unit] = text.replace("\\u2212", "-").split("\\u00a0");
  return Number(amount) * units[unit];
};
const users = cells("groups").sort((a, b) => seconds(a[2]) - seconds(b[2]));
answers.push(`${users[0][0].slice(5)}: ${users[0][2]}`, `${users.at(-1)[0].slice(5)}: ${users.at(-1)[2]}`);

// 3 to 5: the peak of the queue.
await until(() => peaks()[0].textContent.includes("day"));
answers.push(peaks()[0].textContent.replace("fcfs ", ""));
peaks()[0].click();
const [, waiting, , idle, fit, first] = cells("instant-rows")[0];
const [, job, asks] = first.match(/^(\\d+) .*asks for (\\d+ units)/);
answers.push(`${idle} hosts are idle, but job ${job} asks for ${asks}`, `${fit} of ${waiting}`);

// 6 and 7: a job.
find("72");
const waits = Object.fromEntries(cells("job-rows").map((row) => [row[0], row[1]]));
const less = seconds(waits.easy) < seconds(waits.fcfs);
answers.push(`${less ? "Yes" : "No"}: ${waits.easy} instead of ${waits.fcfs}`);
const easy = [...by("job-rows").rows].find((row) => row.cells[0].textContent === "easy");
answers.push(easy.querySelector(".why").textContent.match(/Held most by [^,]*/)[0]);

// 8: the dearest loss.
const [loser] = cells("losers");
answers.push(`${loser[0]}: ${loser.at(-1)}`);

// 9 and 10: large jobs, and all.
choose("size", [...by("size").options].at(-1).textContent);
const said = /, (\\d+) of (\\d+) jobs wait less .* and (\\d+) wait longer/;
const [, fewer, all, more] = by("pair-said").textContent.match(said);
answers.push(`${fewer} of ${all} jobs wait less and ${more} longer`);
by("reset").click();
const [, low, high] = by("pair-said").textContent.match(/interval of (.+?) to (.+?) by/);
const sure = seconds(low) * seconds(high) > 0;
answers.push(`${sure ? "It can be said" : "Nobody can say"}: ${low} to ${high}`);
return answers;
"""


def answers() -> list[str]:
    """Return the last column of the manual's table."""
    rows = re.findall(r"^\| \d+ \|.*$", (ROOT / "docs" / "report-tasks.md").read_text(), re.MULTILINE)
    return [row.split("|")[4].strip() for row in rows]


@needs_browser
def test_the_page_answers_what_the_manual_says(tmp_path: Path) -> None:
    folders = [tmp_path / name for name in ("fcfs", "easy", "conservative")]
    for folder in folders:
        platform, workload = str(EXAMPLES / "flat64.xml"), str(EXAMPLES / "demo64.json")
        execute(RunSpec(platform=platform, workload=workload, dispatcher=folder.name), folder)
    with ThreadPoolExecutor(1) as workers:
        # Reasons begun beside the pictures are those that are found in turn.
        page = render(read_runs(folders), workers=workers)
    told = browse(page, CLICKS, tmp_path)
    plain = [answer.replace("\u00a0", " ").replace("\u2212", "-") for answer in told]
    assert len(plain) == 10
    assert plain == answers()
