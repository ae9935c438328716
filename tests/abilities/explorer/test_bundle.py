"""Modules become one script that does the same, and what is not a module as we write them is refused."""

import re
from importlib import resources

import pytest

from batdispatch.abilities.explorer.section import script_text
from batdispatch.report.bundle import bundle_script

FILES = {
    "main.js": 'import { twice } from "./sums/twice.js";\n'
    'import { one as single } from "./one.js";\nuse(twice(single));\n',
    "sums/twice.js": 'import { one } from "../one.js";\nconst own = 2;\nexport function twice(value) {\n}\n',
    "one.js": "export const one = 1;\nconst own = 1;\nexport class More {}\nexport async function later() {}\n",
}


def test_a_module_comes_once_and_after_those_it_imports() -> None:
    script = bundle_script("main.js", FILES.__getitem__)
    assert re.findall(r"^modules\['(.*)'\] = ", script, re.MULTILINE) == ["one.js", "sums/twice.js", "main.js"]
    assert "const { one: single } = modules['one.js'];\nuse(twice(single));\nreturn {  };" in script
    assert (
        "\nconst one = 1;\nconst own = 1;\nclass More {}\nasync function later() {}\nreturn { More, later, one };"
        in script
    )
    assert not re.search(r"^(import|export)\b", script, re.MULTILINE)


@pytest.mark.parametrize(
    ("changed", "problem"),
    [
        ({"one.js": "const one = 1;\n"}, "imports one, which one.js does not export"),
        ({"one.js": 'import { twice } from "./sums/twice.js";\nexport const one = 1;\n'}, "imports itself by a detour"),
        ({"one.js": "export default 1;\n"}, "found 'export default 1;'"),
        ({"main.js": 'import * as all from "./one.js";\n'}, "found 'import"),
    ],
)
def test_what_is_written_otherwise_is_refused(changed: dict[str, str], problem: str) -> None:
    with pytest.raises(ValueError, match=re.escape(problem)):
        bundle_script("main.js", (FILES | changed).__getitem__)


def test_the_explorer_has_no_module_that_nobody_imports() -> None:
    assets = resources.files("batdispatch.abilities.explorer") / "assets"
    read = set()

    def noted(path: str) -> str:
        read.add(path)
        return script_text(path)

    for main in ("main.js", "families/main.js"):
        bundle_script(main, noted)
    here = [one.name for one in assets.iterdir() if one.name.endswith(".js")]
    for folder in assets.iterdir():
        if folder.is_dir():
            here += [f"{folder.name}/{one.name}" for one in folder.iterdir() if one.name.endswith(".js")]
    assert sorted(read) == sorted([*here, "words.js"])
