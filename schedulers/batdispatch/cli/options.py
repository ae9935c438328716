"""Options and their help, made of structs of settings: each field is an option, see `core.line.settings`."""

from __future__ import annotations

import functools
import math
import types
import typing
from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from typing import Any

import click
import msgspec
from click.core import ParameterSource

from batdispatch.cli.groups import OTHER_OPTIONS, Choice, option
from batdispatch.cli.pipe import InputPath
from batdispatch.core.errors import InputError
from batdispatch.core.line.settings import Form, Setting, default_text, settings_of, struct_of

#: A function with click's parameters on it, as `click.command` takes it.
Function = Callable[..., Any]


class Number(click.FloatRange):
    """A bounded number. Not-a-number, which no comparison would refuse, is refused."""

    called = "number"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the number that a text stands for."""
        number = super().convert(value, param, ctx)
        if math.isnan(number):
            self.fail(f"{value!r} is no {self.called}.", param, ctx)
        return number


class Seconds(Number):
    """A bounded number of seconds."""

    called = "number of seconds"


def options(
    struct: type[msgspec.Struct],
    *,
    only: Collection[str] = (),
    leave: Collection[str] = (),
    first: str = "",
    needed: bool = True,
    texts: Mapping[str, str] | None = None,
) -> Callable[[Function], Function]:
    """Give a command an option for each field of a struct; its function is called with the struct, before all else.

    Args:
        struct: of the settings.
        only: the fields that are options; none: all.
        leave: fields that are none. They have their defaults, or else the empty text.
        first: the field that stands before the others in the help.
        needed: whether a field without a default has to be given; it is the empty text otherwise.
        texts: of fields of which the command says something else.
    """
    settings = [one for one in settings_of(struct) if one.name not in leave and (not only or one.name in only)]
    settings.sort(key=lambda one: one.name != first)

    def add(function: Function) -> Function:
        @functools.wraps(function)
        def call(*structs: msgspec.Struct, **given: Any) -> Any:
            values = {one.name: given.pop(one.name) for one in settings}
            return function(*structs, struct_of(struct, values), **given)

        added: Function = call
        for one in reversed(settings):
            added = _option(one, (texts or {}).get(one.name, one.text), needed)(added)
        return added

    return add


def refuse(why: str, names: Collection[str]) -> None:
    """Refuse options that were given on the command line.

    Args:
        why: they are wrong here.
        names: of their fields.

    Raises:
        InputError: one was given.
    """
    context = click.get_current_context()
    for parameter in context.command.params:
        name = parameter.name or ""
        if name in names and context.get_parameter_source(name) is ParameterSource.COMMANDLINE:
            raise InputError(why, source=f"option {max(parameter.opts, key=len)}")


def _option(setting: Setting, text: str, needed: bool) -> Callable[[Function], Function]:
    """Return what adds the option of a field."""
    form = setting.form
    required = needed and setting.default is msgspec.NODEFAULT
    more: dict[str, Any] = {"help": text, "required": required, "section": form.section or OTHER_OPTIONS}
    names = setting.option.split("/")
    kind = _plain(setting.kind)
    if kind is bool:
        more["is_flag"] = True
        names = [f"{setting.option}/--no-{setting.option[2:]}"] if setting.default is True else names
    else:
        more["type"] = _click_type(setting)
        if form.metavar:
            more["metavar"] = form.metavar
    if _is_repeated(setting):
        more["multiple"] = True
    elif setting.default is not msgspec.NODEFAULT and setting.default is not None:
        more["default"] = form.default or setting.default
        more["show_default"] = bool(default_text(setting)) and setting.default is not False
    return option(*names, setting.name, **more, **_completion(form))


def argument(setting: Setting) -> Callable[[Function], Function]:
    """Return what adds the argument of an operand."""
    form, many = setting.form, {"nargs": -1} if _is_repeated(setting) else {}
    needed = setting.default is msgspec.NODEFAULT
    more: dict[str, Any] = {"metavar": form.metavar or None, "required": needed, **many, **_completion(form)}
    return click.argument(setting.name, type=_click_type(setting), **more)


def _completion(form: Form) -> dict[str, Any]:
    return {"shell_complete": functools.partial(complete, form.offers)} if form.offers else {}


def complete(offers: str, context: click.Context, parameter: click.Parameter, incomplete: str) -> list[str]:
    """Return what a shell offers; its module is imported only then, since it looks up what is installed."""
    from batdispatch.cli import completion

    offered: list[str] = getattr(completion, f"complete_{offers}")(context, parameter, incomplete)
    return offered


def _is_repeated(setting: Setting) -> bool:
    """Return whether an option may be given several times."""
    listed = typing.get_origin(_plain(setting.kind)) is tuple and setting.form.read is None
    return listed or setting.form.gather is not None


def _plain(kind: Any) -> Any:
    """Return a type without bounds and None."""
    while typing.get_origin(kind) is typing.Annotated:
        kind = typing.get_args(kind)[0]
    if typing.get_origin(kind) in (typing.Union, types.UnionType):
        (inner,) = (each for each in typing.get_args(kind) if each is not types.NoneType)
        return _plain(inner)
    return kind


def _bounds(kind: Any) -> msgspec.Meta | None:
    """Return the bounds of a type, or None."""
    for part in typing.get_args(kind):
        if isinstance(part, msgspec.Meta):
            return part
        bounds = _bounds(part)
        if bounds is not None:
            return bounds
    return None


def _click_type(setting: Setting) -> Any:
    """Return click's type for the values of a field."""
    kind, form = _plain(setting.kind), setting.form
    if form.read is not None:
        return _reader(form.read, setting.option)
    if form.choices is not None:
        return Choice(form.choices())
    if typing.get_origin(kind) is typing.Literal:
        return Choice(typing.get_args(kind))
    if form.piped:
        return InputPath(path_type=Path if kind is Path else None)
    if kind in (Path, tuple[Path, ...]):
        return click.Path(path_type=Path, exists=form.exists, file_okay=not form.folder, dir_okay=not form.file)
    if kind is str or _is_repeated(setting):
        return click.Path() if form.file else str
    bounds = _bounds(setting.kind)
    return kind if bounds is None else _range(kind, bounds, seconds=form.metavar == "SECONDS")


def _reader(read: Callable[[str], Any], name: str) -> Callable[[Any], Any]:
    """Return what makes a value of a text by a field's own function, and leaves a value as it is."""

    def text(value: Any) -> Any:
        try:
            return read(value) if isinstance(value, str) else value
        except InputError as problem:
            raise problem if problem.source else problem.found_in(f"option {name}") from None

    return text


def _range(kind: type[float], bounds: msgspec.Meta, *, seconds: bool) -> click.IntRange | click.FloatRange:
    """Return click's type for numbers within bounds."""
    made = Seconds if seconds else click.IntRange if kind is int else Number
    least = bounds.gt if bounds.ge is None else bounds.ge
    most = bounds.lt if bounds.le is None else bounds.le
    return made(least, most, min_open=bounds.gt is not None, max_open=bounds.lt is not None)  # type: ignore[arg-type]
