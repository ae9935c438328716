"""The picture on the first page shows what the code draws today, and evalys draws the demonstration."""

import io
from pathlib import Path
from types import ModuleType

import pytest
from matplotlib.image import imread

from manual import hook_of


@pytest.fixture(scope="module")
def hook() -> ModuleType:
    return hook_of("demonstration")


@pytest.fixture(scope="module")
def folder(hook: ModuleType, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("demonstration")
    assert hook.simulate(folder).exists()
    return folder


def test_the_picture_of_the_first_page_is_current(hook: ModuleType, folder: Path) -> None:
    picture = hook.draw(folder)
    assert hook.difference(picture, hook.PICTURE) <= hook.SAME, "run `make docs` and commit the picture"
    # A picture of another comparison is seen to differ.
    assert hook.difference(picture[:, ::-1], hook.PICTURE) > hook.SAME


def test_evalys_draws_who_ran_where(hook: ModuleType, folder: Path) -> None:
    pictures = {label: hook.drawn_by_evalys(folder, label) for label in ("easy", "fcfs")}
    easy, fcfs = (imread(io.BytesIO(picture)) for picture in pictures.values())
    assert easy.shape == fcfs.shape == (720, 1080, 4)
    # Different runs, different pictures; the same run, the same one.
    assert hook.drawn_by_evalys(folder, "easy") == pictures["easy"]
    assert abs(easy - fcfs).mean() > 0.02
    # The lower half is mostly coloured by jobs: the machine is used by 70 %.
    chart = easy[400:680, 80:]
    grey = (chart[..., :3].max(axis=-1) - chart[..., :3].min(axis=-1)) < 0.02
    assert 0.55 < 1 - grey.mean() < 0.75
