"""Plug-ins by name: the one table of what can be plugged in, and how a plug-in is found and made.

A *spec* is a name with options: ``name:option=value,option=value``. Names are entry points, so that
built-in and third-party plug-ins register alike; one under construction needs no package:
``path/to/file.py`` works wherever a name does. ``docs/plugins.md`` tells what each kind promises
and what happens when it breaks; :mod:`trailhound.testing` holds a check of it for each.
"""

from __future__ import annotations

import difflib
import importlib.util
import inspect
import re
import sys
import types
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cache, cached_property
from hashlib import sha256
from importlib.machinery import SourceFileLoader
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import Any, Union, get_args, get_origin

from trailhound.errors import ConfigError, TrailhoundError, UsageError, plugin_faults, unknown_name

REQUIRED = inspect.Parameter.empty
"""In place of the default of an option that must be given."""

_BOOLEANS = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}
_PLAIN_TYPES = {"bool": bool, "int": int, "float": float, "str": str, "Path": Path}
_LARGEST = 1e15
"""Of numbers that options may be, below zero as well: products of some are numbers still."""
_NAMED = re.compile(r"\s*[\w-]{2,}\s*:")
"""How a spec of a name with options begins; the letter of a Windows drive is one letter."""
_COMMA = re.compile(r"(?<!\\),")
_ran: dict[Path, tuple[str, types.ModuleType]] = {}
"""Python files with the SHA-256 of what was run. Each version is run once: the classes of another
run would be others."""


@dataclass(frozen=True)
class Kind:
    """One kind of plug-in."""

    noun: str
    group: str
    """Of entry points."""
    protocol: str
    """What it must do: module and name."""
    made_by: str
    """The class method that makes one, whose keyword-only arguments are the options; empty for
    kinds that are made without arguments, or are no classes."""
    needs: tuple[str, ...]
    """What its class must have, and how it is told from other classes in a Python file."""
    listed: str
    """The command that lists what there is, with options."""


STRATEGY = Kind(
    "strategy",
    "trailhound.strategies",
    "trailhound.strategies.base:Strategy",
    "from_briefing",
    ("from_briefing", "score_links", "observe"),
    "trailhound strategies",
)
JUDGE = Kind(
    "judge",
    "trailhound.judges",
    "trailhound.judges.base:RelevanceJudge",
    "from_briefing",
    ("from_briefing", "judge"),
    "trailhound judges",
)
FETCHER = Kind(
    "fetcher",
    "trailhound.fetchers",
    "trailhound.fetching.base:Fetcher",
    "from_settings",
    ("from_settings", "fetch", "close"),
    "trailhound plugins",
)
SINK = Kind(
    "sink",
    "trailhound.sinks",
    "trailhound.crawling.sinks:Sink",
    "open",
    ("open", "keep", "close"),
    "trailhound plugins",
)
FRONTIER = Kind(
    "frontier",
    "trailhound.frontiers",
    "trailhound.frontier.base:Frontier",
    "open",
    ("open", "add", "lease", "finish", "close"),
    "trailhound plugins",
)
IMPORTER = Kind(
    "importer",
    "trailhound.importers",
    "trailhound.sessions.importers.base:Importer",
    "",
    ("name", "summary", "reads", "read"),
    "trailhound import --help",
)
CORPUS = Kind(
    "corpus kind",
    "trailhound.corpora",
    "trailhound.lab.importers:CorpusKind",
    "",
    ("name", "summary", "record"),
    "trailhound corpus import",
)

KINDS = (STRATEGY, JUDGE, FETCHER, SINK, FRONTIER, IMPORTER, CORPUS)
"""All there are."""


class Catalogue:
    """All plug-ins of one kind.

    ``find`` takes the plug-in out of a Python file that was run; without it, that is the one class
    in it that has what the kind needs.
    """

    def __init__(
        self, kind: Kind, find: Callable[[types.ModuleType, Path], Any] | None = None
    ) -> None:
        self._kind = kind
        self._noun = kind.noun
        self._find = find or self._one_class

    @cached_property
    def _entries(self) -> Mapping[str, EntryPoint]:
        """By name. Ours cannot be taken; of others, the first on the path has a name."""
        found: dict[str, EntryPoint] = {}
        for entry in sorted(entry_points(group=self._kind.group), key=_is_strange):
            found.setdefault(entry.name, entry)
        return found

    def names(self) -> tuple[str, ...]:
        """All registered names, in alphabetical order."""
        return tuple(sorted(self._entries))

    def provider(self, name: str) -> str:
        """The distribution that a registered plug-in comes with, and its version."""
        found = self._entries[name].dist
        return f"{found.name} {found.version}" if found is not None else ""

    def load(self, name: str) -> Any:
        """The part with this name, or in this Python file."""
        if name.endswith(".py"):
            return self._load_file(Path(name))
        entry = self._entries.get(name)
        if entry is None:
            raise self.unknown(name, self.names())
        try:
            return entry.load()
        except plugin_faults() as error:
            raise ConfigError(
                f"The {self._noun} '{name}' is registered as {entry.value}, but loading it failed: "
                f"{type(error).__name__}: {error}. Repair or uninstall the package that provides "
                "it."
            ) from error

    def unknown(self, name: str, offered: Iterable[str]) -> UsageError:
        """The error for a name that no part has, with the nearest of ``offered``."""
        return unknown_name(self._noun, name, offered, f"See '{self._kind.listed}'.")

    def options(self, name: str) -> dict[str, Any]:
        """The option names of a part, with their defaults."""
        return {each.name: each.default for each in self._options(self.load(name)).values()}

    def takes_path(self, name: str, option: str) -> bool:
        """Whether an option of a part is a path; not when there is no such part or option."""
        try:
            declared = self._options(self.load(name)).get(option.replace("-", "_"))
        except TrailhoundError:  # told when the part is to be made
            return False
        return declared is not None and _plain(declared.annotation) is Path

    def resolve(self, spec: str) -> tuple[Any, dict[str, Any]]:
        """The part that a spec names, and its options with their types."""
        name, texts = self.parse(spec)
        part = self.load(name)
        declared = self._options(part)
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

    def make(self, spec: str, *arguments: Any) -> Any:
        """What a spec names, made with these arguments; ConfigError when that fails."""
        part, options = self.resolve(spec)
        with self.blaming(spec):
            made = getattr(part, self._kind.made_by)(*arguments, **options)
        self.check(spec, made)
        return made

    @contextmanager
    def blaming(self, spec: str) -> Iterator[None]:
        """Whatever goes wrong inside, other than as an error of ours, is the plug-in's fault."""
        try:
            yield
        except TrailhoundError:
            raise
        except plugin_faults() as error:
            raise ConfigError(
                f"The {self._noun} '{spec}' cannot be made: {type(error).__name__}: {error}. "
                "Repair or uninstall the package that provides it."
            ) from error

    def check(self, spec: str, made: Any) -> None:
        """ConfigError unless ``made`` has what every plug-in of the kind needs.

        Not how another would be made: one that was made may be of another class.
        """
        if made is None:
            raise ConfigError(
                f"The {self._noun} '{spec}' cannot be made: its '{self._kind.made_by}' gives None. "
                "Let it return what it made, or repair or uninstall the package that provides it."
            )
        needs = [name for name in self._kind.needs if name != self._kind.made_by]
        missing = [name for name in needs if not hasattr(made, name)]
        if missing:
            raise ConfigError(
                f"The {self._noun} '{spec}' has no '{missing[0]}', which every {self._noun} needs. "
                "Repair or uninstall the package that provides it."
            )

    def _options(self, part: Any) -> dict[str, inspect.Parameter]:
        if not self._kind.made_by:
            return {}
        make = getattr(part, self._kind.made_by, None)
        if make is None:
            raise ConfigError(
                f"The {self._noun} {part!r} has no '{self._kind.made_by}', by which one is made. "
                "Repair or uninstall the package that provides it."
            )
        return keyword_options(make)

    def _one_class(self, module: types.ModuleType, path: Path) -> Any:
        found = own_classes(module, self._kind.needs)
        if len(found) != 1:
            raise ConfigError(
                f"'{path}' should define one {self._noun}, a class with "
                f"{', '.join(self._kind.needs)}; it has {len(found)}."
            )
        return found[0]

    def _advice(self, key: str, options: Sequence[str]) -> str:
        if not options:
            return "It has no options."
        near = difflib.get_close_matches(key, options, n=1)
        meant = f"Did you mean {near[0]}? " if near else ""
        listed = f"('{self._kind.listed}' lists them with their defaults.)"
        return f"{meant}It has: {', '.join(options)}. {listed}"

    def parse(self, spec: str) -> tuple[str, dict[str, str]]:
        r"""Split ``name:option=value,…`` into the name and its options as typed.

        A comma that belongs to a value is written ``\,``.
        """
        name, rest = _split(spec)
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
        version = _digest(path)
        ran = _ran.get(path)
        if ran is None or ran[0] != version:  # it is new, or was edited since
            ran = _ran[path] = (version, self._run(path))
        return self._find(ran[1], path)

    def _run(self, path: Path) -> types.ModuleType:
        if not path.is_file():
            raise UsageError(
                f"There is no {self._noun} file '{path}'. Give the path of a Python file."
            )
        # Under its path, which no other module has, and where dataclasses look for it.
        loader = _FromSource(str(path), str(path))
        spec = importlib.util.spec_from_file_location(str(path), path, loader=loader)
        if spec is None or spec.loader is None:
            raise UsageError(f"'{path}' cannot be loaded as a Python file.")
        module = sys.modules[str(path)] = importlib.util.module_from_spec(spec)
        try:
            spec.loader.exec_module(module)
        except plugin_faults() as error:
            del sys.modules[str(path)]
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
            if kind is float:
                return _sensible(float(text))
            return kind(text) if kind in (int, Path) else text
        except (KeyError, ValueError):
            raise UsageError(
                f"{self._noun.capitalize()} '{spec}': option {option.name} is '{text}', "
                f"but it should be {_example(kind)}."
            ) from None


@dataclass(frozen=True)
class Registered:
    """What ``trailhound plugins`` shows of one plug-in."""

    kind: str
    name: str
    provider: str
    """The distribution that it comes with, and its version."""
    summary: str
    """In one line; of a plug-in that cannot be loaded, why."""
    options: Mapping[str, Any]
    """Option names with their defaults."""


def registered() -> Iterator[Registered]:
    """Every plug-in that is installed, kind by kind."""
    for kind in KINDS:
        catalogue = Catalogue(kind)
        for name in catalogue.names():
            provider = catalogue.provider(name)
            try:
                part = catalogue.load(name)
                summary, options = summary_of(part), catalogue.options(name)
            except TrailhoundError as error:
                summary, options = str(error), {}
            yield Registered(kind.noun, name, provider, summary, options)


def summary_of(part: Any) -> str:
    """What a plug-in says of itself in one line: its ``summary``, or its docstring begins so."""
    said = getattr(part, "summary", None) or inspect.getdoc(part) or ""
    return str(said).strip().partition("\n")[0]


def absolute(spec: str, kind: Kind) -> str:
    """A spec that means the same in every folder, whence a crawl may be resumed.

    The path of a Python file is made absolute, and so are options that are paths.
    """
    name, rest = _split(spec)
    if name.strip().endswith(".py"):
        name = str(Path(name.strip()).resolve())
    options = [_absolute_option(part, name, kind) for part in filter(None, _COMMA.split(rest))]
    return f"{name}:{','.join(options)}" if rest else name


def digest_of_file(spec: str) -> str:
    """SHA-256 of the Python file that a spec names; empty when it names none."""
    name = _split(spec)[0].strip()
    return _digest(Path(name)) if name.endswith(".py") else ""


def _digest(path: Path) -> str:
    with suppress(OSError):  # whoever makes the plug-in tells
        return sha256(path.read_bytes()).hexdigest()
    return ""


class _FromSource(SourceFileLoader):
    """Not from ``__pycache__``, which misses an edit in the same second that keeps the size."""

    def get_code(self, fullname: str) -> types.CodeType:
        del fullname  # it has one file alone
        return self.source_to_code(self.get_data(self.path), self.path)


def _absolute_option(part: str, name: str, kind: Kind) -> str:
    key, equals, value = part.partition("=")
    if not value.strip() or not _catalogue(kind).takes_path(name.strip(), key.strip()):
        return part
    path = Path(value.strip().replace("\\,", ",")).expanduser().absolute()
    return key + equals + str(path).replace(",", "\\,")


@cache
def _catalogue(kind: Kind) -> Catalogue:
    """One for all specs: it looks through all that is installed."""
    return Catalogue(kind)


def _split(spec: str) -> tuple[str, str]:
    """Name and options. A path may hold a colon of its own (C:\\…), so it ends at its suffix."""
    if _NAMED.match(spec):  # a value may be the path of a Python file, too
        name, _, rest = spec.partition(":")
        return name, rest
    path, suffix, rest = spec.partition(".py")
    if suffix and rest[:1] in ("", ":"):
        return path + suffix, rest[1:]
    name, _, rest = spec.partition(":")
    return name, rest


def own_classes(module: types.ModuleType, needs: Iterable[str]) -> list[Any]:
    """The classes that a Python file defines itself and that have all of ``needs``."""
    found = [each for each in vars(module).values() if isinstance(each, type)]
    own = [each for each in found if each.__module__ == module.__name__]
    return [each for each in own if all(hasattr(each, name) for name in needs)]


def keyword_options(function: Callable[..., Any]) -> dict[str, inspect.Parameter]:
    """The keyword-only arguments of a function, by name."""
    try:
        parameters = inspect.signature(function, eval_str=True).parameters
    except NameError:  # an annotation that only type checkers can resolve
        parameters = inspect.signature(function).parameters
    return {
        name: parameter
        for name, parameter in parameters.items()
        if parameter.kind is inspect.Parameter.KEYWORD_ONLY
    }


def _is_strange(entry: EntryPoint) -> bool:
    return not entry.value.startswith("trailhound.")


def _plain(annotation: Any) -> Any:
    """``float`` for ``float | None``, and for the same as text."""
    if isinstance(annotation, str):
        return _PLAIN_TYPES.get(annotation.removesuffix("| None").strip(), str)
    if get_origin(annotation) in (Union, types.UnionType):
        kinds = [kind for kind in get_args(annotation) if kind is not type(None)]
        return kinds[0] if len(kinds) == 1 else str
    return annotation


def _sensible(number: float) -> float:
    """ValueError for what no option means, and with which sums come to nothing."""
    if not abs(number) <= _LARGEST:  # nor is it, of what is no number
        raise ValueError(number)
    return number


def _example(kind: Any) -> str:
    return {bool: "true or false", int: "a whole number", float: "a number, at most 1e15"}[kind]
