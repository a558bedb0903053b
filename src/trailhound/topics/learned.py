"""All that was learned for one topic, and where it came from: the content of a model folder."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from html import escape
from pathlib import Path

import msgspec

from trailhound.counting import counted
from trailhound.judges.choosing import best_ranked
from trailhound.models.diagnosis import Advice, Diagnosis, advise, diagnose
from trailhound.models.judge_figures import JudgeCalibration, JudgeFigures, judge_figures
from trailhound.models.topic_model import TopicModel
from trailhound.notebooks import html_table

SHOWN_WORDS = 8


class Origin(msgspec.Struct, frozen=True):
    """What a model was learned from."""

    topic: str
    label: str | None = None
    """Of which of the sessions' topics it is; ``None``: of all of them together."""
    labels: tuple[str, ...] = ()
    """All labels that marks in the sessions carry; ``""`` for marks without one."""
    sessions: int = 1
    people: int = 1
    """Distinct user names in the sessions; unnamed ones count as one."""
    made_by: str = ""
    """Program and version."""

    @property
    def who_browsed(self) -> str:
        """``2 sessions of 1 person``."""
        return f"{counted(self.sessions, 'session')} of {counted(self.people, 'person')}"


@dataclass(frozen=True)
class LearnedTopic:
    """A trained model with its judges' calibration and its origin."""

    model: TopicModel
    judge: JudgeCalibration
    """Of the cosine judge, which every session allows."""
    origin: Origin
    judges: Mapping[str, JudgeCalibration] = field(default_factory=dict)
    """Of every judge that could learn, by name; empty in models that know only one."""

    @property
    def judge_name(self) -> str:
        """The judge that a crawl takes unless told otherwise; see ``docs/results.md``."""
        return best_ranked(self.judges or ("cosine",))

    @cached_property
    def judge_figures(self) -> JudgeFigures:
        """How well that judge tells the targets from other pages."""
        return self.figures_by_judge[self.judge_name]

    @cached_property
    def figures_by_judge(self) -> Mapping[str, JudgeFigures]:
        """The same for all judges that were calibrated."""
        judges = self.judges or {"cosine": self.judge}
        targets = self.model.graph.targets
        return {name: judge_figures(each, targets) for name, each in judges.items()}

    @cached_property
    def warnings(self) -> tuple[Advice, ...]:
        """What would make the model better."""
        return (*advise(self.model, self.judge_figures), *self._about_labels())

    @cached_property
    def diagnosis(self) -> Diagnosis:
        """Everything that can be said about it; on many pages this takes a second or two."""
        found = diagnose(self.model, self.judges.get(self.judge_name, self.judge))
        return msgspec.structs.replace(found, warnings=self.warnings)

    def save(self, folder: str | Path) -> Path:
        """Write it to a folder, from which ``trailhound.load_topic`` reads it; returns the folder.

        What was there before is replaced in one step.
        """
        from trailhound.topics.model_folder import save_model

        save_model(self, Path(folder))
        return Path(folder)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self._in_short()}>"

    def _repr_html_(self) -> str:
        """What was learned, for notebooks: the clusters, nearest to the targets first."""
        clusters = sorted(self.diagnosis.clusters, key=lambda each: each.mean_level)
        rows = [
            (
                str(each.pages),
                f"{each.mean_level:.1f}",
                ", ".join(word.word for word in each.log_odds[:SHOWN_WORDS]),
                each.examples[0].title if each.examples else "",
            )
            for each in clusters
        ]
        notes = "".join(f"<p>{escape(str(each))}</p>" for each in self.warnings)
        headings = ("pages", "links to a target", "words", "for example")
        return html_table(self._in_short(), headings, rows) + notes

    def _in_short(self) -> str:
        graph, f1 = self.model.graph, self.judge_figures.f1
        quality = "" if f1 is None else f", F1 {f1:.2f}"
        return (
            f"'{self.origin.topic}': {counted(len(graph.pages), 'page')}, {len(graph.targets)} "
            f"useful, in {counted(self.model.n_clusters + 1, 'cluster')}; judge {self.judge_name}"
            f"{quality}"
        )

    def _about_labels(self) -> tuple[Advice, ...]:
        """A model across several labels is allowed, but seldom meant."""
        if self.origin.label is not None or len(self.origin.labels) < 2:
            return ()
        names = ", ".join(label or "(no label)" for label in self.origin.labels)
        return (
            Advice(
                "several-labels",
                f"The marks carry several labels ({names}), and this model is one across them all.",
                "Choose one with --label, or learn one model for each with --each-label.",
            ),
        )
