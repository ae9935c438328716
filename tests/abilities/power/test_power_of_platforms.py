"""Power states of platforms: what `generate --power` states, what `show` says of it, and what is said of wrong ones."""

import json
from pathlib import Path

import pytest

from batdispatch.abilities.power.doors.generate import NODES
from batdispatch.abilities.power.machine.facet import powers_of
from batdispatch.core.errors import InputError
from batdispatch.inputs.platforms import read_platform
from command_line import call
from recorded_energy import rows
from sites import HEAD, delays, hosts_of, simulated

#: Idle and peak watts, computing states; then watts asleep, seconds down and up.
EXPECTED = {
    "batsim-cluster": (95.0, 190.738, 13, (9.75, 6.1, 151.52)),
    "batsim-homogeneous": (30.0, 100.0, 1, (9.75, 2.0, 20.0)),
    "simgrid-cluster": (100.0, 200.0, 3, None),
}
KINDS = [("flat", "--hosts=6"), ("torus", "--dims=2,3")]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", sorted(NODES))
def test_generated_hosts_have_the_power_states_of_their_source(
    name: str, kind: tuple[str, ...], tmp_path: Path
) -> None:
    path = tmp_path / "p.xml"
    call("platform", "generate", *kind, "--power", name, "-o", path)
    machine = read_platform(path).machine
    idle, peak, count, sleep = EXPECTED[name]
    assert {id(power) for power in powers_of(machine)} == {id(powers_of(machine)[0])}
    power = powers_of(machine)[0]
    assert (power.states[0].idle, power.states[0].full, len(power.computing)) == (idle, peak, count)
    assert power.states[0].speed == machine.hosts[0].speed
    assert power.watts(0, 1.0) == peak
    found = [
        (power.watts(state, 0.0), pytest.approx(power.seconds_down(state)), pytest.approx(power.seconds_up(state)))
        for state in power.sleeps
    ]
    assert found == ([] if sleep is None else [sleep])


def test_show_tells_idle_peak_and_sleep_power(tmp_path: Path) -> None:
    path = tmp_path / "p.xml"
    call("platform", "generate", "flat", "--hosts=6", "--power", "batsim-cluster", "-o", path)
    said = "6 x 95 W idle, 190.738 W at most"
    asleep = "sleeps in state 13 at 9.75 W, 6.1 s to fall asleep, 151.52 s to wake up"
    words = " ".join(call("platform", "show", path).output.split())
    assert said in words
    assert asleep in words
    (kind,) = json.loads(call("platform", "show", path, "--json").output)["power"]
    assert (kind["idle"], kind["peak"], len(kind["computing"])) == (95.0, 190.738, 13)


def test_show_says_nothing_of_power_where_none_is_stated(tmp_path: Path) -> None:
    path = tmp_path / "p.xml"
    call("platform", "generate", "flat", "--hosts=6", "-o", path)
    assert "idle" not in call("platform", "show", path).output
    assert json.loads(call("platform", "show", path, "--json").output)["power"] is None


WATTS = '<prop id="wattage_per_state" value="100:200,10:10,120:120,140:140"/>'
WRONG = {
    "no watts": ("", r"p\.xml, line 4: host h1: it has no wattage_per_state, expected Idle:Epsilon:AllCores"),
    "too many watts": (
        WATTS.replace("100:200", "100:1e308"),
        r"p\.xml, line 4: host h1: wattage_per_state: '100:1e308' is malformed, expected Idle:.*, up to 1e\+12",
    ),
    "sleep without switching": (
        f'{WATTS}<prop id="sleep_pstates" value="1"/>',
        r"p\.xml, line 4: host h1: sleep_pstates: '1' is malformed, expected sleep:off:on, three power states",
    ),
    "busy hosts that burn less": (
        WATTS.replace("100:200", "200:150:100"),
        r"line 4: host h1: .*: power state 0 has 100 W with all cores busy, expected at least its 200 W idle",
    ),
    "no sleep": (WATTS, r"no host of the platform can sleep, expected the property sleep_pstates of some hosts"),
}


@pytest.mark.parametrize("case", sorted(WRONG))
def test_what_is_wrong_is_said_with_file_host_and_what_was_expected(case: str, tmp_path: Path) -> None:
    content, message = WRONG[case]
    hosts = hosts_of(2, content).replace('id="h0" speed="1Gf">' + content, f'id="h0" speed="1Gf">{WATTS}')
    text = f'{HEAD}<platform version="4.1"><zone id="all" routing="Full">{hosts}</zone></platform>'
    text = text.replace('speed="1Gf"', 'speed="1Gf,1f,1f,1f"')
    with pytest.raises(InputError, match=message):
        simulated(tmp_path, "powered[sleep=idle]", text, [], delays(10))


@pytest.mark.parametrize(("start", "ends"), [(1, "17.000000"), (0, "15.000000")])
def test_a_host_may_begin_in_a_state_to_sleep_in_that_is_written_with_speed_0(
    start: int, ends: str, tmp_path: Path
) -> None:
    sleeps = f'{WATTS}<prop id="sleep_pstates" value="1:2:3"/>'
    hosts = hosts_of(1, sleeps).replace('speed="1Gf"', f'speed="1Gf,0f,1f,0.5f" pstate="{start}"')
    text = f'{HEAD}<platform version="4.1"><zone id="all" routing="Full">{hosts}</zone></platform>'
    jobs = [{"id": "a", "subtime": 5, "res": 1, "profile": "d10"}]
    simulated(tmp_path, "powered[sleep=idle]", text, jobs, delays(10))
    assert rows(tmp_path / "run" / "jobs.csv")[0]["finish_time"] == ends
