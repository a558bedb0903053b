"""A topic small enough to know by heart, learned for tests of models on disk and on screen.

A gate links to two halls and a shed, the halls to bee pages, of which three are useful; cars lead
nowhere.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from trailhound.judges.calibration import calibrate_judges
from trailhound.models.topic_model import TopicParameters, learn_topic
from trailhound.sessions.events import Event, Mark, Reached, Session, Submit, Visit
from trailhound.sessions.page_graph import build_page_graph
from trailhound.topics.learned import LearnedTopic, Origin

HOST = "http://park.test/"
TEXTS = {
    "gate": "welcome to the park, gates open all week for visitors",
    "hall1": "exhibition hall with guided tours and tickets for visitors",
    "hall2": "second exhibition hall, tickets and guided tours every week",
    "shed": "tools, wheels and engines stored for winter",
    "car1": "old cars with engines and wheels",
    "car2": "new cars with electric engines and large wheels",
    "bee1": "honey bees in the hive, a queen and her brood",
    "bee2": "the queen bee lays eggs, brood and honey in the hive",
    "bee3": "bees collect nectar for honey, the hive hums",
    "bee4": "swarms of bees leave the hive with the old queen",
}
LINKS: Mapping[str, Sequence[str]] = {
    "gate": ("hall1", "hall2", "shed"),
    "hall1": ("bee1", "bee2", "gate"),
    "hall2": ("bee3", "bee4", "gate"),
    "shed": ("car1", "car2"),
    "car1": ("car2",),
    "bee1": ("bee2",),
}
TARGETS = ("bee1", "bee2", "bee3")


def page_html(name: str, text: str, links: Iterable[str]) -> str:
    anchors = "".join(f'<a href="{HOST}{each}">{each}</a> ' for each in links)
    return f'<html lang="en"><title>The {name}</title><p>{text}</p>{anchors}</html>'


def park_session(
    *,
    targets: Mapping[str, str] | Iterable[str] = TARGETS,
    texts: Mapping[str, str] = TEXTS,
    with_html: bool = True,
    user: str = "",
    topic: str = "bees",
) -> Session:
    """All pages visited once, from the gate; ``targets`` may map names to labels."""
    labels = dict(targets) if isinstance(targets, Mapping) else dict.fromkeys(targets, "")
    events: list[Event] = []
    for time, (name, text) in enumerate(texts.items()):
        events.append(
            Visit(
                time=float(time),
                url=HOST + name,
                title=f"The {name}",
                reached=Reached.LINK if time else Reached.TYPED,
                from_url=HOST + "gate" if time else None,
                html=page_html(name, text, LINKS.get(name, ())) if with_html else None,
            )
        )
    events += [Mark(100.0, HOST + name, label=label) for name, label in labels.items()]
    return Session(topic, (*events, Submit(200.0)), user)


def learned_park(
    session: Session | None = None, parameters: TopicParameters | None = None
) -> LearnedTopic:
    """The park's topic, not saved anywhere."""
    graph = build_page_graph([session or park_session()], lambda _: None)
    model = learn_topic(graph, parameters)
    judges = calibrate_judges(model)
    return LearnedTopic(model, judges["cosine"], Origin("bees", labels=("",)), judges)
