"""Declared languages first, then guesses, then silence."""

from __future__ import annotations

import errno
import logging
import tempfile

import pytest

from trailhound.text import language
from trailhound.text.language import declared_language, detect_language

ENGLISH = "Bees are insects that visit flowers for nectar and make honey of it."


@pytest.mark.parametrize(
    ("values", "language"),
    [
        (["en-US"], "en"),
        ([" DE "], "de"),
        (["zh_Hant_TW"], "zh"),
        (["eng"], "en"),
        (["iw"], "he"),
        ([None, "", "fr, en"], "fr"),
        (["{{ lang }}", "x-default", "pt"], "pt"),
        (["english"], ""),
        (["qqq"], ""),
        ([], ""),
    ],
)
def test_first_usable_declaration_counts(values: list[str | None], language: str) -> None:
    assert declared_language(*values) == language


@pytest.mark.parametrize(
    ("text", "language"),
    [
        (ENGLISH, "en"),
        ("Bienen sind Insekten, die Blüten besuchen und daraus Honig machen.", "de"),
        ("Las abejas son insectos que visitan las flores y producen miel.", "es"),
        ("蜜蜂是一种会飞行的群居昆虫,采集花蜜并酿造蜂蜜。", "zh"),
        ("Пчёлы собирают нектар и перерабатывают его в мёд.", "ru"),
    ],
)
def test_text_is_recognised(text: str, language: str) -> None:
    assert detect_language(text) == language


@pytest.mark.parametrize("text", ["", "Hi", "0123456789 " * 40, "Slide 1 Slide 2 Slide 3 Slide 4"])
def test_too_little_text_has_no_language(text: str) -> None:
    assert detect_language(text) == ""


def test_without_room_for_the_model_there_is_no_guess_for_a_while(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def full_disk(**_options: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    language._identifier.cache_clear()
    monkeypatch.setattr(language, "_model", language._Model())
    monkeypatch.setattr(language, "PAGES_TO_RETRY", 2)
    with monkeypatch.context() as patch, caplog.at_level(logging.WARNING):
        patch.setattr(tempfile, "TemporaryFile", full_disk)
        assert [detect_language(ENGLISH) for _ in range(4)] == [""] * 4  # two attempts
    assert [record.getMessage() for record in caplog.records] == [
        "Languages of pages are not guessed for now: [Errno 28] No space left on device"
    ]
    assert [detect_language(ENGLISH) for _ in range(4)] == ["", "", "en", "en"]
