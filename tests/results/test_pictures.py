from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lxml import etree
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure

from batdispatch.core.hosts.hostsets import parse_many
from batdispatch.report import style
from batdispatch.report.curves import POINTS, STEPS, distribution_figure, load_curve, load_figure, step_curve, stretch
from batdispatch.report.evalys_bridge import jobset, quiet
from batdispatch.report.gantt import GANTT_JOBS, LABELLED_JOBS, VECTOR_RECTANGLES, WAITS, _paint, gantt
from batdispatch.report.pictures import compared_curves
from batdispatch.results.frame import frame_of
from batdispatch.results.jobs_file import read_columns
from batdispatch.results.lineage import lineage_of
from batdispatch.results.runs import read_runs

spans = st.lists(st.tuples(st.integers(0, 50), st.integers(0, 20), st.integers(1, 5)), min_size=1, max_size=15)


def arrays(jobs):
    begin = np.array([float(a) for a, _, _ in jobs])
    return begin, begin + np.array([float(b) for _, b, _ in jobs]), np.array([float(w) for *_, w in jobs])


@given(spans)
def test_a_load_curve_is_what_is_under_way_and_that_of_evalys(jobs):
    begin, end, weight = arrays(jobs)
    times, load = load_curve(begin, end, weight)
    with quiet():
        from evalys.metrics import compute_load
    columns = {"jobID": np.arange(len(begin)), "submission_time": begin, "waiting_time": 0.0}
    frame = pd.DataFrame({**columns, "execution_time": end - begin, "weight": weight})
    theirs = compute_load(frame, "starting_time", "finish_time", "weight")["load"]
    assert (theirs.index.tolist(), theirs.tolist()) == (times.tolist(), load.tolist())
    assert times.tolist() == sorted(set(begin) | set(end))
    for time, value in zip(times, load, strict=True):
        assert value == sum(w for a, b, w in zip(begin, end, weight, strict=True) if a <= time < b)


def test_jobs_that_follow_each_other_leave_no_spike():
    # 0.1 + 0.2 is a little more than 0.3, where the next job starts.
    times, load = load_curve(np.array([0.1, 0.3]), np.array([0.1 + 0.2, 0.7]), np.array([4.0, 4.0]))
    assert times.tolist() == [0.1, 0.3, 0.7]
    assert load.tolist() == [4.0, 4.0, 0.0]


@settings(max_examples=20)
@given(st.integers(STEPS + 1, 3 * STEPS), st.integers(0, 5), st.floats(100, 1e9))
def test_averaging_a_curve_keeps_its_area(count, seed, end):
    random = np.random.default_rng(seed)
    times = np.sort(random.uniform(0.1 * end, 0.9 * end, count))
    load = np.append(random.integers(0, 9, count - 1), 0).astype(float)
    edges, values = step_curve(times, load, 0.0, end)
    assert len(edges) == len(values) <= POINTS + 1
    assert (edges[0], edges[-1]) == (0.0, end)
    assert (values[:-1] * np.diff(edges)).sum() == pytest.approx((load[:-1] * np.diff(times)).sum())


def test_a_year_is_averaged_over_weeks_and_a_day_over_quarters_of_an_hour():
    assert stretch(0.0, 365 * 86400.0) == 7 * 86400.0
    assert stretch(0.0, 86400.0) == 900.0
    assert stretch(0.0, 60.0) == 60.0


def test_a_short_curve_is_drawn_as_it_is():
    edges, values = step_curve(np.array([1.0, 2.0]), np.array([3.0, 0.0]), 0.0, 5.0)
    assert edges.tolist() == [0, 1, 2, 5]
    assert values.tolist() == [0, 3, 0, 0]


def random_jobs(count, hosts, seed=0):
    random = np.random.default_rng(seed)
    first = random.integers(0, hosts - 1, count)
    size = np.minimum(random.integers(1, 4, count), hosts - first)
    start = random.uniform(0, 900, count)
    return parse_many([f"{a}-{a + n - 1}" for a, n in zip(first, size, strict=True)]), start, start + 100 / count * 8


@pytest.mark.parametrize("hosts", [3, 64, 700, 5000])
def test_the_painted_area_is_the_utilisation(hosts):
    # One job a host, one after the other, so that nothing overlaps.
    begin = np.linspace(0, 900, hosts)
    intervals = parse_many([str(host) for host in range(hosts)])
    image = _paint(intervals, begin, begin + 100, np.zeros(hosts, dtype=np.int64), hosts, 0.0, 1000.0)
    assert (image[..., 3] / 255).mean() == pytest.approx(0.1, abs=0.006)
    # Host 0 runs first and stands in the lowest row.
    assert image[0, :50, 3].mean() > image[0, -50:, 3].mean()


def svg_of(figure, prefix="x"):
    text = style.to_svg(figure, prefix, 'a "title" & <more>')
    return etree.fromstring(text.encode(), etree.XMLParser(resolve_entities=False, huge_tree=True))


def jobs_of(recordings, name="scheduling/burst.easy_bf"):
    return read_columns(recordings / name / "jobs.csv")


def test_each_size_has_its_gantt_chart(recordings, write_jobs):
    small = read_columns(write_jobs({f"j{i}": {"hosts": str(i)} for i in range(5)}) / "jobs.csv")
    figure = gantt(small, 6)
    [axes] = figure.axes
    assert len(axes.patches) == 5
    assert [text.get_text() for text in axes.texts] == [f"j{i}" for i in range(5)]
    assert axes.get_ylim() == (0, 6)

    jobs = {f"j{i}": {"hosts": str(i % 128)} for i in range(GANTT_JOBS + 1)}
    middle = read_columns(write_jobs(jobs, "middle") / "jobs.csv")
    [axes] = gantt(middle, 128).axes
    rectangles = len(middle.hosts.first)
    assert rectangles <= VECTOR_RECTANGLES
    assert len(axes.collections[0].get_paths()) == rectangles

    large = jobs_of(recordings, "scheduling/crowded.easy_bf")
    assert len(large.hosts.first) > VECTOR_RECTANGLES
    [axes] = gantt(large, 128).axes
    assert len(axes.images) == 1


def test_the_chart_of_few_jobs_has_the_rectangles_and_labels_of_evalys(recordings):
    columns = jobs_of(recordings, "scheduling/burst.easy_bf")
    columns = columns.take(np.flatnonzero(columns.ran)[:LABELLED_JOBS])
    [axes] = gantt(columns, 128).axes
    seconds, _ = style.time_unit(float(columns.finish_time.max() - columns.submission_time.min()))
    frame = frame_of(columns)
    frame[["starting_time", "finish_time"]] /= seconds
    frame["execution_time"] = frame["finish_time"] - frame["starting_time"]
    figure = Figure()
    with quiet():
        from evalys.visu.gantt import GanttVisualization

        theirs = GanttVisualization(SimpleNamespace(fig=figure, spec=figure.add_gridspec(1, 1)[0]), title="")
        theirs.build(jobset(frame, 128))

    def drawn(chart):
        boxes = [(*box.get_xy(), box.get_width(), box.get_height()) for box in chart.patches]
        return boxes, [(text.get_text(), text.xy) for text in chart.texts]

    assert drawn(axes) == drawn(figure.axes[0])
    assert len(axes.texts) >= LABELLED_JOBS


def test_a_colour_says_how_long_a_job_waited(write_jobs):
    waits = [0.0, 60.0, 599.0, 7200.0, 86400.0]
    jobs = {f"j{i}": {"start": w, "finish": w + 10, "hosts": str(i)} for i, w in enumerate(waits)}
    [axes] = gantt(read_columns(write_jobs(jobs) / "jobs.csv"), 5).axes
    labels = [text.get_text() for text in axes.get_legend().get_texts()]
    assert labels == ["waited < 1 min", "< 10 min", "< 6 h", "1 day +"]
    assert len(WAITS) == 6


@pytest.mark.parametrize("jobs", [{}, {"r": {"state": "REJECTED"}}])
def test_nothing_ran_and_still_a_picture(write_jobs, jobs):
    columns = read_columns(write_jobs(jobs) / "jobs.csv")
    svg_of(gantt(columns, 4, begin=0.0, end=0.0))
    empty = np.zeros(0)
    svg_of(load_figure({"a": (empty, empty, empty)}, label="x", total=None, begin=0, end=0))
    svg_of(distribution_figure({"a": empty}, label="x", durations=True))


def test_pictures_are_the_same_every_time_and_take_the_pages_ink(recordings):
    one, other = (style.to_svg(gantt(jobs_of(recordings), 128), "g", "t") for _ in range(2))
    assert one == other
    assert "currentColor" in one
    assert style.INK not in one
    assert "<metadata" not in one


def test_names_are_text_in_a_picture():
    empty = (np.array([0.0]), np.array([1.0]), np.array([1.0]))
    figure = load_figure({"$x^2$ <b>": empty, "b&c": empty}, label="l", total=None, begin=0, end=1)
    texts = {element.text for element in svg_of(figure).iter("{*}text")}
    assert {"$x^2$ <b>", "b&c"} <= texts


def sizes(figure):
    """Draw a figure and return the size of each of its axes in pixels of a page 600 pixels wide."""
    style.to_svg(figure, "p", "t")
    scale = 600 / figure.get_figwidth()
    inches = figure.get_size_inches()
    return [tuple(axes.get_position().size * inches * scale) for axes in figure.axes]


LONG = "attempts,dispatcher=easy_ordering=sjf_,requests=toptimal_grid=200_"


@pytest.mark.parametrize(("runs", "name"), [(1, "easy"), (6, LONG), (7, "easy"), (12, LONG)])
def test_any_number_of_runs_leaves_room_for_the_curves(runs, name, recwarn):
    leaves_room(runs, name, recwarn)


@pytest.mark.slow
@pytest.mark.parametrize("runs", [1, 6, 7, 12, 24, 50])
@pytest.mark.parametrize("name", ["easy", LONG])
def test_any_number_of_runs_with_any_name_leaves_room_for_the_curves(runs, name, recwarn):
    leaves_room(runs, name, recwarn)


def leaves_room(runs, name, recwarn):
    one = np.array([0.0, 5.0]), np.array([4.0, 9.0]), np.array([1.0, 2.0])
    spans = {f"{name},seed={number}": one for number in range(runs)}
    figure = load_figure(spans, label="hosts", total=None, begin=0.0, end=9.0)
    found = sizes(figure)
    assert len(found) == (runs if runs > 6 else 1)
    assert min(width for width, _ in found) > 120
    assert min(height for _, height in found) > (60 if runs > 6 else 100)
    waits = {label: np.array([float(10 * number), 60.0]) for number, label in enumerate(spans)}
    assert len(sizes(distribution_figure(waits, label="wait", durations=True))) == len(found)
    # A layout that has no room for the axes says so in a warning, and cuts them. Files that tests before left open say
    # so whenever they are collected.
    told = [str(warning.message) for warning in recwarn.list if warning.category is not ResourceWarning]
    assert told == []


def test_each_of_many_runs_has_its_own_curve_and_the_first_behind_it():
    spans = {f"r{number}": (np.array([0.0]), np.array([9.0]), np.array([number + 1.0])) for number in range(8)}
    figure = load_figure(spans, label="hosts", total=None, begin=0.0, end=9.0)
    for number, axes in enumerate(figure.axes):
        assert axes.get_title() == f"r{number}"
        tops = [line.get_ydata().max() for line in axes.lines]
        assert tops == ([1.0] if number == 0 else [1.0, number + 1.0])


def test_a_legend_names_the_curves_that_are_there():
    empty = np.zeros(0)
    values = {"nothing": empty, "a": np.array([2.0]), "b": np.array([3.0])}
    [axes] = distribution_figure(values, label="wait", durations=True).axes
    legend = axes.get_legend()
    names = [text.get_text() for text in legend.get_texts()]
    colours = [line.get_color() for line in legend.get_lines()]
    assert names == ["a", "b"]
    assert colours == [line.get_color() for line in axes.lines] == list(style.SERIES[1:3])


def test_evalys_says_nothing(recordings, capfd, recwarn):
    runs = read_runs([recordings / "batsim4" / "delay", recordings / "batsim4" / "kill"])
    assert len(compared_curves(runs, {})) == 4
    captured = capfd.readouterr()
    assert (captured.out, captured.err) == ("", "")
    assert [str(w.message) for w in recwarn if "evalys" in str(w.filename)] == []


def test_all_curves_can_be_told_apart():
    styles = [tuple(style.series_style(i).values()) for i in range(24)]
    assert len(set(styles)) == 24


def test_a_chart_marks_where_jobs_are_resized(write_jobs):
    """a goes from hosts 0-3 to 0-1 and back; its further attempt of the same size is no resize."""
    jobs = {
        "a": {"hosts": "0-3", "start": 0, "finish": 10, "units": 4},
        "a~2": {"hosts": "0-1", "start": 10, "finish": 20, "units": 2},
        "a~3": {"hosts": "0-3", "start": 20, "finish": 30, "units": 4},
        "b": {"hosts": "4", "start": 0, "finish": 10, "units": 1},
        "b~2": {"hosts": "5", "start": 12, "finish": 20, "units": 1},
    }
    columns = read_columns(write_jobs(jobs) / "jobs.csv")
    lineage = lineage_of(columns, {"w0!a~2": "w0!a", "w0!a~3": "w0!a~2", "w0!b~2": "w0!b"})
    [axes] = gantt(columns, 6, lineage=lineage).axes
    (marks,) = [one for one in axes.collections if isinstance(one, LineCollection)]
    assert [path.vertices.tolist() for path in marks.get_paths()] == [[[10, 0], [10, 2]], [[20, 0], [20, 2]]]
    assert axes.get_legend().get_texts()[-1].get_text() == "resized"
    [axes] = gantt(columns, 6).axes
    assert not [one for one in axes.collections if isinstance(one, LineCollection)]
