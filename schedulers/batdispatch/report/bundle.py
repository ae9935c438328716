"""Modules of JavaScript as one script: a page that needs nothing but itself has no addresses to import from.

A module becomes a function that is called once, after those that it imports, and returns what it exports: its names are
its own, as in a browser. It may use of the language's imports and exports what such lines need:
``import { a, b as c } from "./file.js";`` on one line each, and ``export`` before ``const NAME``, ``class``,
``function`` and ``async function``.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable

_IMPORT = re.compile(r'^import \{ (?P<names>[^}]*) \} from "(?P<path>\.[^"]*)";$', re.MULTILINE)
_EXPORT = re.compile(r"^export (?=(?:async )?(?:function|class|const) (?P<name>\w+))", re.MULTILINE)
_LEFT = re.compile(r"^\s*(?:import|export)\b.*", re.MULTILINE)


def bundle_script(main: str, read: Callable[[str], str]) -> str:
    """Return a script that does what a module and those that it imports do.

    Args:
        main: path of the module.
        read: text of a module, by its path: names and slashes.

    Raises:
        ValueError: a module imports what another one does not export, or itself by a detour, or is written otherwise.
    """
    return _Bundle(read).script(main)


class _Bundle:
    def __init__(self, read: Callable[[str], str]) -> None:
        self._read = read
        #: Path of a module -> the names that it exports; None: it is being gone through.
        self._exports: dict[str, set[str] | None] = {}
        self._parts: list[str] = []

    def script(self, main: str) -> str:
        self._add(main)
        return '"use strict";\nconst modules = {};\n' + "\n".join(self._parts)

    def _add(self, path: str) -> set[str]:
        if path in self._exports:
            exports = self._exports[path]
            if exports is None:
                raise ValueError(f"{path} imports itself by a detour")
            return exports
        self._exports[path] = None
        text = self._read(path)

        def imported(line: re.Match[str]) -> str:
            source = posixpath.normpath(posixpath.join(posixpath.dirname(path), line["path"]))
            there = self._add(source)
            names = [name.split(" as ") for name in line["names"].split(", ")]
            if missing := [name[0] for name in names if name[0] not in there]:
                raise ValueError(f"{path} imports {', '.join(missing)}, which {source} does not export")
            return f"const {{ {', '.join(': '.join(name) for name in names)} }} = modules[{source!r}];"

        text = _IMPORT.sub(imported, text)
        exports = {export["name"] for export in _EXPORT.finditer(text)}
        text = _EXPORT.sub("", text)
        if left := _LEFT.search(text):
            raise ValueError(f"{path}: expected an import or export as bundle.py states, found {left[0].strip()!r}")
        self._parts.append(f"modules[{path!r}] = (() => {{\n{text}return {{ {', '.join(sorted(exports))} }};\n}})();\n")
        self._exports[path] = exports
        return exports
