"""What hosts burnt asleep and switching, from the files that Batsim wrote, beside each host by itself.

Both files of a recording tell the same moments: one in six digits, the other in microseconds.
"""

from pathlib import Path

import pytest

from batdispatch.abilities.power.engine.energy_files import CHANGES
from batdispatch.abilities.power.engine.energy_files import ENERGY as FILE
from batdispatch.abilities.power.machine.facet import powers_of
from batdispatch.abilities.power.results import split as power_split
from batdispatch.abilities.power.results.rows import read_power
from batdispatch.abilities.power.results.split import PowerSplit
from batdispatch.core.hosts import hostset
from batdispatch.core.machine.machine import Machine
from batdispatch.inputs.platforms import read_platform
from recorded_energy import ENERGY

FOLDERS = sorted(
    path.parent
    for path in ENERGY.glob(f"batsim[45]/*/{CHANGES}")
    if len(path.read_text().splitlines()) > 3 and (path.parent / FILE).stat().st_size > 100
)


def machine_of(folder: Path) -> Machine:
    words = (folder / "options.txt").read_text().split()
    name = next(word for word in words if word.endswith(".xml")).rpartition("/")[2]
    return read_platform(ENERGY / "platforms" / name, master="master_host").machine


def seconds_by_hand(folder: Path, machine: Machine) -> list[tuple[float, float, float, int]]:
    """Return (from, to, watts, 0 asleep or 1 switching) of each host, by the printed times."""
    spans = []
    for host, power in enumerate(powers_of(machine)):
        since, level, kind = 0.0, 0.0, -1
        asleep: int | None = None
        rows = [row.split(",") for row in (folder / CHANGES).read_text().splitlines()[1:]]
        rows = [row for row in rows if hostset.from_text(row[1]) >> host & 1]
        for index, (time, _, state) in enumerate(rows):
            spans.append((since, float(time), level, kind))
            since, pstate = float(time), int(state)
            reached = pstate if pstate >= 0 else int(rows[index + 1][2])
            if pstate >= 0:
                asleep = pstate if pstate in power.sleeps else None
                speed, idle, _, full = power.states[pstate]
                # What is written 0f burns as if it were fully loaded.
                kind, level = (0, idle if speed else full) if asleep is not None else (-1, 0.0)
            elif asleep is not None or reached in power.sleeps:
                virtual = power.sleeps[reached][0] if asleep is None else power.sleeps[asleep][1]
                _, _, epsilon, full = power.states[virtual]
                kind, level = 1, epsilon + (full - epsilon) / power.cores
        spans.append((since, 1e9, level, kind))
    return spans


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: f"{folder.parent.name}-{folder.name}")
def test_the_split_of_recordings_is_that_of_each_host_by_itself(folder: Path) -> None:
    machine = machine_of(folder)
    end = float((folder / FILE).read_text().splitlines()[-1].partition(",")[0])
    changes = read_power(folder, changes=True).changes
    assert changes is not None
    split = PowerSplit(machine, changes)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(power_split, "_PAIRS", 3)
        in_blocks = PowerSplit(machine, changes)
    assert [*in_blocks.between(0.0, end)] == pytest.approx(split.between(0.0, end))
    halves = split.between(0.0, 0.4 * end), split.between(0.4 * end, end)
    assert [*map(sum, zip(*halves, strict=True))] == pytest.approx(split.between(0.0, end))
    expected = [0.0, 0.0]
    for begin, until, watts, kind in seconds_by_hand(folder, machine):
        if kind >= 0:
            expected[kind] += watts * max(min(until, end) - begin, 0.0)
    assert [*split.between(0.0, end)[:2]] == pytest.approx(expected, rel=2e-3, abs=1)
