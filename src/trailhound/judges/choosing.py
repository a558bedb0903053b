"""Judges by name. Built-in and third-party ones register through the same entry points.

``path/to/file.py`` works wherever a name does. The file defines one class with ``from_briefing``,
or a plain function ``judge(page)`` that answers with True, False or a score from 0 to 1.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

from trailhound.counting import counted
from trailhound.errors import ConfigError, SessionError, TrailhoundError, plugin_faults
from trailhound.judges.base import LearningJudge, RelevanceJudge
from trailhound.judges.rules import PREDICATE_THRESHOLD, PredicateJudge, as_relevance
from trailhound.plugins import JUDGE, REQUIRED, Catalogue, own_classes
from trailhound.records import Page, Relevance
from trailhound.sessions.page_graph import PageGraph
from trailhound.strategies.base import Briefing

_log = logging.getLogger(__name__)

AUTO = "auto"
"""Stands for the best judge that can learn from the sessions; see :class:`LearningJudge`."""


@dataclass(frozen=True)
class JudgeInfo:
    """What ``trailhound judges`` shows."""

    name: str
    summary: str
    options: Mapping[str, str]
    """Option names with their defaults in words: ``required``, ``calibrated``, or a value."""


def judge_names() -> tuple[str, ...]:
    """All registered names, in alphabetical order."""
    return _catalogue.names()


def describe_judge(name: str) -> JudgeInfo:
    """A judge's summary and options."""
    options = {key: _in_words(value) for key, value in _catalogue.options(name).items()}
    return JudgeInfo(name, _catalogue.load(name).summary, options)


def _in_words(default: Any) -> str:
    if default is None:
        return "calibrated"
    if isinstance(default, bool):
        return str(default).lower()
    return "required" if default is REQUIRED else str(default)


def chosen_judge(spec: str, graph: PageGraph) -> str:
    """The spec that ``auto`` stands for on these sessions; any other spec is its own answer."""
    name, _ = _catalogue.parse(spec)
    return spec.replace(AUTO, default_judge(graph), 1) if name == AUTO else spec


def default_judge(graph: PageGraph) -> str:
    """The best of the judges that can learn from these sessions; SessionError when none can."""
    suiting = suiting_judges(graph)
    if not suiting:
        raise SessionError(
            "No page is marked useful, so that there is nothing to judge by. Mark one and learn, "
            "or name a judge that needs no session with --judge, such as keywords."
        )
    return next(iter(suiting))


def best_ranked(names: Iterable[str]) -> str:
    """The judge of the highest rank; one that is not installed any more has the lowest."""
    return min(names, key=lambda name: (-_rank(_loaded(name)), name))


def suiting_judges(graph: PageGraph) -> dict[str, type[LearningJudge]]:
    """The registered judges that can learn from these sessions, best first."""
    return {name: kind for name in _volunteers() if _suits(kind := _loaded(name), name, graph)}


def _volunteers() -> list[str]:
    """Judges that say when they suit, best first; none that needs to be told more than a name."""
    names = [name for name in judge_names() if hasattr(_loaded(name), "suits")]
    free = [name for name in names if REQUIRED not in _catalogue.options(name).values()]
    return sorted(free, key=lambda name: (-_rank(_loaded(name)), name))


def _suits(kind: type[LearningJudge], name: str, graph: PageGraph) -> bool:
    try:
        return bool(kind.suits(graph))
    except plugin_faults() as error:  # whatever somebody else's code raises costs him his turn
        _log.warning("The judge '%s' is passed over, asked whether it suits: %r", name, error)
        return False


def _rank(kind: Any) -> float:
    return float(getattr(kind, "rank", -math.inf))


def _loaded(name: str) -> Any:
    try:
        return _catalogue.load(name)
    except TrailhoundError:  # a broken package; whoever asks for it will hear of it
        return None


def make_judge(
    spec: str,
    briefing: Briefing,
    *,
    threshold: float | None = None,
    calibrated: Mapping[str, float] | None = None,
) -> RelevanceJudge:
    """Build a judge from ``name`` or ``name:option=value,option=value``.

    ``threshold`` holds unless the spec has another; ``calibrated`` are thresholds by name, as they
    were learned before. Without any, the judge calibrates its own where it can.
    """
    spec = chosen_judge(spec, briefing.graph)
    part, options = _catalogue.resolve(spec)
    name, _ = _catalogue.parse(spec)
    takes_threshold = "threshold" in _catalogue.options(name)
    if threshold is not None and not takes_threshold:
        raise ConfigError(
            f"The judge '{name}' has no threshold, but [judge] threshold is {threshold:g}. Leave "
            "it out, or choose another judge with --judge; 'trailhound judges' lists them."
        )
    if threshold is None:
        threshold = (calibrated or {}).get(name)
    if takes_threshold and threshold is not None:
        options.setdefault("threshold", threshold)
    with _catalogue.blaming(spec):
        judge: RelevanceJudge = part.from_briefing(briefing, **options)
    _catalogue.check(spec, judge)
    return FileJudge(Path(name).resolve(), judge) if name.endswith(".py") else judge


def check_judge(spec: str) -> None:
    """Raise UsageError unless ``spec`` names a judge and options that it has."""
    name, options = _catalogue.parse(spec)
    if name != AUTO or options:
        _catalogue.resolve(spec.replace(AUTO, _volunteers()[0], 1) if name == AUTO else spec)


class FileJudge:
    """A judge that lives in a Python file; worker processes load the file for themselves."""

    may_take_long = True  # nobody knows what it does

    def __init__(self, path: Path, inner: RelevanceJudge) -> None:
        self._path = path
        self._inner = inner

    def judge(self, page: Page) -> Relevance:
        """What the file's judge says."""
        return as_relevance(self._inner.judge(page))

    def __reduce__(self) -> tuple[Callable[..., FileJudge], tuple[str, dict[str, Any]]]:
        """Its class is known nowhere but here, so that only its state can travel."""
        state = {key: value for key, value in vars(self._inner).items() if key != "_predicate"}
        return _revived, (str(self._path), state)


def _revived(path: str, state: dict[str, Any]) -> FileJudge:
    kind = _catalogue.load(path)
    if isinstance(kind, _FunctionFile):
        inner: RelevanceJudge = PredicateJudge(kind.function, **state)
    else:
        inner = kind.__new__(kind)
        vars(inner).update(state)
    return FileJudge(Path(path), inner)


class _FunctionFile:
    """A file with a function ``judge(page)``, in the shape of a judge's class."""

    summary = "a function of your own"

    def __init__(self, function: Callable[[Page], bool | float]) -> None:
        self.function = function

    def from_briefing(
        self, briefing: Briefing, *, threshold: float = PREDICATE_THRESHOLD
    ) -> PredicateJudge:
        del briefing
        return PredicateJudge(self.function, threshold)


def _find(module: ModuleType, path: Path) -> Any:
    """The judge that a Python file defines."""
    function = getattr(module, "judge", None)
    kinds = own_classes(module, JUDGE.needs)
    if len(kinds) == 1 and function is None:
        return kinds[0]
    if not kinds and callable(function):
        return _FunctionFile(function)
    raise ConfigError(
        f"'{path}' should define a function judge(page), or one class with a from_briefing method "
        f"and a judge method; it has {counted(len(kinds), 'such class')} and "
        f"{'a' if callable(function) else 'no'} function."
    )


_catalogue = Catalogue(JUDGE, _find)
