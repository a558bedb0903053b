"""Bytes to characters, as browsers do it, and better where labels lie."""

from __future__ import annotations

import codecs

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trailhound.text.encoding import decode, encoding_of_label

RUSSIAN = (
    "Пчёлы собирают нектар и пыльцу с цветков растений и перерабатывают их в мёд и воск. "
    "Они живут большими семьями, в которых есть матка, рабочие пчёлы и трутни."
)
JAPANESE = "ミツバチは花の蜜を集めて蜂蜜を作る昆虫です。日本でも古くから飼われてきました。"


def meta(label: str) -> str:
    return f'<html><head><meta charset="{label}"></head><body>'


def test_byte_order_mark_beats_header_and_meta() -> None:
    body = codecs.BOM_UTF8 + (meta("koi8-r") + "é").encode()
    assert decode(body, "text/html; charset=big5") == (meta("koi8-r") + "é", "utf-8")


@pytest.mark.parametrize(
    ("mark", "codec", "name"),
    [
        (codecs.BOM_UTF16_LE, "utf-16-le", "utf-16le"),
        (codecs.BOM_UTF16_BE, "utf-16-be", "utf-16be"),
    ],
)
def test_utf16_by_its_mark(mark: bytes, codec: str, name: str) -> None:
    assert decode(mark + "<p>Ωé".encode(codec)) == ("<p>Ωé", name)


def test_utf16_without_mark_is_seen_by_its_zeros() -> None:
    assert decode("<p>Ωé".encode("utf-16-le")) == ("<p>Ωé", "utf-16le")
    assert decode("<p>Ωé".encode("utf-16-be")) == ("<p>Ωé", "utf-16be")


def test_header_beats_meta() -> None:
    body = (meta("iso-8859-5") + RUSSIAN).encode("koi8-r", "replace")
    text, name = decode(body, 'text/html; Charset="KOI8-R"')
    assert name == "koi8-r"
    assert "нектар" in text


@pytest.mark.parametrize("label", ["windows-1251", "koi8-r", "iso-8859-5", "utf-8", "ibm866"])
def test_meta_is_believed(label: str) -> None:
    codec = {"iso-8859-5": "iso8859-5", "ibm866": "cp866"}.get(label, label)
    text, name = decode((meta(label) + RUSSIAN).encode(codec))
    assert name == label
    assert text.endswith(RUSSIAN)


def test_old_meta_and_xml_declarations_count() -> None:
    old = '<META HTTP-EQUIV="Content-Type" CONTENT="text/html; charset=shift_jis">' + JAPANESE
    assert decode(old.encode("cp932")) == (old, "shift_jis")
    xml = '<?xml version="1.0" encoding="euc-jp"?>' + JAPANESE
    assert decode(xml.encode("euc_jp")) == (xml, "euc-jp")


def test_euc_jp_has_the_characters_of_its_vendors() -> None:
    body = "蜂蜜".encode("euc_jp") + b"\xad\xa1\xad\xea\xad\xf0\xfc\xe2\xf9\xa1"
    label = "text/html; charset=euc-jp"
    assert decode(body, label) == ("蜂蜜①㈱≒髙纊", "euc-jp")
    assert decode(b"a\xad<b>\x80\xad", label).text == "a\ufffd<b>\ufffd\ufffd"


def test_meta_inside_a_comment_does_not_count() -> None:
    body = ("<!-- " + meta("koi8-r") + " -->" + meta("utf-8") + "é").encode()
    assert decode(body).encoding == "utf-8"


def test_latin1_means_windows_1252() -> None:
    assert decode(b"\x93quoted\x94 \x80", "text/html; charset=iso-8859-1") == (
        "“quoted” €",
        "windows-1252",
    )


def test_meta_that_claims_utf16_is_utf8() -> None:
    assert decode((meta("utf-16") + "é").encode()).encoding == "utf-8"


def test_unknown_label_falls_back_to_detection() -> None:
    body = RUSSIAN.encode("cp1251")
    assert decode(body, "text/html; charset=klingon") == (RUSSIAN, "windows-1251")


def test_nothing_declared_is_detected() -> None:
    assert decode(JAPANESE.encode("cp932") * 3).encoding == "shift_jis"
    assert decode(JAPANESE.encode()) == (JAPANESE, "utf-8")
    assert decode(b"plain") == ("plain", "utf-8")


def test_false_claim_of_utf8_is_detected() -> None:
    assert decode((meta("utf-8") + RUSSIAN).encode("cp1251")).encoding == "windows-1251"


def test_a_stray_byte_does_not_unmake_utf8() -> None:
    text, name = decode((meta("utf-8") + RUSSIAN).encode() + b"\xff!")
    assert name == "utf-8"
    assert text.endswith("\ufffd!")


def test_false_claim_of_latin1_over_utf8_is_seen_through() -> None:
    assert decode("naïve café".encode(), "text/html; charset=ISO-8859-1") == (
        "naïve café",
        "utf-8",
    )


def xml(label: str, text: str) -> str:
    return f'<?xml version="1.0" encoding="{label}"?><rss><title>{text}</title></rss>'


@pytest.mark.parametrize(
    ("label", "text", "header"),
    [
        ("iso-8859-2", "zażółć gęślą jaźń", "utf-8"),
        ("windows-1251", RUSSIAN, "iso-8859-1"),
        ("utf-8", RUSSIAN, "windows-1251"),
        ("iso-2022-jp", JAPANESE, "utf-8"),
    ],
)
def test_xml_knows_its_encoding_better_than_its_server(label: str, text: str, header: str) -> None:
    written, header = xml(label, text), f"text/xml; charset={header}"
    assert decode(written.encode(label), header, is_xml=True) == (written, label)


@pytest.mark.parametrize(
    ("label", "codec", "header"),
    [
        pytest.param("utf-8", "windows-1251", "windows-1251", id="the header"),
        pytest.param("shift_jis", "windows-1251", "windows-1251", id="the header again"),
        pytest.param("windows-1251", "utf-8", "utf-8", id="the header, which proves itself"),
        pytest.param("utf-8", "windows-1251", "euc-kr", id="neither"),
        pytest.param("windows-1251", "utf-16-be", "utf-8", id="what its zeros say"),
    ],
)
def test_xml_that_declares_what_it_is_not_is_read_nevertheless(
    label: str, codec: str, header: str
) -> None:
    written, header = xml(label, RUSSIAN), f"text/xml; charset={header}"
    assert decode(written.encode(codec), header, is_xml=True).text == written


def test_a_byte_order_mark_beats_what_xml_declares() -> None:
    written = xml("windows-1251", RUSSIAN)
    body = codecs.BOM_UTF8 + written.encode()
    assert decode(body, "text/xml; charset=koi8-r", is_xml=True) == (written, "utf-8")


@pytest.mark.parametrize(
    ("label", "name"),
    [
        ("latin1", "windows-1252"),
        ("us-ascii", "windows-1252"),
        ("x-sjis", "shift_jis"),
        ("Windows-31J", "shift_jis"),
        ("gb2312", "gb18030"),
        ("x-gbk", "gb18030"),
        ("ks_c_5601-1987", "euc-kr"),
        ("tis-620", "windows-874"),
        ("iso-8859-9", "windows-1254"),
        ("iso-8859-8-i", "iso-8859-8"),
        ("big5-hkscs", "big5"),
        ("cp1252", "windows-1252"),
        ("mac", "macintosh"),
        ("base64", None),
        ("rot13", None),
        ("utf-7", None),
        ("idna", None),
        ("unicode_escape", None),
        ("undefined", None),
        ("../../etc/passwd", None),
        ("", None),
    ],
)
def test_labels_mean_what_browsers_take_them_for(label: str, name: str | None) -> None:
    assert encoding_of_label(label) == name


@given(st.binary(max_size=300), st.text(max_size=30))
def test_any_bytes_under_any_label_decode(body: bytes, label: str) -> None:
    text, name = decode(body, f"text/html; charset={label}")
    text.encode()
    assert name == encoding_of_label(name)
