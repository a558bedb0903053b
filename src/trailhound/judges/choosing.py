"""Judges by name. Built-in and third-party ones register through the same entry points.

``path/to/file.py`` works wherever a name does. The file defines one class with ``from_briefing``,
or a plain function ``judge(page)`` that answers with True, False or a score from 0 to 1.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

from trailhound.counting import counted
from trailhound.errors import ConfigError
from trailhound.judges.base import RelevanceJudge
from trailhound.judges.contrast import tells_apart
from trailhound.judges.rules import PREDICATE_THRESHOLD, PredicateJudge, as_relevance
from trailhound.plugins import REQUIRED, Catalogue, own_classes
from trailhound.records import Page, Relevance
from trailhound.sessions.page_graph import PageGraph
from trailhound.strategies.base import Briefing

JUDGE_GROUP = "trailhound.judges"
AUTO = "auto"
"""Stands for ``contrast``, or for ``cosine`` where the session shows nothing to tell from."""


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
    """The best of the judges that can learn from these sessions; see ``docs/results.md``."""
    return "contrast" if tells_apart(graph) else "cosine"


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
    judge: RelevanceJudge = part.from_briefing(briefing, **options)
    return FileJudge(Path(name).resolve(), judge) if name.endswith(".py") else judge


def check_judge(spec: str) -> None:
    """Raise UsageError unless ``spec`` names a judge and options that it has."""
    name, options = _catalogue.parse(spec)
    if name != AUTO or options:
        _catalogue.resolve(spec.replace(AUTO, "contrast", 1) if name == AUTO else spec)


class FileJudge:
    """A judge that lives in a Python file; worker processes load the file for themselves."""

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
    kinds = own_classes(module)
    if len(kinds) == 1 and function is None:
        return kinds[0]
    if not kinds and callable(function):
        return _FunctionFile(function)
    raise ConfigError(
        f"'{path}' should define a function judge(page), or one class with a from_briefing method "
        f"and a judge method; it has {counted(len(kinds), 'such class')} and "
        f"{'a' if callable(function) else 'no'} function."
    )


_catalogue = Catalogue("judge", JUDGE_GROUP, _find, "trailhound judges")
