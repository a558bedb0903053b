from __future__ import annotations

import re
import unicodedata
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from learned_topics import HOST, TEXTS, page_html, park_session

from trailhound.errors import ModelError, SessionError, StorageError, UsageError
from trailhound.models.topic_model import TopicParameters
from trailhound.records import Page
from trailhound.sessions.events import Mark, Session, Visit
from trailhound.sessions.files import read_session
from trailhound.text.extract import extract_page
from trailhound.topics.control.overview import overview
from trailhound.topics.learning import LearningRequest, learn_each_label, learn_into
from trailhound.topics.upkeep.forgetting import forget_everything
from trailhound.topics.upkeep.moving import rename
from trailhound.topics.workspace import (
    TopicRecord,
    Workspace,
    checked_name,
    folder_name,
    workspace_folder,
)

WINDOWS_DEVICE = re.compile(r"(con|prn|aux|nul|com\d|lpt\d)(\..*)?$", re.IGNORECASE)


def is_safe(name: str) -> bool:
    return (
        0 < len(name.encode()) < 120
        and not set(name) & set('<>:"/\\|?*')
        and all(ord(character) >= 32 for character in name)
        and name[0] not in ". "
        and name[-1] not in ". "
        and WINDOWS_DEVICE.match(name) is None
    )


def test_plain_names_stay_readable() -> None:
    assert folder_name("bees") == "bees"
    assert folder_name("пчёлы и мёд") == "пчёлы и мёд"
    assert folder_name("蜂蜜") == "蜂蜜"
    assert folder_name("c++ (2024), part 1.5") == "c++ (2024), part 1.5"


@pytest.mark.parametrize(
    ("name", "folder"),
    [
        ("../x", "%2e.%2fx"),
        ("..", "%2e%2e"),
        ("a/b\\c", "a%2fb%5cc"),
        ("con", "%63on"),
        ("nul.txt", "%6eul.txt"),
        ("com1", "%63om1"),
        ("console", "console"),
        ("bees.", "bees%2e"),
        (".hidden", "%2ehidden"),
        ("50% off?", "50%25 off%3f"),
        ("what~ever", "what%7eever"),
    ],
)
def test_tricky_names_are_encoded(name: str, folder: str) -> None:
    assert folder_name(name) == folder
    assert is_safe(folder)


@pytest.mark.parametrize("name", [".", "..", " .. "])
def test_no_new_topic_has_a_name_that_browsers_take_for_a_way(tmp_path: Path, name: str) -> None:
    workspace = Workspace(tmp_path)
    with pytest.raises(UsageError, match="another name"):
        workspace.folder_for(name).prepare()
    with pytest.raises(UsageError, match="another name"):
        learn_into(workspace, LearningRequest(name, [park_session()]))
    assert workspace.topics() == ()
    bees = workspace.folder_for("bees")
    bees.prepare()
    with pytest.raises(UsageError, match="another name"):
        rename(workspace, bees, name)
    assert workspace.topics() == ("bees",)
    bees.path.rename(workspace.folder_for(name).path)  # as earlier versions did
    record = workspace.folder_for(name).path / "topic.json"
    record.write_bytes(msgspec.json.encode(TopicRecord(name.strip())))
    there = workspace.topic(name)
    there.prepare()
    assert rename(workspace, there, "wasps").name == "wasps"


def test_names_that_differ_in_case_only_have_folders_that_differ_in_more() -> None:
    folders = {folder_name(name).lower() for name in ("bees", "Bees", "BEES", "CON", "con")}
    assert len(folders) == 5


def test_spellings_of_one_name_share_a_folder() -> None:
    composed, decomposed = "caf\u00e9", "cafe\u0301"
    assert folder_name(composed) == folder_name(decomposed)
    assert folder_name("  honey   bees ") == folder_name("honey bees")


def test_long_names_are_cut_but_stay_different() -> None:
    one, other = "蜂" * 150 + "一", "蜂" * 150 + "二"
    assert folder_name(one) != folder_name(other)
    assert is_safe(folder_name(one))


@pytest.mark.parametrize("name", ["", "   ", "x" * 201, "a\x00b", "a\x1bb", "\ud800"])
def test_names_that_cannot_be_are_refused(name: str) -> None:
    with pytest.raises(UsageError):
        folder_name(name)


_NAMES = st.text(st.characters(exclude_categories=("Cs", "Cc", "Cn", "Co")), max_size=60)


@given(_NAMES.filter(str.strip))
def test_every_name_gives_a_safe_folder(name: str) -> None:
    assert is_safe(folder_name(name))


@given(st.lists(st.text("aA./\\~%ſßsSKk\u212a \u0130iIı", min_size=1, max_size=4), max_size=9))
def test_different_names_never_meet(names: list[str]) -> None:
    checked = {checked_name(name) for name in names if name.strip()}
    folded = {unicodedata.normalize("NFD", folder_name(name)).casefold() for name in checked}
    assert len(folded) == len(checked)


def test_the_workspace_is_chosen_by_flag_then_environment_then_default(tmp_path: Path) -> None:
    environment = {"TRAILHOUND_WORKSPACE": str(tmp_path / "env")}
    assert workspace_folder(tmp_path / "flag", environment) == tmp_path / "flag"
    assert workspace_folder(None, environment) == tmp_path / "env"
    assert workspace_folder(None, {"TRAILHOUND_WORKSPACE": " "}).name == "trailhound"
    assert workspace_folder(None, {}).is_absolute()


def learn(workspace: Workspace, *sessions: Session, topic: str = "bees") -> None:
    learn_into(workspace, LearningRequest(topic, sessions))


def test_learning_makes_a_topic_that_can_be_listed_and_loaded(tmp_path: Path) -> None:
    workspace = Workspace(tmp_path)
    learn(workspace, park_session())
    learn(workspace, park_session(), topic="Пчёлы: ../etc")
    assert workspace.topics() == ("bees", "Пчёлы: ../etc")
    folder = workspace.topic("bees")
    assert folder.load().origin.topic == "bees"
    assert sorted(path.name for path in folder.path.iterdir()) == [
        "model",
        "sessions",
        "topic.json",
    ]
    (copy,) = (folder.path / "sessions").iterdir()
    assert read_session(copy) == park_session()
    assert workspace.topic("Пчёлы: ../etc").path.parent == tmp_path / "topics"


def test_unknown_topics_are_named_with_the_nearest(tmp_path: Path) -> None:
    workspace = Workspace(tmp_path)
    with pytest.raises(UsageError, match=r"no topics yet.*trailhound learn bees"):
        workspace.topic("bees")
    learn(workspace, park_session())
    with pytest.raises(UsageError, match="Did you mean bees"):
        workspace.topic("bee")


def test_a_session_without_a_name_is_no_further_person(tmp_path: Path) -> None:
    workspace = Workspace(tmp_path)
    learn(workspace, park_session(user="ann"))
    learn(workspace, park_session(user="", targets=["bee4"]))
    origin = workspace.topic("bees").load().origin
    assert (origin.sessions, origin.people) == (2, 1)


def test_learning_again_adds_sessions_and_replace_starts_anew(tmp_path: Path) -> None:
    workspace = Workspace(tmp_path)
    ann, bob = park_session(user="ann"), park_session(user="bob", targets=["bee4"])
    learn(workspace, ann)
    learn(workspace, bob)
    learned = workspace.topic("bees").load()
    assert (learned.origin.sessions, learned.origin.people) == (2, 2)
    assert len(learned.model.graph.targets) == 4
    learn(workspace, ann)  # the same once more changes nothing
    assert workspace.topic("bees").load().diagnosis == learned.diagnosis
    learn_into(workspace, LearningRequest("bees", [bob], replace=True))
    assert workspace.topic("bees").load().origin.sessions == 1
    assert len(workspace.topic("bees").load().model.graph.targets) == 1


def test_a_recording_that_has_grown_replaces_its_beginning(tmp_path: Path) -> None:
    workspace = Workspace(tmp_path)
    whole = park_session()
    learn(workspace, msgspec.structs.replace(whole, events=whole.events[:12]))
    learn(workspace, whole)
    assert workspace.topic("bees").load().origin.sessions == 1
    assert len(workspace.topic("bees").sessions()) == 1


def test_the_order_of_sessions_does_not_matter(tmp_path: Path) -> None:
    ann, bob = park_session(user="ann"), park_session(user="bob", targets=["bee4"])
    found = []
    for name, sessions in (("one", [ann, bob]), ("other", [bob, ann])):
        learned = learn_into(Workspace(tmp_path / name), LearningRequest("bees", sessions))
        found.append(learned.diagnosis)
    assert found[0] == found[1]


def test_learning_again_without_sessions_uses_those_that_are_known(tmp_path: Path) -> None:
    workspace = Workspace(tmp_path)
    learn(workspace, park_session())
    request = LearningRequest("bees", parameters=TopicParameters(n_states=3), threshold=0.2)
    learned = learn_into(workspace, request)
    assert learned.model.hmm.n_states == 3
    assert workspace.topic("bees").load().judge.threshold == 0.2
    with pytest.raises(UsageError, match="has no sessions yet"):
        learn_into(workspace, LearningRequest("wasps"))


def park_content(url: str) -> Page | None:
    name = url.removeprefix(HOST)
    if name not in TEXTS:
        return None
    links = ("bee4",) if name == "gate" else ()
    return extract_page(page_html(name, TEXTS[name], links).encode(), url)


def test_content_from_elsewhere_is_remembered(tmp_path: Path) -> None:
    workspace = Workspace(tmp_path)
    bare = park_session(with_html=False)
    first = learn_into(workspace, LearningRequest("bees", [bare], content=park_content))
    assert first.diagnosis.n_without_content == 0
    again = learn_into(workspace, LearningRequest("bees", [park_session(user="bob")]))
    assert again.diagnosis.n_without_content == 0
    forgotten = learn_into(workspace, LearningRequest("bees", [bare], replace=True))
    assert forgotten.diagnosis.n_without_content == len(TEXTS)


LABELLED = {"bee1": "queens", "bee2": "queens", "bee3": "honey"}


def test_several_labels_are_one_topic_unless_one_is_chosen(tmp_path: Path) -> None:
    workspace = Workspace(tmp_path)
    session = park_session(targets=LABELLED)
    across = learn_into(workspace, LearningRequest("bees", [session]))
    assert len(across.model.graph.targets) == 3
    assert "several-labels" in [warning.code for warning in across.diagnosis.warnings]
    one = learn_into(workspace, LearningRequest("q", [session], label="queens"))
    assert len(one.model.graph.targets) == 2
    assert "several-labels" not in [warning.code for warning in one.diagnosis.warnings]
    # The choice belongs to the topic.
    assert learn_into(workspace, LearningRequest("q")).origin.label == "queens"
    with pytest.raises(UsageError, match="Did you mean queens"):
        learn_into(workspace, LearningRequest("r", [session], label="queen"))


def test_each_label_gets_a_model(tmp_path: Path) -> None:
    workspace = Workspace(tmp_path)
    session = park_session(targets={**LABELLED, "bee4": ""})
    learned = learn_each_label(workspace, LearningRequest("bees", [session]))
    assert workspace.topics() == ("bees", "bees-honey", "bees-queens")
    assert [len(each.model.graph.targets) for each in learned] == [1, 1, 2]


def test_a_failed_learning_leaves_the_topic_as_it_was(tmp_path: Path) -> None:
    workspace = Workspace(tmp_path)
    with pytest.raises(SessionError, match="marked useful"):
        learn(workspace, park_session(targets=()))
    assert workspace.topics() == ()
    learn(workspace, park_session())
    before = workspace.topic("bees").load().diagnosis
    with pytest.raises(SessionError):
        learn_into(workspace, LearningRequest("bees", [park_session(targets=())], replace=True))
    assert workspace.topic("bees").load().diagnosis == before


@pytest.mark.parametrize(
    "events",
    [
        [Visit(1.0, HOST, html="<title>Bees</title><p>honey bees in a hive"), Mark(2.0, HOST)],
        [Mark(1.0, HOST + "never-visited", useful=True), Visit(0.0, HOST, title="Bees and honey")],
        [
            Visit(1.0, HOST + "a", html="<p>bees <b>and <i>honey</p></b><a href='/b'>b<td>"),
            Visit(2.0, HOST + "b", html="\x00<<<not html &amp &#xFFFFFFFF; swarm"),
            Mark(3.0, HOST + "b"),
        ],
        [
            Visit(1.0, HOST + "a", html="<html lang=de><p>Die Bienen und der Honig im Stock"),
            Visit(2.0, HOST + "b", html="<html lang=fr><p>Les abeilles et le miel de la ruche"),
            Mark(3.0, HOST + "a"),
            Mark(3.0, HOST + "b"),
        ],
    ],
    ids=["one-page", "titles-only", "broken-html", "two-languages"],
)
def test_poor_sessions_give_a_model_with_warnings(
    tmp_path: Path, events: list[Visit | Mark]
) -> None:
    learned = learn_into(
        Workspace(tmp_path), LearningRequest("bees", [Session("bees", tuple(events))])
    )
    assert "few-pages" in [warning.code for warning in learned.diagnosis.warnings]
    assert Workspace(tmp_path).topic("bees").load().diagnosis == learned.diagnosis


@pytest.mark.parametrize(
    ("events", "advice"),
    [
        ([], "visit pages, and mark the useful ones"),
        ([Visit(1.0, "about:blank"), Mark(2.0, "about:blank")], "visit pages"),
        ([Visit(1.0, HOST, title="Bees")], "Mark at least one page"),
        ([Visit(1.0, HOST), Mark(2.0, HOST)], "browse pages that hold text"),
        ([Visit(1.0, HOST, title="Bees"), Mark(2.0, HOST), Mark(3.0, HOST, useful=None)], "Mark"),
    ],
    ids=["empty", "no-web-page", "no-mark", "no-words", "mark-taken-back"],
)
def test_sessions_without_anything_to_learn_say_what_to_browse(
    tmp_path: Path, events: list[Visit | Mark], advice: str
) -> None:
    request = LearningRequest("bees", [Session("bees", tuple(events))])
    with pytest.raises((SessionError, ModelError), match=advice):
        learn_into(Workspace(tmp_path), request)
    assert not (tmp_path / "topics").exists()


def test_a_damaged_topic_file_is_named(tmp_path: Path) -> None:
    workspace = Workspace(tmp_path)
    learn(workspace, park_session())
    path = workspace.topic("bees").path / "topic.json"
    for content, reason in (
        (b"{", "damaged"),
        (b'{"name": "wasps"}', "belongs to the topic 'wasps'"),
        (b'{"name": "bees", "version": 2}', "Upgrade Trailhound"),
    ):
        path.write_bytes(content)
        with pytest.raises(ModelError, match=reason):
            workspace.topic("bees")


def test_a_topic_whose_file_is_damaged_is_listed_and_learned_again(tmp_path: Path) -> None:
    workspace = Workspace(tmp_path)
    learn(workspace, park_session())
    path = workspace.topic("bees").path / "topic.json"
    path.write_bytes(b"{")
    (listed,) = overview(workspace)
    assert (listed.topic, listed.sessions, listed.learned) == ("bees", 1, True)
    assert "topic.json is damaged" in listed.problem
    path.unlink()
    learn(workspace)
    (listed,) = overview(workspace)
    assert (listed.topic, listed.sessions, listed.problem) == ("bees", 1, "")


@pytest.mark.parametrize("content", [b"{", None])
def test_a_topic_whose_file_is_damaged_or_gone_is_forgotten(
    tmp_path: Path, content: bytes | None
) -> None:
    workspace = Workspace(tmp_path)
    learn(workspace, park_session())
    path = workspace.topic("bees").path / "topic.json"
    path.unlink() if content is None else path.write_bytes(content)
    assert forget_everything(workspace, "bees").removed["sessions"] == 1
    assert not path.parent.exists()


def test_a_damaged_topic_with_a_capital_is_forgotten_by_the_name_it_is_listed_with(
    tmp_path: Path,
) -> None:
    workspace = Workspace(tmp_path)
    learn_into(workspace, LearningRequest("Bees", [park_session()]))
    folder = workspace.topic("Bees").path
    (folder / "topic.json").write_bytes(b"{")
    (listed,) = overview(workspace)
    assert listed.topic == folder.name != "Bees"
    assert forget_everything(workspace, listed.topic, dry_run=True).removed["sessions"] == 1
    assert forget_everything(workspace, listed.topic).removed["sessions"] == 1
    assert not folder.exists()
    with pytest.raises(UsageError, match="Unknown topic"):
        forget_everything(workspace, listed.topic)


def test_a_folder_of_another_topic_is_not_forgotten(tmp_path: Path) -> None:
    workspace = Workspace(tmp_path)
    learn(workspace, park_session())
    (workspace.topic("bees").path / "topic.json").write_bytes(b'{"name": "wasps"}')
    with pytest.raises(ModelError, match="belongs to the topic 'wasps'"):
        forget_everything(workspace, "bees")


def test_a_workspace_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(StorageError, match="Cannot write"):
        learn(Workspace(tmp_path / "file"), park_session())


def test_contents_that_cannot_be_deleted_are_named(tmp_path: Path) -> None:
    workspace = Workspace(tmp_path)
    learn(workspace, park_session())
    workspace.topic("bees").content_path.mkdir()
    with pytest.raises((StorageError, ModelError), match=r"content\.json"):
        learn(workspace, park_session(user="else"))
