"""Declared languages first, then guesses, then silence."""

from __future__ import annotations

import pytest

from trailhound.text.language import declared_language, detect_language


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
        ("Bees are insects that visit flowers for nectar and make honey of it.", "en"),
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
