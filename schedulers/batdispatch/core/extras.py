"""Which libraries a plain installation leaves out, and what to say where one of them is needed and missing.

What a run of the common dispatchers needs is always installed. The other libraries come with *extras*, such as
``pip install '.[report]'`` in a checkout. What needs an extra says so before it begins (`check`), so that nobody waits
for a simulation that cannot end.
"""

from __future__ import annotations

from importlib.util import find_spec

from batdispatch.core.errors import InputError

#: Extra -> the libraries that it brings for code of this package: as they are imported, and as people call them.
EXTRAS: dict[str, dict[str, str]] = {
    "cp": {"ortools": "OR-Tools", "scipy": "SciPy"},
    "stochastic": {"scipy": "SciPy"},
    "topology": {"scipy": "SciPy"},
    "report": {
        "pandas": "pandas",
        "matplotlib": "matplotlib",
        "evalys": "evalys",
        "jinja2": "Jinja2",
        "scipy": "SciPy",
    },
    "campaign": {"yaml": "PyYAML", "pyarrow": "pyarrow", "snakemake": "Snakemake"},
}


def check(extra: str | None, what: str, *, also: str = "") -> None:
    """Check that the libraries of an extra are installed, without importing them.

    Args:
        extra: one of `EXTRAS`; None: nothing is needed.
        what: needs them; the beginning of a sentence, such as ``the dispatcher 'hcp19'``.
        also: what else can be done, the end of that sentence.

    Raises:
        InputError: a library is missing; the sentence names it, the extra and the command.
    """
    missing = missing_libraries(extra) if extra is not None else None
    if missing is not None:
        raise InputError(f"{what} needs {missing}{also}")


def missing_libraries(extra: str) -> str | None:
    """Return which libraries of an extra are not installed, and how to install them, or None if all are there."""
    missing = [name for module, name in EXTRAS[extra].items() if not _is_there(module)]
    if not missing:
        return None
    listed = missing[0] if len(missing) == 1 else f"{', '.join(missing[:-1])} and {missing[-1]}"
    return f"{listed}, which {'is' if len(missing) == 1 else 'are'} not installed: {command(extra)}"


def command(extra: str) -> str:
    """Return the command that installs an extra from where this copy came: a checkout, a wheel, or an index."""
    return f"pip install '{_origin()}[{extra}]'"


def _origin() -> str:
    """Return what pip was told to install: ``.`` in a checkout, the path of a checkout or wheel, or the name."""
    # Only who lacks something pays for these imports.
    import json
    from importlib import metadata
    from pathlib import Path
    from urllib.parse import unquote, urlsplit

    try:
        said = metadata.distribution("batdispatch").read_text("direct_url.json")
    except metadata.PackageNotFoundError:
        said = None
    # PEP 610: pip writes it where a file or folder was installed, and not where an index was asked.
    url = urlsplit(json.loads(said)["url"]) if said else None
    if url is None or url.scheme != "file" or not (place := Path(unquote(url.path))).exists():
        return "batdispatch"
    return "." if place == Path.cwd() else str(place)


def explanation_of(problem: ImportError) -> InputError | None:
    """Return the sentence for an import that failed since a library of an extra is missing, or None for another one."""
    library = (problem.name or "").partition(".")[0]
    bringing = [extra for extra, brings in EXTRAS.items() if library in brings]
    if not bringing or _is_there(library):
        return None
    extra = min(bringing, key=lambda extra: len(EXTRAS[extra]))
    name = EXTRAS[extra][library]
    return InputError(f"this needs {name}, which is not installed: {command(extra)}")


def _is_there(module: str) -> bool:
    try:
        return find_spec(module) is not None
    except (ImportError, ValueError):
        return False
