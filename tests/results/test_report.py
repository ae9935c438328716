import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lxml import html

from batdispatch.core.errors import InputError
from batdispatch.report.comparison import KEY_METRICS, inputs, metric_rows, warnings
from batdispatch.report.html import formula
from batdispatch.report.page import render, write_report
from batdispatch.report.page_sections import _leaves
from batdispatch.results.metrics.compute import METRICS, metrics
from batdispatch.results.metrics.rows import metric_row
from batdispatch.results.numbers import duration_unit, durations, number
from batdispatch.results.runs import find_runs, read_run, read_runs
from sealing import seal


@pytest.fixture
def compared(recordings):
    return [recordings / "scheduling" / f"burst.{name}" for name in ("fcfs_fast", "easy_bf", "conservative_bf")]


@pytest.fixture(scope="module")
def page(recordings):
    names = ("fcfs_fast", "easy_bf", "conservative_bf")
    return render(read_runs([recordings / "scheduling" / f"burst.{name}" for name in names]))


def result(folder, **keys):
    (folder / "result.json").write_text(json.dumps(keys))
    seal(folder)


def cells(page, section, heading):
    table = page.get_element_by_id(section).find(".//table")
    for line in table.iter("tr"):
        texts = [cell.text_content().strip() for cell in line]
        if texts and texts[0].startswith(heading):
            return list(line)
    raise AssertionError(heading)


def test_the_page_is_complete_in_itself(compared, tmp_path):
    path = write_report(compared, tmp_path / "deep" / "page.html")
    assert path == tmp_path / "deep" / "page.html"
    assert list(path.parent.iterdir()) == [path]
    text = path.read_text()
    page = html.fromstring(text)
    for element in page.iter("link", "script", "img", "iframe", "image", "use", "a"):
        for name in ("src", "href", "{http://www.w3.org/1999/xlink}href", "xlink:href"):
            assert element.get(name, "#").startswith(("#", "data:")), html.tostring(element)[:200]
    outside = {url for url in re.findall(r"https?://[^\"' <)]+", text) if "www.w3.org" not in url}
    assert outside == set()
    assert "@import" not in text
    ids = page.xpath("//@id")
    assert len(ids) == len(set(ids))
    for target in page.xpath("//a/@href"):
        assert target[1:] in ids
    assert len(page.xpath("//figure")) == 4


def test_the_same_runs_give_the_same_bytes(compared, page):
    assert render(read_runs(compared)) == page


def test_values_and_the_best_of_them(compared, page):
    runs = read_runs(compared)
    page = html.fromstring(page)
    line = cells(page, "metrics", "mean wait")
    values = [float(cell.text_content().replace("(best)", "").strip()) for cell in line[1:]]
    assert values == pytest.approx([run.metrics["mean_waiting_time"] / 3600 for run in runs], rel=5e-3)
    best = [cell.get("class") == "best" for cell in line[1:]]
    assert best == [value == min(values) for value in values]
    utilisation = cells(page, "metrics", "utilisation")
    assert [cell.get("class") for cell in utilisation[1:]].count("best") == 1
    assert utilisation[0].text_content().endswith("%")
    # A rank for everything that has one; counts of jobs have none.
    assert not any(cell.get("class") for cell in cells(page, "metrics", "jobs")[1:])
    shown = page.get_element_by_id("overview-table").findall(".//tbody/tr")
    assert [row.find("th").text_content() for row in shown] == [run.label for run in runs]
    assert float(shown[0].findall("td")[0].get("data-value")) == runs[0].metrics["mean_waiting_time"]


def test_each_metric_on_the_page_is_defined(page):
    page = html.fromstring(page)
    for name in ("mean_waiting_time", "utilisation", "max_queue_length"):
        assert metrics()[name].summary in page.get_element_by_id(f"def-{name}").getnext().text_content()


def test_hostile_names_stay_text(write_jobs):
    folder = write_jobs({"a": {"metadata": '"<script>alert(1)</script>"'}}, 'run"><script>alert(1)</script>')
    result(
        folder,
        dispatcher="<img src=x onerror=alert(1)>",
        options={"<b>": "</style><script>alert(1)</script>"},
        rejected=[{"job": "<i>", "reason": "{{ 7 * 7 }}</ul>"}],
        command="batdispatch run --workload '<script>'",
        workload={"path": "</title><script>alert(1)</script>.json"},
        report={"note": "<script>alert(1)</script>"},
    )
    other = write_jobs({"a": {}, "b": {"state": "REJECTED"}}, "$x_1$ & co")
    text = render(read_runs([folder, other]), title="<script>alert(1)</script>")
    page = html.fromstring(text)
    scripts = page.xpath("//script")
    # The data of the explorer is JSON in which no tag can stand.
    assert [script.get("type") for script in scripts] == [None, "application/json", None, None]
    assert "<" not in scripts[1].text
    assert not any("alert(1)" in script.text for script in scripts if script.get("type") is None)
    assert page.xpath("//img | //b | //i[not(ancestor::section[@id='definitions'])]") == []
    assert page.find(".//h1").text_content() == "<script>alert(1)</script>"
    assert "{{ 7 * 7 }}" not in page.get_element_by_id("inputs").text_content()


def test_warns_when_runs_do_not_compare(write_jobs):
    same = {"batdispatch": "1", "engine": {"name": "embedded", "version": "1"}, "seed": 0}
    platform, workload = {"path": "p.xml", "sha256": "1", "hosts": 4}, {"path": "w.json", "sha256": "2"}
    one, two = write_jobs({"a": {}}, "one"), write_jobs({"a": {}}, "two")
    result(one, **same, platform=platform, workload=workload)
    result(two, **same, platform=platform, workload=workload)
    assert warnings(read_runs([one, two])) == []
    for changed, message in (
        ({"platform": platform | {"sha256": "x"}}, "different machines"),
        ({"workload": workload | {"sha256": "x"}}, "different jobs"),
        ({"engine": {"name": "batsim", "version": "4.2.1"}}, "different engines"),
        ({"decision_time": "measured"}, "decision time differently"),
        ({"seed": 5}, "different seeds"),
        ({"batdispatch": "2"}, "different versions"),
        ({"fallbacks": 3}, "two: a solver gave up 3 times"),
        ({"report": {"warnings": ["7 jobs ran for long"]}}, "two: 7 jobs ran for long."),
        ({"batdispatch": ""}, "No result.json says what went into two"),
    ):
        result(two, **(same | {"platform": platform, "workload": workload} | changed))
        found = warnings(read_runs([one, two]))
        assert any(message in sentence for sentence in found), (message, found)
    assert "Mind when comparing" in render(read_runs([one, two]))
    three = write_jobs({"a": {"submission": 1.0, "start": 1.0, "finish": 2.0}}, "three")
    result(three, **same, platform=platform, workload=workload)
    assert any("different jobs" in sentence for sentence in warnings(read_runs([one, three])))


@pytest.mark.parametrize(
    ("changed", "differ"),
    [
        ({}, False),
        ({"submission": 0.5}, True),
        ({"units": 2, "hosts": "0-1"}, True),
        ({"start": 7.0, "finish": 8.0}, False),
    ],
)
def test_jobs_are_the_same_if_names_submissions_and_sizes_are(write_jobs, changed, differ):
    """When and where a job ran is the dispatcher's doing."""
    one, two = write_jobs({"a": {}, "b": {}}, "one"), write_jobs({"a": {}, "b": changed}, "two")
    named = write_jobs({"a": {}, "c": {}}, "named")
    assert any("different jobs" in sentence for sentence in warnings(read_runs([one, two]))) == differ
    assert any("different jobs" in sentence for sentence in warnings(read_runs([one, named])))


def test_rejected_jobs_stand_in_the_first_table_if_any_run_has_some(write_jobs):
    whole, some = write_jobs({"a": {}, "b": {}}, "whole"), write_jobs({"a": {}, "b": {"state": "REJECTED"}}, "some")

    def told(*folders):
        rows = metric_rows(read_runs(list(folders)), only=KEY_METRICS)
        return {row.metric.name: [cell.text for cell in row.cells] for row in rows}

    assert told(whole, some)["nb_jobs_rejected"] == ["0", "1"]
    assert "nb_jobs_rejected" not in told(whole)


def test_a_run_alone_is_not_warned_of_what_cannot_be_compared(write_jobs):
    bare, other = write_jobs({"a": {}}, "bare"), write_jobs({"a": {}}, "other")
    assert warnings(read_runs([bare])) == []
    assert any("whether they compare is not known" in sentence for sentence in warnings(read_runs([bare, other])))


def test_attempts_of_jobs_have_rows_of_their_own(write_jobs):
    killed = {"state": "COMPLETED_WALLTIME_REACHED", "finish": 4.0}
    tried = write_jobs(
        {"a": killed, "a~2": {"submission": 4.0, "start": 4.0, "finish": 14.0}, "b": {"units": 2}}, "tried"
    )
    (tried / "lineage.csv").write_text("job_id,workload_name,parent\na~2,w0,a\n")
    once = write_jobs({"a": {}, "b": {"units": 2}}, "once")
    for folder in (tried, once):
        result(folder, batdispatch="1", platform={"path": "p.xml", "sha256": "1", "hosts": 3})
    runs = read_runs([tried, once])
    assert warnings(runs) == [], "a further attempt is no other job"
    assert next(fact.values for fact in inputs(runs) if fact.name == "jobs") == ["2", "2"]
    page = html.fromstring(render(runs))
    for heading, texts in (
        ("effective utilisation %", ["71.4", "100"]),
        ("mean response time s", ["12", "10"]),
        ("failures per job", ["0.500", "0"]),
        ("wasted work unit h", ["0.00111", "0"]),
    ):
        assert [cell.text_content() for cell in cells(page, "metrics", heading)[1:]] == [
            texts[0],
            *[texts[1] + (" (best)" if "work" in heading or "%" in heading or texts[1] != texts[0] else "")],
        ], heading
    assert "over all their attempts" in page.text_content()
    assert "over all their attempts" not in render(runs[1:])


def test_what_differs_and_what_does_not(write_jobs):
    one, two = write_jobs({"a": {}}, "one"), write_jobs({"a": {}}, "two")
    result(one, options={"ordering": "fcfs", "placement": "first-fit"}, seed=1)
    result(two, options={"ordering": "sjf", "placement": "first-fit"}, seed=1)
    facts = {fact.name: fact for fact in inputs(read_runs([one, two]))}
    assert facts["option ordering"].values == ["fcfs", "sjf"]
    assert not facts["option ordering"].same
    assert facts["seed"].same
    assert "platform" not in facts


def test_rejections_are_told_by_reason(write_jobs):
    folder = write_jobs({"a": {}} | {f"r{i}": {"state": "REJECTED"} for i in range(8)})
    rejected = [{"job": f"r{i}", "reason": "needs 9 hosts, the machine has 4"} for i in range(7)]
    result(folder, rejected=[*rejected, {"job": "r7", "reason": "needs a gpu"}])
    text = html.fromstring(render(read_runs([folder]))).get_element_by_id("rejected").text_content()
    assert "7 needs 9 hosts, the machine has 4 (r0, r1, r2, r3, r4, ...)" in text
    assert "1 needs a gpu (r7)" in text


@pytest.mark.parametrize("jobs", [{}, {"r": {"state": "REJECTED"}}, {"a": {"finish": 0.0}}])
def test_runs_in_which_little_happened(write_jobs, jobs):
    page = html.fromstring(render(read_runs([write_jobs(jobs)])))
    assert page.find(".//h1").text_content() == "run"


def run_on_a_shared_node(folder, call):
    """Run the workload w.json of a folder on one node with cores and a GPU, into out."""
    (folder / "p.xml").write_text(
        "<?xml version='1.0'?><!DOCTYPE platform SYSTEM 'https://simgrid.org/simgrid.dtd'><platform version='4.1'>"
        "<zone id='z' routing='Full'><host id='h' speed='1Gf'><prop id='capacity' value='core=4 gpu=1'/>"
        "</host></zone></platform>"
    )
    arguments = ["--platform", folder / "p.xml", "--workload", folder / "w.json"]
    status, _, err = call("run", *arguments, "--dispatcher", "fcfs", "--out", folder / "out")
    assert status == 0, err


def test_shared_nodes(tmp_path, write_jobs, call):
    demo = {"jobs": [{"id": "a", "subtime": 0, "res": 2, "profile": "d", "demand": {"core": 1}}]}
    (tmp_path / "w.json").write_text(json.dumps({"nb_res": 1, "profiles": {"d": {"type": "delay", "delay": 9}}} | demo))
    run_on_a_shared_node(tmp_path, call)
    run = read_run(tmp_path / "out")
    assert run.metrics["utilisation_core"] == pytest.approx(0.5)
    text = render([run])
    assert "Utilisation: core" in text
    assert "have changed since" not in text
    (tmp_path / "w.json").write_text("{}")
    assert "have changed since" in render([run])


def test_labels_are_made_different(write_jobs):
    folders = [write_jobs({"a": {}}, name) for name in ("x/easy", "y/easy", "z/fcfs")]
    assert [run.label for run in read_runs(folders)] == ["x/easy", "y/easy", "z/fcfs"]


def test_a_comparison_is_found_in_its_folder(write_jobs, tmp_path):
    for name in ("all/easy", "all/fcfs", "all/report/x"):
        write_jobs({"a": {}}, name)
    assert [folder.name for folder in find_runs([tmp_path / "all", tmp_path / "all" / "easy"])] == ["easy", "fcfs"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[]", "Expected `object`"),
        ("{", "truncated"),
        ('{"seed": "x"}', r"\$.seed"),
        ('{"options": 3}', r"\$.options"),
        ('{"a": ' + "[" * 100_000 + "]" * 100_000 + "}", "."),
    ],
)
def test_a_malformed_result_is_refused(write_jobs, text, message):
    folder = write_jobs({"a": {}})
    (folder / "result.json").write_text(text)
    with pytest.raises(InputError, match=message) as caught:
        read_run(folder)
    assert "result.json" in str(caught.value)


def test_numbers_for_people():
    assert duration_unit([7300.0, 10.0]) == (3600.0, "h")
    assert duration_unit([0.0]) == (1.0, "s")
    assert duration_unit([3e-5])[1] == "µs"
    assert [number(x) for x in (0, 1234567, 0.01234, 123.456, 1.0, float("inf"))] == [
        "0",
        "1,234,567",
        "0.0123",
        "123",
        "1",
        "∞",
    ]


def test_durations_have_one_unit_where_one_suits_all():
    assert durations([7300.0, 3600.0]) == (["2.03", "1"], "h")
    # A column that reached from an hour and a half to four days read 0.0662 d.
    assert durations([5720.0, 354_000.0]) == (["1.59", "98.3"], "h")
    texts, unit = durations([2.0, None, 30 * 86400.0])
    assert ([text.replace("\u00a0", " ") for text in texts], unit) == (["2 s", "n/a", "30 d"], "")
    assert durations([0.0, None]) == (["0", "n/a"], "s")


@given(st.lists(st.one_of(st.none(), st.just(0.0), st.floats(1e-6, 1e9)), min_size=1))
def test_no_duration_is_a_small_fraction_of_its_unit(values):
    texts, unit = durations(values)
    scales = {"d": 86400, "h": 3600, "min": 60, "s": 1, "ms": 1e-3, "µs": 1e-6}
    for value, text in zip(values, texts, strict=True):
        if value:
            figure, _, own = text.replace(",", "").partition("\u00a0")
            assert float(figure) >= 0.5
            assert float(figure) * scales[unit or own] == pytest.approx(value, rel=0.01)


def test_what_a_dispatcher_says_is_told_in_words():
    facts = {
        "calls": 1234,
        "predictions": {"under_estimated": 3, "by": {"user": 0.5}},
        "note": "x",
        "best": None,
        "on": True,
    }
    assert dict(_leaves(facts)) == {
        "calls": "1,234",
        "predictions, under estimated": "3",
        "predictions, by, user": "0.500",
        "note": "x",
        "best": "none",
        "on": "True",
    }


def test_resources_that_nobody_uses_have_no_curve(tmp_path, call):
    jobs = [{"id": "a", "subtime": 0, "res": 2, "profile": "d", "demand": {"core": 1}}]
    (tmp_path / "w.json").write_text(
        json.dumps({"nb_res": 1, "profiles": {"d": {"type": "delay", "delay": 9}}, "jobs": jobs})
    )
    run_on_a_shared_node(tmp_path, call)
    text = render([read_run(tmp_path / "out")])
    assert "Utilisation: core" in text
    assert "Utilisation: gpu" not in text


def test_what_reads_the_same_is_equally_good():
    metric = METRICS["makespan"]
    assert not any(cell.best for cell in metric_row(metric, [1000000.0, 1000001.0, None]).cells)
    assert [cell.best for cell in metric_row(metric, [10.0, 20.0, 10.0, None]).cells] == [True, False, True, False]
    assert metric_row(METRICS["utilisation"], [0.5]).cells[0].text == "50"


def test_formulas_are_set():
    assert str(formula("sum_j w_j <= tau * mean_waiting & x_i^2")) == (
        "Σ<sub>j</sub> w<sub>j</sub> ≤ τ * mean_waiting &amp; x<sub>i</sub>²"
    )


def test_report_command(write_jobs, tmp_path, call):
    write_jobs({"a": {}}, "all/easy")
    write_jobs({"a": {}}, "all/fcfs")
    status, out, err = call("report", tmp_path / "all")
    assert (status, err) == (0, "")
    assert out.strip() == str(tmp_path / "all" / "report" / "index.html")
    assert (tmp_path / "all" / "report" / "index.html").read_text().endswith("</html>\n")
    status, out, _ = call("report", tmp_path / "all" / "easy", "-o", tmp_path / "page.html", "--json")
    answer = json.loads(out)
    assert answer["runs"][0]["metrics"]["nb_jobs"] == 1
    assert answer["report"] == str(tmp_path / "page.html")
    status, out, err = call("report", tmp_path / "nowhere")
    assert (status, out) == (2, "")
    assert "nowhere: is not a folder" in err


def test_a_wrong_run_leaves_no_page(write_jobs, tmp_path, call):
    folder = write_jobs({"a": {"hosts": "5-2"}})
    status, _, err = call("report", folder, "-o", tmp_path / "out" / "page.html")
    assert status == 2
    assert "job 'a'" in err
    assert "5-2" in err
    assert not (tmp_path / "out").exists()


@pytest.mark.reallogs
def test_runs_of_an_older_batsim(shared, tmp_path):
    folders = sorted(path.parent for path in shared.glob("batsim-outputs/medium_late/*/out_jobs.csv.xz"))
    runs = read_runs(folders)
    assert all(run.hosts == 32 for run in runs)
    by_label = {run.label: run for run in runs}
    assert by_label["easy"].metrics["mean_waiting_time"] == pytest.approx(9.516326, abs=1e-5)
    assert by_label["easy"].metrics["utilisation"] == pytest.approx(256450.464 / (32 * 16088.51), rel=1e-6)
    assert "different machines" not in render(runs)
