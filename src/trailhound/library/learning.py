"""Topics for a program: learned from sessions, or loaded from where they were saved."""

from __future__ import annotations

import math
import os
import warnings
from collections.abc import Callable, Iterable, Iterator
from numbers import Integral
from pathlib import Path
from typing import Any

import msgspec
from msgspec.structs import fields

from trailhound.config.layers import by_section, in_short
from trailhound.errors import ConfigError, UsageError, told_to_programs, unknown_name
from trailhound.models.topic_model import TopicParameters
from trailhound.sessions.events import Session
from trailhound.sessions.files import load_sessions
from trailhound.sessions.shown_pages import Content
from trailhound.topics.learned import LearnedTopic
from trailhound.topics.learning import LearningRequest, learn_alone
from trailhound.topics.model_folder import MANIFEST, load_model
from trailhound.topics.workspace import Workspace, workspace_folder

SessionSource = str | Path | Session | Iterable[str | Path | Session]
"""A session file, a folder of them, a session, or several of these."""


@told_to_programs()
def learn(
    *sessions: SessionSource,
    name: str = "",
    label: str | None = None,
    threshold: float | None = None,
    content: Content | None = None,
    report: Callable[[str], None] = lambda _: None,
    **parameters: Any,
) -> LearnedTopic:
    """Learn what leads to the pages that were marked useful.

    * ``sessions``: files, folders of files, or ``Session`` objects.
    * ``name`` of the topic; without it, the one that the first session carries.
    * ``label``: only marks with this label count.
    * ``threshold``: the score from which a page is relevant; calibrated when it is not given.
    * ``content`` looks up pages whose source the sessions do not hold: from a URL to a ``Page``.
    * ``parameters``: those of :class:`~trailhound.models.topic_model.TopicParameters`, such as
      ``n_states=4``.
    """
    threshold = by_section({"threshold": threshold})["judge.threshold"]
    learned_by = _parameters(parameters)
    found = list(_sessions(sessions))
    if not found:
        raise UsageError(
            "There is nothing to learn from: name a session file, or a folder of them."
        )
    request = LearningRequest(
        name or next((each.topic for each in found if each.topic), "topic"),
        found,
        label=label,
        parameters=learned_by,
        threshold=threshold,
        content=content,
    )
    return learn_alone(request, report)


@told_to_programs()
def load_topic(place: str | Path, *, workspace: str | Path | None = None) -> LearnedTopic:
    """A topic from the folder it was saved in, or by its name in the workspace.

    The folder may also be that of a crawl, or of a topic in a workspace. What is both the name of a
    topic and a folder with one is the folder, unless the ``workspace`` is named.
    """
    folder = Path(place).expanduser()
    home = workspace_folder(Path(workspace) if workspace is not None else None, os.environ)
    is_name = isinstance(place, str) and folder.name == place
    is_topic = is_name and place in Workspace(home).topics()
    here = next((each for each in (folder, folder / "model") if (each / MANIFEST).is_file()), None)
    if here is not None and not (is_topic and workspace is not None):
        if is_topic:
            warnings.warn(
                f"'{place}' is a topic in {home}, and a folder with a topic here, which was "
                f"loaded. Write './{place}' for the folder, or load_topic('{place}', "
                f"workspace='{home}') for the other.",
                stacklevel=3,
            )
        return load_model(here)
    if folder.exists() and not is_topic:
        return load_model(folder)  # says what is missing
    return Workspace(home).topic(str(place)).load()


def _sessions(sources: Iterable[SessionSource]) -> Iterator[Session]:
    for source in sources:
        if isinstance(source, Session):
            yield source
        elif isinstance(source, str | Path):
            yield from load_sessions(source)
        elif isinstance(source, Iterable):
            yield from _sessions(source)
        else:
            raise UsageError(
                f"sessions: {in_short(source)} is none. Give session files, folders of them, or "
                "Session objects."
            )


def _parameters(given: dict[str, Any]) -> TopicParameters:
    known = [field.name for field in fields(TopicParameters)]
    for name in given:
        if name not in known:
            raise unknown_name("parameter", name, known)
    return TopicParameters(**{name: _value(name, value) for name, value in given.items()})


def _value(name: str, value: Any) -> Any:
    """As the parameter's type wants it: msgspec checks no object that is made."""
    wanted = next(each.type for each in fields(TopicParameters) if each.name == name)
    example = f"Leave it out, or give another: {name}={getattr(TopicParameters(), name)}"
    if not isinstance(value, bool) and isinstance(value, Integral):
        value = int(value)  # NumPy has whole numbers of its own
    if wanted is float and isinstance(value, int | float) and not math.isfinite(value):
        raise ConfigError(f"{name} is {value}, which is no number to count with. {example}")
    try:
        return msgspec.convert(value, wanted)
    except msgspec.ValidationError as error:
        kind = wanted.__name__
        raise ConfigError(
            f"{name} is {in_short(value)}, and it should be of the type {kind}. {example}"
        ) from error
