"""Parts by name: what the registries of strategies and of judges have in common.

A *spec* is a name with options: ``name:option=value,option=value``. Names are entry points, so that
built-in and third-party parts register alike; one under construction needs no package:
``path/to/file.py`` works wherever a name does. A part is a class with a class method
``from_briefing(briefing, *, option=default, ...)``: its keyword arguments are the options.
"""

from __future__ import annotations

import difflib
import importlib.util
import inspect
import re
import types
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import Any, Union, get_args, get_origin

from trailhound.errors import ConfigError, UsageError, unknown_name

REQUIRED = inspect.Parameter.empty
"""In place of the default of an option that must be given."""

_BOOLEANS = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}
_COMMA = re.compile(r"(?<!\\),")


class Catalogue:
    """All parts of one kind.

    ``find`` takes the part out of a Python file that was run; ``command`` lists the parts.
    """

    def __init__(
        self, noun: str, group: str, find: Callable[[types.ModuleType, Path], Any], command: str
    ) -> None:
        self._noun = noun
        self._group = group
        self._find = find
        self._command = command
        self._files: dict[Path, Any] = {}

    @cached_property
    def _entries(self) -> Mapping[str, EntryPoint]:
        return {entry.name: entry for entry in entry_points(group=self._group)}

    def names(self) -> tuple[str, ...]:
        """All registered names, in alphabetical order."""
        return tuple(sorted(self._entries))

    def load(self, name: str) -> Any:
        """The part with this name, or in this Python file."""
        if name.endswith(".py"):
            return self._load_file(Path(name))
        entry = self._entries.get(name)
        if entry is None:
            raise self.unknown(name, self.names())
        try:
            return entry.load()
        except Exception as error:
            raise ConfigError(
                f"The {self._noun} '{name}' is registered as {entry.value}, but loading it failed: "
                f"{type(error).__name__}: {error}. Repair or uninstall the package that provides "
                "it."
            ) from error

    def unknown(self, name: str, offered: Iterable[str]) -> UsageError:
        """The error for a name that no part has, with the nearest of ``offered``."""
        return unknown_name(self._noun, name, offered, f"See '{self._command}'.")

    def options(self, name: str) -> dict[str, Any]:
        """The option names of a part, with their defaults."""
        return {each.name: each.default for each in _options(self.load(name)).values()}

    def resolve(self, spec: str) -> tuple[Any, dict[str, Any]]:
        """The part that a spec names, and its options with their types."""
        name, texts = self.parse(spec)
        part = self.load(name)
        declared = _options(part)
        options = {}
        for key, text in texts.items():
            if key not in declared:
                raise UsageError(
                    f"{self._noun.capitalize()} '{name}' has no option '{key}'. "
                    + self._advice(key, list(declared))
                )
            options[key] = self._convert(spec, declared[key], text)
        for key, option in declared.items():
            if option.default is REQUIRED and key not in options:
                raise UsageError(
                    f"The {self._noun} '{name}' needs the option {key}: write {name}:{key}=…"
                )
        return part, options

    def _advice(self, key: str, options: Sequence[str]) -> str:
        if not options:
            return "It has no options."
        near = difflib.get_close_matches(key, options, n=1)
        meant = f"Did you mean {near[0]}? " if near else ""
        return f"{meant}It has: {', '.join(options)}. ('{self._command}' explains them.)"

    def parse(self, spec: str) -> tuple[str, dict[str, str]]:
        r"""Split ``name:option=value,…`` into the name and its options as typed.

        A comma that belongs to a value is written ``\,``.
        """
        # A path may hold a colon of its own (C:\…), so it ends at its suffix.
        path, suffix, rest = spec.partition(".py")
        if suffix and rest[:1] in ("", ":"):
            name, rest = path + suffix, rest[1:]
        else:
            name, _, rest = spec.partition(":")
        options: dict[str, str] = {}
        for part in filter(None, _COMMA.split(rest)):
            key, equals, value = part.partition("=")
            if not equals:
                raise UsageError(
                    f"{self._noun.capitalize()} '{spec}': '{part}' is not option=value. "
                    f"Write it as {name}:option=value,option=value, and a comma within a value as "
                    "\\,."
                )
            options[key.strip().replace("-", "_")] = value.strip().replace("\\,", ",")
        return name.strip(), options

    def _load_file(self, path: Path) -> Any:
        path = path.resolve()
        if path not in self._files:
            self._files[path] = self._find(self._run(path), path)
        return self._files[path]

    def _run(self, path: Path) -> types.ModuleType:
        if not path.is_file():
            raise UsageError(
                f"There is no {self._noun} file '{path}'. Give the path of a Python file."
            )
        spec = importlib.util.spec_from_file_location(path.stem, path)
        if spec is None or spec.loader is None:
            raise UsageError(f"'{path}' cannot be loaded as a Python file.")
        module = importlib.util.module_from_spec(spec)
        try:
            spec.loader.exec_module(module)
        except Exception as error:
            raise ConfigError(
                f"Running the {self._noun} file '{path}' failed: {type(error).__name__}: {error}."
            ) from error
        return module

    def _convert(self, spec: str, option: inspect.Parameter, text: str) -> Any:
        """The typed value of an option, by the annotation of its argument."""
        kind = _plain(option.annotation)
        try:
            if kind is bool:
                return _BOOLEANS[text.lower()]
            if kind is int or kind is float:
                return kind(text)
            return text
        except (KeyError, ValueError):
            raise UsageError(
                f"{self._noun.capitalize()} '{spec}': option {option.name} is '{text}', "
                f"but it should be {_example(kind)}."
            ) from None


def own_classes(module: types.ModuleType) -> list[Any]:
    """The parts that a Python file defines itself."""
    name = module.__name__
    own = [each for each in vars(module).values() if getattr(each, "__module__", "") == name]
    return [each for each in own if hasattr(each, "from_briefing")]


def _options(part: Any) -> dict[str, inspect.Parameter]:
    parameters = inspect.signature(part.from_briefing, eval_str=True).parameters
    return {
        name: parameter
        for name, parameter in parameters.items()
        if parameter.kind is inspect.Parameter.KEYWORD_ONLY
    }


def _plain(annotation: Any) -> Any:
    """``float`` for ``float | None``."""
    if get_origin(annotation) in (Union, types.UnionType):
        kinds = [kind for kind in get_args(annotation) if kind is not type(None)]
        return kinds[0] if len(kinds) == 1 else str
    return annotation


def _example(kind: Any) -> str:
    return {bool: "true or false", int: "a whole number", float: "a number"}[kind]
