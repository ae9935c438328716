"""What authors may rely on stays, and what goes away says so first."""

import re
import subprocess
import sys
import warnings
from pathlib import Path

import pytest

import batdispatch
import batdispatch.testing
from public_names import listed

ROOT = Path(__file__).parents[2]
#: The public names of the last release.
PROMISED = (Path(__file__).parent / "public_names.txt").read_text().splitlines()


def parts(line: str) -> tuple[str, list[str] | None]:
    """Return a name, and its parameters if it is a function."""
    name, bracket, rest = line.partition("(")
    return name, [each for each in rest.removesuffix(")").split(", ") if each] if bracket else None


NOW = dict(map(parts, listed()))


def keeps_promise(promised: list[str] | None, taken: list[str] | None) -> bool:
    """Return whether calls that the promised parameters allow still work with the ones that are taken now."""
    if promised is None or taken is None:
        return promised == taken
    # What was given in order still is, and what could be left out, or came since then, can be left out.
    order = [each.rstrip("=") for each in taken]
    return (
        order[: len(promised)] == [each.rstrip("=") for each in promised]
        and all(each in taken for each in promised if each.endswith("="))
        and all(each.endswith("=") or each.startswith("*") for each in taken[len(promised) :])
    )


def test_every_promised_name_is_there_and_takes_what_it_took() -> None:
    promised = dict(map(parts, PROMISED))
    assert promised.keys() - NOW.keys() == set(), "deprecate them first (docs/stability.md)"
    broken = {name: NOW[name] for name, taken in promised.items() if not keeps_promise(taken, NOW[name])}
    assert broken == {}


@pytest.mark.parametrize(
    ("promised", "taken"),
    [(["job"], ["scene"]), (["job", "limit="], ["job"]), (["job"], ["job", "limit"]), (["job"], None), (None, [])],
)
def test_a_parameter_that_was_renamed_or_went_or_must_be_given_breaks_a_promise(
    promised: list[str] | None, taken: list[str] | None
) -> None:
    assert not keeps_promise(promised, taken)


def test_the_list_has_every_name_of_the_package() -> None:
    # Names that came since the last release are added when a release is made; these are the ones of this version.
    promised = {line.split("(")[0] for line in PROMISED}
    for module in (batdispatch, batdispatch.testing):
        missing = {f"{module.__name__}.{name}" for name in module.__all__ if not name.startswith("__")} - promised
        assert {name for name in missing if not any(each.startswith(f"{name}.") for each in promised)} == set()


def test_every_public_name_stands_in_the_reference() -> None:
    text = "".join(page.read_text() for page in sorted((ROOT / "docs").glob("reference*.md")))
    shown = set(re.findall(r"^::: batdispatch\.[\w.]*?(\w+)$", text, re.MULTILINE))
    for module in (batdispatch, batdispatch.testing):
        assert {name for name in module.__all__ if not name.startswith("__")} <= shown


def test_every_public_thing_says_what_it_is() -> None:
    for module in (batdispatch, batdispatch.testing):
        for name in module.__all__:
            thing = getattr(module, name)
            if not name.startswith("__") and not isinstance(thing, tuple):
                assert thing.__doc__, name
                assert thing.__doc__.strip().splitlines()[0].endswith((".", ":")), name


def test_a_former_name_works_on_and_warns_where_it_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(batdispatch._FORMER, "Waiting", ("Job", "0.4.1"))
    with pytest.warns(DeprecationWarning, match="Waiting") as caught:
        assert batdispatch.Waiting is batdispatch.Job  # type: ignore[attr-defined]
    assert str(caught[0].message) == (
        "batdispatch.Waiting is deprecated since 0.4.1 and may be gone in 0.6.0: use batdispatch.Job"
    )
    assert caught[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert batdispatch.Job.__name__ == "Job"
    with pytest.raises(AttributeError, match="no attribute 'Nothing'"):
        batdispatch.Nothing  # type: ignore[attr-defined]  # noqa: B018


@pytest.mark.parametrize("name", ["events", "hostset", "whatif"])
def test_a_public_name_needs_nothing_imported_before(name: str) -> None:
    code = f"import batdispatch; assert batdispatch.{name}.__name__.endswith({name!r})"
    subprocess.run([sys.executable, "-c", code], check=True)
