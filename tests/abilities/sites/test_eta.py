"""``batdispatch eta`` as people call it: from accounts, from what was learned, and from a run of ours."""

import json
import math
import re
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from batdispatch.abilities.kernels import library
from batdispatch.abilities.sites.doors.eta import experience
from batdispatch.abilities.sites.doors.eta.calendar import Calendar
from command_line import Answer, call

DATA = Path(__file__).parents[2] / "data" / "slurm_queue"
pytestmark = pytest.mark.skipif(bool(library.why_missing()), reason=library.why_missing() or "-")
ZONE = ("--time-zone", "UTC")


@pytest.fixture(scope="module", autouse=True)
def _few_moments() -> Iterator[None]:
    """Ask about a fifth of the moments: each takes 60 simulations, and no answer here hangs on how many there are."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(experience, "MOMENTS", 80)
        yield


@pytest.fixture(scope="module")
def accounts(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a log of jobs that waited on four processors, submitted before the queue was taken."""
    folder = tmp_path_factory.mktemp("eta")
    free, lines = [0] * 4, ["; MaxProcs: 4", "; UnixStartTime: 1795000000"]
    for number in range(1, 300):
        submit, units, lasts = 100 * number, 1 + number % 3, 100 + (37 * number) % 200
        free.sort()
        start = max(submit, free[units - 1])
        free[:units] = [start + lasts] * units
        fields = [number, submit, start - submit, lasts, units, -1, -1, units, 400, -1, 1, number % 5, *[-1] * 6]
        lines.append(" ".join(map(str, fields)))
    path = folder / "site.swf"
    path.write_text("\n".join(lines) + "\n")
    (folder / "later.swf").write_text(path.read_text().replace("1795000000", "1796000000"))
    return path


@pytest.fixture(scope="module")
def learned(accounts: Path) -> Path:
    path = accounts.parent / "learned.json"
    answer = call("eta", "--accounts", accounts, "--learned", path)
    assert answer.status == 0, answer.err
    assert "the machine has 4 hosts: MaxProcs 4" in answer.err
    assert "learned of 299 jobs and at" in answer.err
    return path


@pytest.fixture(autouse=True)
def wide(monkeypatch: pytest.MonkeyPatch) -> None:
    """Print tables as in a pipe, whatever the terminal."""
    monkeypatch.setenv("COLUMNS", "130")


def ask(*words: object) -> Answer:
    return call("eta", "--queue", DATA / "squeue.txt", *ZONE, *words)


def test_what_was_learned_gives_what_the_accounts_give(accounts: Path, learned: Path) -> None:
    first, second = ask("--accounts", accounts, "--json"), ask("--learned", learned, "--json")
    assert first.status == second.status == 0, first.err + second.err
    assert json.loads(first.out) == json.loads(second.out)
    found = json.loads(second.out)
    assert (found["units"], found["unit"], found["free"], found["dispatcher"]) == (4, "hosts", 1, "easy")
    assert [job["job"] for job in found["jobs"]] == ["3", "4", "5", "6", "7"]
    assert [job["place"] for job in found["jobs"]] == [1, 2, 3, 4, 5]
    by_id = {job["job"]: job for job in found["jobs"]}
    # Job 2 gives its node back after 5 min at the latest, job 1 its two after 10 min: then there are 3 nodes.
    assert by_id["3"]["plan"] == 600.0
    assert by_id["4"]["plan"] == 0.0
    assert by_id["3"]["reason"] == "short of hosts: 1 hosts free, 3 asked for"
    assert by_id["4"]["reason"].endswith("; 1 job that came before it wait for 3 hosts")
    assert [record["share"] for record in found["records"]] == [0.5, 0.9]
    for job in found["jobs"]:
        lowest, low, median, high, highest = job["quantiles"]
        assert lowest <= low <= median <= high <= highest
        assert job["median"] == median
        assert job["interval_50"] == [low, high]
        # More work comes to this site than it can do, and what was learned was too short by then.
        assert job["interval_90"] is None


def test_a_learned_file_knows_its_partition(tmp_path: Path) -> None:
    """Jobs of `batch` fill 4 cores; `other` has one of 50 at any time, which is no part of what is learned."""
    free, rows = [0] * 4, ["JobID|User|Partition|Submit|Start|ElapsedRaw|TimelimitRaw|State|NNodes|AllocCPUS"]
    for number in range(1, 100):
        submit, units, lasts = 1_795_000_000 + 100 * number, 1 + number % 3, 100 + (37 * number) % 200
        free.sort()
        start = max(submit, free[units - 1])
        free[:units] = [start + lasts] * units
        rows.append(f"{2 * number}|ada|batch|{submit}|{start}|{lasts}|10|COMPLETED|1|{units}")
        rows.append(f"{2 * number + 1}|bob|other|{submit}|{submit}|100|10|COMPLETED|1|50")
    (tmp_path / "accounts.txt").write_text("\n".join(rows) + "\n")
    table = (DATA / "squeue.txt").read_text()
    (tmp_path / "queue.txt").write_text(table + table.splitlines()[1].replace("3|root|batch", "8|bob|other") + "\n")
    learned = tmp_path / "learned.json"
    made = call("eta", "--accounts", tmp_path / "accounts.txt", "--learned", learned, "--partition", "batch", *ZONE)
    assert made.status == 0, made.err
    assert json.loads(learned.read_text())["partition"] == "batch"
    words = ("eta", "--queue", tmp_path / "queue.txt", "--learned", learned, *ZONE)
    answers = [call(*words, "--json", *more) for more in ((), ("--partition", "batch"))]
    # Job 1 has 8 cores, which is more than the accounts ever saw.
    assert {answer.status for answer in answers} == {2}, answers[0].out
    assert answers[0].err == answers[1].err
    smaller = (tmp_path / "queue.txt").read_text().replace("|RUNNING|2|8|", "|RUNNING|2|2|").replace("|1|4|", "|1|1|")
    (tmp_path / "queue.txt").write_text(smaller)
    answers = [call(*words, "--json", *more) for more in ((), ("--partition", "batch"))]
    assert {answer.status for answer in answers} == {0}, answers[0].err
    assert answers[0].out == answers[1].out
    found = json.loads(answers[0].out)
    assert (found["units"], found["free"], [job["job"] for job in found["jobs"]]) == (4, 1, ["3", "4", "5", "6", "7"])
    refused = call(*words, "--partition", "other")
    assert refused.status == 2
    assert "was learned of partition batch, not of partition other: give --accounts" in refused.err


def test_a_file_learned_of_the_whole_machine_is_of_no_partition(learned: Path) -> None:
    refused = ask("--learned", learned, "--partition", "batch")
    assert refused.status == 2
    assert "was learned of the whole machine, not of partition batch" in refused.err


@pytest.mark.parametrize(
    ("stated", "said"),
    [
        (("--dispatcher", "esy"), "was learned with --dispatcher easy, not esy: give --accounts"),
        (("--dispatcher", "fcfs"), "was learned with --dispatcher easy, not fcfs: give --accounts"),
        (("--units", "cores"), "was learned with --units hosts, not cores: give --accounts"),
    ],
)
def test_what_was_learned_otherwise_than_stated_is_refused(stated: tuple[str, str], said: str, learned: Path) -> None:
    refused = ask("--learned", learned, *stated)
    assert refused.status == 2
    assert said in refused.err
    # What it was learned with may be stated.
    option = stated[0]
    same = {"--dispatcher": "easy", "--units": "hosts"}[option]
    assert ask("--learned", learned, option, same).out == ask("--learned", learned).out


def test_one_job_is_told_with_what_it_waits_for(learned: Path) -> None:
    answer = ask("--learned", learned, "--job", "3")
    assert answer.status == 0
    assert "at 2026-11-23 19:08 (UTC), 1 of 4 hosts are free; easy; calibrated at" in answer.out
    assert "3: short of hosts: 1 hosts free, 3 asked for" in answer.out
    assert re.search(r" starts in, min +start +50 %, min +no interval, min +by walltimes, min\n", answer.out)
    assert re.search(r"\nthe interval of 50 % held \d+ % of the last \d+ starts of which we know\n", answer.out)
    assert re.search(
        r"\nthe interval of 90 % held \d+ % of the last \d+ starts .*: too few, so it is none\n", answer.out
    )
    assert "4: " not in answer.out
    assert "; Slurm says Resources\n3: " in answer.out


def test_one_job_is_told_what_would_let_it_start_sooner(learned: Path) -> None:
    """Two nodes are there once job 2 has ended, three once job 1 has."""
    found = json.loads(ask("--learned", learned, "--job", "3", "--job", "4", "--json").out)["jobs"]
    assert [job["slurm_reason"] for job in found] == ["Resources", "Priority"]
    size = found[0]["remedies"][0]
    assert (size["units"], size["walltime"]) == (2, 1200.0)
    assert size["median"] < found[0]["median"] - 60.0
    assert datetime.fromisoformat(size["date"]) < datetime.fromisoformat(found[0]["date"])
    assert found[1]["remedies"] == []
    told = ask("--learned", learned, "--job", "3", "--job", "4").out
    day = size["date"][5:16].replace("T", " ")
    assert re.search(rf"\n3: with 2 hosts it starts in [\d.]+ min, {day}\n", told)
    assert told.endswith("\n4: no smaller size or shorter walltime that was tried lets it start sooner\n")
    assert {job["remedies"] for job in json.loads(ask("--learned", learned, "--json").out)["jobs"]} == {None}


def test_a_queue_of_one_of_our_runs(accounts: Path, tmp_path: Path) -> None:
    run = tmp_path / "run"
    made = call("compare", accounts, "--dispatchers", "easy", "--no-report", "--out", run)
    assert made.status == 0, made.err
    answer = call("eta", "--run", run / "easy", "--at", "20000", "--json")
    assert answer.status == 0, answer.err
    found = json.loads(answer.out)
    # The run's clock shows 0 when the first job comes, 2026-11-18T11:06:40 + 100 s; the log names no zone.
    assert (found["taken"], found["zone"]) == ("2026-11-18T16:41:40+00:00", "UTC")
    assert found["moments"] > 50
    assert found["jobs"]


def test_times_of_the_table_have_one_unit(learned: Path) -> None:
    jobs = json.loads(ask("--learned", learned, "--json").out)["jobs"]
    middle = sorted(job["median"] for job in jobs if job["median"])[sum(bool(job["median"]) for job in jobs) // 2]
    scale, unit = next(each for each in ((86400, "d"), (3600, "h"), (60, "min"), (1, "s")) if middle >= 2 * each[0])
    head, *lines = (line for line in ask("--learned", learned).out.splitlines() if re.match(r"([3-7]|job) ", line))
    assert re.findall(r", (\w+)(?:\s|$)", head) == [unit] * 5
    rows = [re.sub(r"\d\d-\d\d \d\d:\d\d", "", line).replace(" to ", " ").split() for line in lines]
    assert len(rows) == len(jobs)
    for job, (_, _, _, *said) in zip(jobs, rows, strict=True):
        times = [job["waited"], job["median"], *(job["quantiles"][place] for place in (1, 3, 0, 4)), job["plan"]]
        shown = [float(text.replace(",", "")) for text in said]
        assert shown == pytest.approx([seconds / scale for seconds in times], rel=5e-3)


def json_dates(found: dict[str, Any]) -> list[float]:
    """Check that each date of an estimate lies as long after its moment as its duration says; return the offsets, h."""
    taken, offsets = datetime.fromisoformat(found["taken"]), []
    for job in found["jobs"]:
        seconds = [job["median"], job["plan"], *job["quantiles"]]
        for after, text in zip(seconds, [job["date"], job["plan_date"], *job["quantile_dates"]], strict=True):
            date = datetime.fromisoformat(text)
            assert (date - taken).total_seconds() == pytest.approx(after, abs=1.0)
            ahead = date.utcoffset()
            offsets += [] if ahead is None else [ahead.total_seconds() / 3600]
    return offsets


def test_starts_are_dates_in_the_zone_of_the_accounts(accounts: Path, learned: Path) -> None:
    """Summer has gone in Berlin: an hour ahead of UTC. The queue was taken at 1795460880, 19:08 in UTC."""
    text, snapshot = DATA / "squeue.txt", DATA / "squeue.json"
    found = json.loads(call("eta", "--queue", snapshot, "--learned", learned, "--json").out)
    assert (found["taken"][10:16], found["zone"]) == ("T19:08", "UTC")
    assert set(json_dates(found)) == {0.0}

    ahead = ("--learned", learned, "--time-zone", "Europe/Berlin", "--json")
    berlin = json.loads(call("eta", "--queue", snapshot, *ahead).out)
    assert (berlin["taken"][10:16], berlin["zone"]) == ("T20:08", "Europe/Berlin")
    assert set(json_dates(berlin)) == {1.0}

    # Dates without a zone are shown as they stand.
    plain = json.loads(call("eta", "--queue", text, "--learned", learned, "--json").out)
    assert (plain["taken"], plain["zone"]) == ("2026-11-23T19:08:01", "")
    assert json_dates(plain) == []

    home = accounts.parent / "berlin.swf"
    home.write_text("; TimeZoneString: Europe/Berlin\n" + accounts.read_text())
    kept = accounts.parent / "berlin.json"
    assert call("eta", "--accounts", home, "--learned", kept).status == 0
    from_log = json.loads(call("eta", "--queue", snapshot, "--learned", kept, "--json").out)
    assert from_log == berlin


def test_a_queue_unlike_its_history_has_no_interval_and_one_line_says_why(learned: Path, tmp_path: Path) -> None:
    queue = tmp_path / "squeue.txt"
    queue.write_text((DATA / "squeue.txt").read_text().replace("3|root|batch|PENDING|3|", "3|root|batch|PENDING|9|"))
    asked = ("--queue", queue, "--learned", learned, *ZONE)
    why = "1 of 5 waiting jobs ask for more than the 4 hosts of the history's machine"
    found = json.loads(call("eta", *asked, "--json").out)
    assert found["misfit"] == why
    assert {job["interval_50"] for job in found["jobs"]} == {None}
    told = call("eta", *asked).out
    assert f"\nthis queue is unlike the history, so that no interval can be trusted: {why}\n" in told
    assert len(re.findall("no interval, min  ", told)) == 2
    assert json.loads(ask("--learned", learned, "--json").out)["misfit"] == ""


def test_table_has_the_date_of_each_start(learned: Path) -> None:
    jobs = json.loads(ask("--learned", learned, "--json").out)["jobs"]
    lines = ask("--learned", learned).out.splitlines()
    for job in jobs:
        line = next(line for line in lines if line.startswith(f"{job['job']} "))
        assert f" {job['date'][5:16].replace('T', ' ')} " in line


@pytest.mark.parametrize(
    ("begin", "zone", "moment", "date"),
    [
        (0.0, "", 86_400.0 * 365 * 30, "1999-12-25T00:00:00"),
        # Berlin put its clocks back at 01:00 UTC on 25 October 2026, 1792890000 s after 1970.
        (1_792_890_000.0, "Europe/Berlin", -1.0, "2026-10-25T02:59:59+02:00"),
        (1_792_890_000.0, "Europe/Berlin", 0.4, "2026-10-25T02:00:00+01:00"),
        (0.0, "", 1000.0, None),
        (0.0, "UTC", 1e300, None),
        (0.0, "UTC", math.inf, None),
    ],
)
def test_date_of_a_moment(begin: float, zone: str, moment: float, date: str | None) -> None:
    assert Calendar(begin, zone).date(moment) == date


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ((), "a queue is needed (--queue FILE, or --run DIR)"),
        (("--queue", DATA / "squeue.txt"), "option --queue: needs a past: --accounts LOG, or --learned FILE"),
        (("--run", "x"), "option --run: needs --at SECONDS"),
        (("--run", "x", "--at", "3", "--queue", "y"), "option --run: has a queue and a past of its own"),
        (("--queue", "absent", "--learned", "{learned}"), "absent: cannot be read"),
        (("--queue", DATA / "squeue.txt", "--learned", DATA / "squeue.json"), "is nothing that batdispatch eta"),
        (("--queue", DATA / "squeue.txt", "--learned", "{learned}", "--job", "99"), "option --job: '99' does not wait"),
        (("--queue", DATA / "squeue.txt", "--learned", "{learned}", "--machine", "9"), "was made of accounts"),
        (("--queue", DATA / "squeue.txt", "--accounts", "{accounts}", "--partition", "x"), "partition 'x'"),
        (
            ("--queue", DATA / "squeue.txt", "--accounts", "{accounts}", "--machine", "2"),
            "option --machine: the accounts have jobs on 4 hosts at a time, which is more than 2",
        ),
        (
            ("--queue", DATA / "squeue.txt", "--accounts", "{folder}/later.swf"),
            "the queue: was taken 158.",
        ),
        (("--queue", DATA / "squeue.txt", "--learned", "{learned}", "--at", "1795460000"), "is --at right?"),
        (("--accounts", "{accounts}", "--learned", "{folder}/n.json", "--dispatcher", "best-list"), "has no kernel"),
    ],
)
def test_what_is_wrong_is_one_message(words: tuple[object, ...], message: str, accounts: Path, learned: Path) -> None:
    places = {"learned": learned, "accounts": accounts, "folder": accounts.parent}
    answer = call("eta", *(str(word).format(**places) for word in words))
    assert answer.status == 2
    assert answer.out == ""
    last = answer.err.strip().splitlines()[-1]
    assert message in last
    assert "Traceback" not in answer.err
