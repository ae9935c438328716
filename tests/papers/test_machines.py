"""The machines of papers: their nodes, and what each node offers."""

from pathlib import Path

from batdispatch.inputs.platforms import Platform, read_platform
from batdispatch_papers.esp.machine import esp
from batdispatch_papers.eurora.machine import eurora
from batdispatch_papers.kit.machine import forhlr2


def read(folder: Path, content: bytes) -> Platform:
    path = folder / "generated.xml"
    path.write_bytes(content)
    return read_platform(path)


def test_eurora_is_64_nodes_with_two_accelerators_each(tmp_path: Path) -> None:
    machine = read(tmp_path, eurora()).machine
    total = dict(zip(machine.resources, machine.total().tolist(), strict=True))
    assert machine.size == 64
    assert total == {"core": 1024, "gpu": 64, "mic": 64, "memory": 64 * 16384}
    gpu, mic = machine.resources.index("gpu"), machine.resources.index("mic")
    assert machine.capacity[:, mic].tolist() == [2] * 32 + [0] * 32
    assert machine.capacity[:, gpu].tolist() == [0] * 32 + [2] * 32


def test_forhlr2_has_24048_cores(tmp_path: Path) -> None:
    machine = read(tmp_path, forhlr2()).machine
    total = dict(zip(machine.resources, machine.total().tolist(), strict=True))
    assert machine.size == 1173
    assert total == {"core": 24048, "gpu": 84, "memory": 1152 * 64 * 1024 + 21 * 1024 * 1024}
    assert len(machine.class_capacity) == 2


def test_esp_cluster(tmp_path: Path) -> None:
    machine = read(tmp_path, esp()).machine
    assert machine.resources == ("core", "gpu")
    assert machine.total().tolist() == [8192, 2048]
    assert read(tmp_path, esp(nodes=4, gpus=0)).machine.resources == ("core",)
