"""Text to terms: known answers per rule, and what must hold for any text."""

from __future__ import annotations

import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trailhound.text import tokens
from trailhound.text.tokens import MAX_WORD_LENGTH, count_terms, tokenize


def test_english_words_are_stemmed_and_stop_words_dropped() -> None:
    assert tokenize("The bees are visiting the flowers, and the flowering trees.", "en") == [
        "bee",
        "visit",
        "flower",
        "flower",
        "tree",
    ]


def test_each_language_has_its_own_rules() -> None:
    assert tokenize("Die Häuser und die Gärten", "de") == ["haus", "gart"]
    assert tokenize("les fleurs de l'abeille", "fr") == ["fleur", "abeil"]
    assert tokenize("пчёлы и цветы", "ru") == ["пчел", "цвет"]


def test_unknown_language_follows_english_rules() -> None:
    assert tokenize("the assignments", "") == tokenize("the assignments", "en") == ["assign"]


def test_language_without_rules_keeps_all_words() -> None:
    assert tokenize("The Bees and flowers", "mt") == ["the", "bees", "and", "flowers"]


def test_both_written_forms_of_norwegian_share_its_rules() -> None:
    assert tokenize("husene", "nb") == tokenize("husene", "nn") == tokenize("husene", "no")


def test_words_that_topics_are_made_of_are_no_stop_words() -> None:
    assert tokenize("course research homepage", "en") == ["cours", "research", "homepag"]


def test_chinese_and_japanese_become_pairs_of_characters() -> None:
    assert tokenize("蜜蜂采蜜", "zh") == ["蜜蜂", "蜂采", "采蜜"]
    assert tokenize("ミツバチ", "ja") == ["ミツ", "ツバ", "バチ"]


def test_a_lone_chinese_character_is_a_term() -> None:
    assert tokenize("蜂 bee", "en") == ["蜂", "bee"]


def test_words_next_to_chinese_are_parted_from_it() -> None:
    assert tokenize("python蜜蜂3000", "zh") == ["python", "蜜蜂"]


def test_scripts_without_spaces_become_pairs_too() -> None:
    assert tokenize("ผึ้ง", "mt") == ["ผึ", "ึ้", "้ง"]


def test_vowel_signs_do_not_cut_hindi_words() -> None:
    assert count_terms("हिन्दी भाषा", "") == {"हिन्दी": 1, "भाषा": 1}


def test_composed_decomposed_and_full_width_spellings_meet() -> None:
    assert tokenize("caf\u00e9", "mt") == tokenize("cafe\u0301", "mt") == ["café"]
    assert tokenize("ＷＡＲＣ", "mt") == ["warc"]


def test_turkish_capitals_become_turkish_small_letters() -> None:
    assert tokenize("IŞIK", "tr") == tokenize("ışık", "tr")


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("1996", ["1996"]),
        ("0996 3000 12345 7 42", []),
        ("٢٠٢٠", []),
        ("h2o mp3 x", ["h2o", "mp3"]),
        ("snake_case", ["snake", "case"]),
        ("", []),
        (" \t\n\u00a0 ...", []),
    ],
)
def test_numbers_and_fragments(text: str, terms: list[str]) -> None:
    assert tokenize(text, "mt") == terms


def test_long_words_are_cut() -> None:
    assert tokenize("x" * 5000, "mt") == ["x" * MAX_WORD_LENGTH]


def test_counts_are_those_of_the_tokens() -> None:
    assert count_terms("Bee, bee (BEES) flower", "en") == {"bee": 3, "flower": 1}


def test_full_memo_starts_afresh_and_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tokens, "MEMO_SIZE", 3)
    tokens._vocabulary.cache_clear()
    words = "ant bee cat dog emu fox ant bee"
    assert tokenize(words, "mt") == words.split()
    assert len(tokens._vocabulary("-")) <= 3
    tokens._vocabulary.cache_clear()


def test_other_processes_agree_on_the_terms() -> None:
    text = "Bees visit flowers near Straße 蜜蜂采蜜 in 1996"
    program = (
        "import sys; from trailhound.text.tokens import count_terms;"
        "sys.stdout.buffer.write(repr(count_terms(sys.argv[1], 'en')).encode())"
    )
    output = subprocess.run(
        [sys.executable, "-X", "utf8", "-c", program, text], capture_output=True, check=True
    ).stdout
    assert output.decode() == repr(count_terms(text, "en"))


@given(st.text(), st.sampled_from(["", "en", "de", "tr", "zh", "hi", "ar", "mt", "??"]))
def test_any_text_gives_short_lower_case_terms(text: str, language: str) -> None:
    terms = tokenize(text, language)
    assert all(0 < len(term) <= MAX_WORD_LENGTH + 3 for term in terms)
    assert all(not any(character.isspace() for character in term) for term in terms)
    assert sum(count_terms(text, language).values()) == len(terms)
    assert tokenize(text, language) == terms
