"""The worked example in the documentation says what the code does, to the last digit."""

from __future__ import annotations

import inspect
import re
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import numpy as np
import pytest
from examples import five_pages

from trailhound.models.topic_model import TopicModel, learn_topic
from trailhound.strategies.hidden_markov import HiddenMarkovStrategy

DOCS = Path(__file__).parents[2] / "docs"
PAGE = (DOCS / "how-it-works.md").read_text(encoding="utf-8")
COMPUTED = dict(re.findall(r"<!-- computed: (\w+) -->\n(.*?)\n?<!-- end -->", PAGE, re.DOTALL))


@pytest.fixture(scope="module")
def tables() -> dict[str, str]:
    return five_pages.tables()


@pytest.fixture(scope="module")
def model() -> TopicModel:
    return learn_topic(five_pages.five_page_graph(), five_pages.PARAMETERS)


def test_every_computed_table_is_on_the_page(tables: dict[str, str]) -> None:
    assert list(COMPUTED) == list(tables)


@pytest.mark.parametrize("name", COMPUTED)
def test_a_table_on_the_page_is_what_the_code_computes(name: str, tables: dict[str, str]) -> None:
    assert COMPUTED[name] == tables[name], "run examples/five_pages.py and copy its table"


def test_numbers_in_the_text_agree_with_the_tables(model: TopicModel) -> None:
    assert f"two axes hold {model.space.variance_share:.0%} of".replace("%", " %") in PAGE
    assert model.space.rank == 2
    # A by hand: the beekeepers' links go to T0 and T2; B by hand: T3 shows clusters 1 and 3.
    np.testing.assert_allclose(model.hmm.transition[1] * 4, [1.5, 0.5, 1.5, 0.5])
    np.testing.assert_allclose(model.hmm.emission[3] * 4, [0.5, 1.5, 0.5, 1.5])
    assert "0.25 · 0.500 = 0.125 of 0.302 in all, or 0.414" in PAGE
    seen = model.hmm.emission[:, five_pages.cluster_of(model, "city")] / 4
    assert (round(float(seen[2]), 3), round(float(seen.sum()), 3)) == (0.125, 0.302)
    assert five_pages.belief_after(model, ["city"])[2] == pytest.approx(0.125 / 0.302, abs=5e-4)
    belief = five_pages.belief_after(model, ["city", "apiary"])
    assert f"with probability {belief[1]:.3f}" in PAGE
    assert belief.argmax() == 1


def test_the_story_holds(model: TopicModel) -> None:
    key = [five_pages.belief_after(model, path) for path in five_pages.PATHS.values()]
    city, apiary, storm, jars = (model.hmm.predict(belief)[0] for belief in key)
    assert apiary > jars > storm > city
    assert storm - city < 0.01, "hardly before"


def test_the_picture_shows_states_and_clusters_of_the_example(model: TopicModel) -> None:
    picture = ElementTree.parse(DOCS / "images" / "page-graph.svg")
    texts = [
        (float(each.attrib["x"]), str(each.text))
        for each in picture.iter("{http://www.w3.org/2000/svg}text")
    ]
    states = [(x, text) for x, text in texts if re.fullmatch(r"T\d", text)]
    for number, name in enumerate(five_pages.NAMES):
        position = [text for _, text in texts].index(name)
        x = texts[position][0]
        assert min((abs(x - at), state) for at, state in states)[1] == f"T{model.levels[number]}"
        assert texts[position + 1][1] == f"cluster {model.clusters[number]}"


def test_pictures_are_plain_and_follow_light_and_dark() -> None:
    for name in re.findall(r"\]\((images/[\w-]+\.svg)\)", PAGE):
        source = (DOCS / name).read_text(encoding="utf-8")
        root = ElementTree.fromstring(source)
        assert root.find("{http://www.w3.org/2000/svg}desc") is not None
        assert "prefers-color-scheme: dark" in source
        assert not re.search(r"<script|https?://(?!www\.w3\.org/2000/svg)", source)


def test_every_option_of_the_strategy_is_explained() -> None:
    section = PAGE.partition("## Settings")[2]
    first_cells = re.findall(r"^\| (`.*?) \|", section, re.MULTILINE)
    explained = {name for cell in first_cells for name in re.findall(r"`(\w+)`", cell)}
    parameters = inspect.signature(HiddenMarkovStrategy.from_briefing).parameters.values()
    options = {each.name for each in parameters if each.kind is inspect.Parameter.KEYWORD_ONLY}
    assert explained == options


def test_the_example_runs_as_a_program(
    capsys: pytest.CaptureFixture[str], tables: dict[str, str]
) -> None:
    five_pages.main()
    printed = capsys.readouterr().out
    assert all(table in printed for table in tables.values())
