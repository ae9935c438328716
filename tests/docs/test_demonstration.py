"""The picture on the first page shows what the code draws today."""

from __future__ import annotations

import importlib.util
from pathlib import Path

HOOK = Path(__file__).parents[2] / "docs/hooks/demonstration.py"


def test_the_picture_of_the_first_page_is_current(tmp_path: Path) -> None:
    spec = importlib.util.spec_from_file_location("demonstration", HOOK)
    assert spec is not None
    assert spec.loader is not None
    hook = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(hook)
    assert hook.simulate(tmp_path).exists()
    picture = hook.draw(tmp_path)
    assert hook.difference(picture, hook.PICTURE) <= hook.SAME, "run `make docs` and commit the picture"
    # A picture of another comparison is seen to differ.
    assert hook.difference(picture[:, ::-1], hook.PICTURE) > hook.SAME
