"""Documents become pages: their words, titles, languages and links."""

from __future__ import annotations

import made_documents as made
import pytest

from trailhound.media_types import DocumentKind
from trailhound.records import Page
from trailhound.text.documents import UnreadableDocumentError, pdf, read_document
from trailhound.text.extract import extract_apart, extract_harmless, extract_page
from trailhound.text.main_content import PageSource, TextForm, main_content

URL = "http://a.test/files/bees"
HIVE = "http://hive.test/"
DOCX = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
SENTENCES = "The bees of the garden live in the hive behind the house. " * 6


def page_of(body: bytes, content_type: str, url: str = URL) -> Page:
    return extract_apart(body, url, content_type)


def linked(page: Page) -> list[tuple[str, str]]:
    return [(link.url, link.anchor) for link in page.links]


def why_unreadable(body: bytes, content_type: str) -> str:
    with pytest.raises(UnreadableDocumentError) as raised:
        page_of(body, content_type)
    assert not extract_page(body, URL, content_type).text  # which never raises
    return str(raised.value)


class TestPdf:
    def test_words_title_language_and_links(self) -> None:
        body = made.pdf(
            [
                [(12, "A journal"), (24, "The life of bees"), (12, "See the hive page, please.")],
                [(12, "Second page, at http://www.wax.test/a.")],
            ],
            language="en-GB",
            links={0: [(HIVE, (90, 635, 170, 655)), ("/more", (400, 100, 500, 120))]},
        )
        page = page_of(body, "application/pdf")
        assert page.title == "The life of bees"
        assert page.language == "en"
        assert "A journal The life of bees See the hive page, please." in page.text
        assert page.links[0].url == HIVE
        assert page.links[0].anchor in "See the hive page, please."
        assert page.links[0].anchor
        assert [link.url for link in page.links[1:]] == [
            "http://a.test/more",
            "http://www.wax.test/a",
        ]
        assert page.terms["bee"] >= 2

    def test_a_declared_title_counts_unless_a_program_set_it(self) -> None:
        lines = [[(12, "Page one of it"), (20, "Wax and honey")]]
        assert page_of(made.pdf(lines, title="On wax"), "").title == "On wax"
        assert page_of(made.pdf(lines, title="Microsoft Word - wax.doc"), "").title == (
            "Wax and honey"
        )

    def test_entries_of_the_outline_are_headings(self) -> None:
        body = made.pdf(
            [[(12, "1. Hives"), (12, "Hives are made of wood.")], [(12, "Queens"), (12, "Rule.")]],
            outline=[("Hives", 0), ("Queens", 1), ("Elsewhere", 1)],
        )
        assert page_of(body, "application/pdf").headings == ("1. Hives", "Queens")

    def test_a_hyphen_at_the_end_of_a_line(self) -> None:
        lines = ["See http://example.com/honey-", "bees/path.html for bee-", "keeping, or wax-work"]
        page = page_of(made.pdf([[(12, line) for line in lines]]), "application/pdf")
        assert page.text == (
            "See http://example.com/honey-bees/path.html for beekeeping, or wax-work"
        )
        assert page.links[0].url == "http://example.com/honey-bees/path.html"

    @pytest.mark.parametrize("mark", ["\x02", "\ufffe", "\x02\n"])
    def test_how_hyphens_are_marked(self, mark: str) -> None:
        assert pdf._tidy(f"bee{mark}keeping at www.a.test/b{mark}c{mark}d, wax{mark}work") == (
            "beekeeping at www.a.test/b-c-d, waxwork"
        )

    def test_half_a_pair_of_surrogates_is_no_title(self) -> None:
        half = "\xfe\xff\xd8\x00"
        lines = [[(24, "All about hives"), (12, "Hives are made of wood.")]]
        body = made.pdf(lines, title=half, outline=[(half, 0), ("All about hives", 0)])
        page = page_of(body, "application/pdf")
        assert (page.title, page.headings) == ("All about hives", ("All about hives",))

    def test_an_absurd_number_of_pages_costs_nothing(self) -> None:
        body = made.pdf([[(12, "One page of bees")]], claimed_pages=100_000)
        assert "One page of bees" in page_of(body, "application/pdf").text

    def test_only_the_first_pages_are_read(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(pdf, "MAX_PAGES", 2)
        body = made.pdf([[(12, f"Page {number}")] for number in range(4)])
        assert page_of(body, "application/pdf").text == "Page 0 Page 1"

    def test_a_locked_one(self) -> None:
        body = made.pdf([[(12, "Secret bees")]], is_locked=True)
        assert why_unreadable(body, "application/pdf") == "a PDF document that needs a password"

    @pytest.mark.parametrize(
        "body",
        [
            b"%PDF-1.7\n",
            b"%PDF-1.7\n" + b"bees " * 10_000,
            made.pdf([[(12, "Bees")]])[:120],
            b"%PDF-1.4\ntrailer << /Root 1 0 R >>\n%%EOF",
        ],
    )
    def test_damaged_ones(self, body: bytes) -> None:
        assert why_unreadable(body, "application/pdf").startswith("a PDF document")

    def test_a_torn_end_may_be_made_up_for(self) -> None:
        body = made.pdf([[(12, "Bees without an index")]])
        assert "Bees without an index" in page_of(body[: body.rindex(b"startxref")], "").text


class TestOffice:
    def test_docx(self) -> None:
        body = made.docx(
            '<w:p><w:pPr><w:pStyle w:val="Heading1"/></w:pPr><w:r><w:t>Of bees</w:t></w:r></w:p>'
            "<w:p><w:r><w:t>They live in </w:t></w:r>"
            '<w:hyperlink r:id="r1"><w:r><w:t>a </w:t></w:r><w:r><w:t>hive</w:t></w:r>'
            "</w:hyperlink><w:r><w:t>.</w:t></w:r></w:p>"
            '<w:p><w:r><w:fldChar w:fldCharType="begin"/></w:r>'
            '<w:r><w:instrText> HYPERLINK "http://wax.test/" </w:instrText></w:r>'
            '<w:r><w:t>wax</w:t></w:r><w:r><w:fldChar w:fldCharType="end"/></w:r>'
            "<w:r><w:t> and more</w:t></w:r></w:p>",
            title="Bees &amp; co",
            language="de-DE",
            address=HIVE,
        )
        page = page_of(body, DOCX)
        assert (page.title, page.language, page.headings) == ("Bees & co", "de", ("Of bees",))
        assert page.text == "Of bees They live in a hive. wax and more"
        assert linked(page) == [(HIVE, "a hive"), ("http://wax.test/", "wax")]
        assert page.links[0].before == "Of bees They live in"
        assert page.links[0].heading == "Of bees"

    def test_pptx(self) -> None:
        title = '<p:sp><p:nvPr><p:ph type="title"/></p:nvPr><a:p><a:t>Hives</a:t></a:p></p:sp>'
        link = (
            '<p:sp><a:p><a:r><a:rPr><a:hlinkClick r:id="r1"/></a:rPr><a:t>a hive</a:t></a:r>'
            "<a:r><a:t> of wood</a:t></a:r></a:p></p:sp>"
        )
        page = page_of(made.pptx([title, link], address=HIVE), "application/zip")
        assert (page.title, page.headings, page.text) == (
            "Hives",
            ("Hives",),
            "Hives a hive of wood",
        )
        assert linked(page) == [(HIVE, "a hive")]

    def test_xlsx(self) -> None:
        page = page_of(made.xlsx(["queen", "worker"], address=HIVE), "")
        assert page.text.startswith("queen worker")
        assert [link.url for link in page.links] == [HIVE]

    def test_xlsx_with_strings_in_its_cells(self) -> None:
        def sheet(*words: str) -> str:
            cells = "".join(f'<c t="inlineStr"><is><t>{word}</t></is></c>' for word in words)
            return f"<worksheet><row><c><f>A1+1</f><v>42</v></c>{cells}</row></worksheet>"

        body = made.package({
            "[Content_Types].xml": "<Types/>",
            "xl/workbook.xml": "<workbook/>",
            "xl/worksheets/sheet10.xml": sheet("drone"),
            "xl/worksheets/sheet2.xml": sheet("queen", "worker"),
        })  # fmt: skip
        assert page_of(body, "").text == "queen worker drone"

    def test_odt(self) -> None:
        body = made.odt(
            '<text:h text:outline-level="2">Of wax</text:h><text:p>It is <text:span>made'
            '</text:span> by <text:a xlink:href="http://hive.test/">bees</text:a>.</text:p>',
            title="Wax",
        )
        page = page_of(body, "application/octet-stream")
        assert (page.title, page.headings, page.text) == (
            "Wax",
            ("Of wax",),
            "Of wax It is made by bees.",
        )
        assert linked(page) == [(HIVE, "bees")]

    def test_epub(self) -> None:
        body = made.epub(
            [
                "<h1>Last</h1><p>Wax&nbsp;&amp; caf&eacute;</p>",
                '<h1>First</h1><p>See <a href="0.xhtml">there</a> or '
                '<a href="http://hive.test/">here</a></nope>',
            ],
            title="A book of bees",
        )
        page = page_of(body, "application/epub+zip")
        assert (page.title, page.language) == ("A book of bees", "en")
        assert page.headings == ("First", "Last")  # a part with damage is read as far as it goes
        assert page.text == "First See there or here Last Wax & café"
        assert linked(page) == [(HIVE, "here")]

    @pytest.mark.parametrize("name", ["chapter 1.xhtml", "chapter%201.xhtml"])
    def test_parts_of_an_epub_have_addresses(self, name: str) -> None:
        body = made.package({
            "mimetype": "application/epub+zip",
            "META-INF/container.xml": '<c><rootfile full-path="OPS/book.opf"/></c>',
            "OPS/book.opf": '<package><item id="c" href="chapter%201.xhtml"/><itemref idref="c"/>'
            "</package>",
            f"OPS/{name}": "<html><body><p>bees</p></body></html>",
        })  # fmt: skip
        assert page_of(body, "application/epub+zip").text == "bees"

    def test_a_bomb_is_not_unpacked(self) -> None:
        bomb = made.docx(f"<w:p><w:t>{' ' * 30_000_000}</w:t></w:p>")
        assert len(bomb) < 100_000
        assert "unpacks to more than is read (30,000," in why_unreadable(bomb, DOCX)

    def test_many_parts_are_refused(self) -> None:
        parts = {"[Content_Types].xml": b"", **{f"word/{n}": b"" for n in range(10_001)}}
        assert "10,002 parts" in why_unreadable(made.package(parts), DOCX)

    def test_entities_are_refused(self) -> None:
        bomb = '<!DOCTYPE d [<!ENTITY a "bees bees">]><w:document><w:t>&a;</w:t></w:document>'
        body = made.package({"[Content_Types].xml": b"", "word/document.xml": bomb})
        assert "declares XML entities" in why_unreadable(body, DOCX)

    @pytest.mark.parametrize("keep", [30, 200, -40])
    def test_cut_off_ones(self, keep: int) -> None:
        body = made.docx(f"<w:p><w:t>{SENTENCES}</w:t></w:p>")[:keep]
        assert why_unreadable(body, DOCX).startswith("an office document that is damaged")

    def test_another_package(self) -> None:
        body = made.package({"[Content_Types].xml": b"", "photos/1.jpg": b""})
        assert "no known parts" in why_unreadable(body, DOCX)

    def test_a_locked_part(self) -> None:
        body = bytearray(made.docx("<w:p/>"))
        for mark, place in ((b"PK\x01\x02", 8), (b"PK\x03\x04", 6)):
            start = body.find(mark)
            while start >= 0:
                body[start + place] |= 1
                start = body.find(mark, start + 4)
        assert why_unreadable(bytes(body), DOCX) == "an office document that needs a password"

    def test_a_million_characters_are_read(self) -> None:
        words = "".join(
            f"<w:p><w:t>{number} {'bees ' * 2_000}</w:t></w:p>" for number in range(150)
        )
        assert 900_000 < len(page_of(made.docx(words), DOCX).text) <= 1_000_000


RSS = """<?xml version="1.0"?>
<rss version="2.0" xmlns:content="c" xmlns:atom="a"><channel><title>Bee news</title>
<link>http://a.test/</link><description>All about bees</description><language>en-us</language>
<atom:link href="http://a.test/rss" rel="self"/>
<image><title>Logo</title><link>http://logo.test/</link></image>
<item><title>Swarms &amp;amp; hives</title><link>/swarms</link>
<description>short</description>
<content:encoded><![CDATA[<p>Bees <b>swarm</b> in May&hellip;</p>]]></content:encoded></item>
<item><guid>http://a.test/untitled</guid><description>Only a text about wax</description></item>
</channel></rss>"""

ATOM = """<feed xmlns="http://www.w3.org/2005/Atom" xml:lang="de"><title type="html">Bienen</title>
<entry><title>Schwarm</title><link rel="edit" href="http://a.test/edit"/>
<link href="http://a.test/schwarm"/><link rel="enclosure" href="http://a.test/x.mp3"/>
<content type="xhtml"><div xmlns="h">Ein <i>Schwarm</i></div></content></entry></feed>"""

JSON_FEED = """{"version": "https://jsonfeed.org/version/1.1", "title": "Bees", "items":
[{"id": "http://a.test/1", "title": "One", "content_html": "<p>Of hives</p>"}, 7,
 {"url": "http://a.test/2", "summary": "Of wax"}]}"""


class TestFeeds:
    def test_rss(self) -> None:
        page = page_of(RSS.encode(), "text/html")
        assert (page.title, page.language) == ("Bee news", "en")
        assert linked(page) == [
            ("http://a.test/", "Bee news"),
            ("http://a.test/swarms", "Swarms & hives"),
            ("http://a.test/untitled", "Only a text about wax"),
        ]
        assert page.links[1].after == "Bees swarm in May… Only a text about wax Only"
        assert "All about bees" in page.text
        assert "logo" not in page.text.lower()

    def test_atom(self) -> None:
        page = page_of(ATOM.encode(), "application/atom+xml")
        assert (page.title, page.language) == ("Bienen", "de")
        assert linked(page) == [("http://a.test/schwarm", "Schwarm")]
        assert page.text.endswith("Ein Schwarm")

    def test_rdf(self) -> None:
        body = (
            b"<rdf:RDF xmlns:rdf='r'><channel><title>Bees</title></channel><item><title>One</title>"
        )
        body += b"<link>http://a.test/1</link></item></rdf:RDF>"
        assert linked(page_of(body, "application/rdf+xml")) == [("http://a.test/1", "One")]

    def test_json(self) -> None:
        page = page_of(JSON_FEED.encode(), "application/feed+json")
        assert linked(page) == [("http://a.test/1", "One"), ("http://a.test/2", "Of wax")]
        assert "Of hives" in page.text

    def test_what_came_before_a_damage_is_kept(self) -> None:
        torn = RSS[: RSS.index("<item><guid>")] + "<item><title>&&&"
        assert len(page_of(torn.encode(), "text/xml").links) == 2

    @pytest.mark.parametrize(
        ("label", "word"),
        [
            ("gb2312", "蜜蜂"),
            ("gbk", "蜜蜂"),
            ("gb18030", "蜜蜂"),
            ("big5", "蜜蜂"),
            ("shift_jis", "蜜蜂の巣"),
            ("euc-jp", "蜜蜂の巣"),
            ("euc-kr", "벌집"),
            ("windows-1251", "пчёлы"),
            ("utf-16", "пчёлы 蜜蜂"),
        ],
    )
    def test_encodings(self, label: str, word: str) -> None:
        # HTML that an entry quotes says nothing about the feed.
        text = (
            f'<?xml version="1.0" encoding="{label}"?><rss><channel><title>{word}</title><item>'
            f"<link>/1</link><title>{word} 1</title><description><![CDATA[<meta charset=koi8-r>]]>"
            "</description></item></channel></rss>"
        )
        page = page_of(text.encode(label), "text/xml")
        assert (page.title, linked(page)) == (word, [("http://a.test/1", f"{word} 1")])

    def test_the_header_names_the_encoding(self) -> None:
        body = "<rss><channel><title>Bücher</title></channel></rss>".encode("latin-1")
        assert page_of(body, "application/rss+xml; charset=iso-8859-1").title == "Bücher"

    @pytest.mark.parametrize("start", ["\n", " \r\n\t", "\ufeff\n"])
    def test_blanks_before_the_declaration(self, start: str) -> None:
        assert page_of((start + RSS).encode(), "text/xml").title == "Bee news"

    def test_entities_of_html_and_bare_ampersands(self) -> None:
        body = (
            "<?xml version='1.0'?><rss><!-- &eacute; & --><channel><title>Caf&eacute; &amp;"
            " &nope; &#233;&#0;</title><item><title>AT&T\f bees &lt;3</title>"
            "<link>/1?a=1&copy=2&amp;c=3</link></item><item><title>b</title>"
            "<link><![CDATA[/2?a=1&b=&eacute;]]></link></item></channel></rss>"
        )
        page = page_of(body.encode(), "text/xml")
        assert page.title == "Café & &nope; é\ufffd"
        assert linked(page) == [
            ("http://a.test/1?a=1&copy=2&c=3", "AT&T bees <3"),
            ("http://a.test/2?a=1&b=&eacute;", "b"),
        ]

    def test_addresses_are_relative_to_what_the_feed_says(self) -> None:
        body = (
            '<feed xml:base="http://b.test/blog/"><title>F</title><link href="."/>'
            '<entry xml:base="2024/"><title>a</title><link href="one"/></entry>'
            '<entry><title>b</title><link xml:base="http://[">two</link></entry>'
            f'<entry xml:base="{"x" * 3_000}"><title>c</title><link href="/three"/></entry></feed>'
        )
        assert linked(page_of(body.encode(), "application/atom+xml")) == [
            ("http://b.test/blog/", "F"),
            ("http://b.test/blog/2024/one", "a"),
            ("http://b.test/blog/two", "b"),
            ("http://b.test/three", "c"),
        ]
        body = '<feed xml:base="/blog/"><entry><title>a</title><link href="one"/></entry></feed>'
        assert page_of(body.encode(), "text/xml").links[0].url == "http://a.test/blog/one"

    def test_an_entity_bomb(self) -> None:
        bomb = '<!DOCTYPE rss [<!ENTITY a "bees"><!ENTITY b "&a;&a;">]><rss>&b;</rss>'
        with pytest.raises(UnreadableDocumentError, match="declares XML entities"):
            read_document(bomb.encode(), URL, "text/xml", DocumentKind.FEEDS)

    def test_depth_is_limited(self) -> None:
        assert page_of(b"<rss>" + b"<item>" * 100_000, "text/xml").links == ()

    def test_json_of_another_kind(self) -> None:
        body = b'{"version": "https://jsonfeed.org/version/1", "items": 3}'
        assert "no list of items" in why_unreadable(body, "application/feed+json")

    def test_the_first_thousand_entries_are_read(self) -> None:
        items = "".join(f"<item><link>/{number}</link></item>" for number in range(3_000))
        page = page_of(f"<rss>{items}</rss>".encode(), "text/xml")
        assert len(page.links) == 1_000


MARKDOWN = """---
title: "Of bees"
---
# Bees #

They live in [a *hive*](http://hive.test/ "Hive") of **wood**, see [wax][w] and [honey].

Queens
------
* <http://queen.test/> or http://b.test/x_y_z. - 7 - all
* [![badge](http://img.test/b.svg)](http://badge.test/) ![bee](bee.png)

```
[no](http://code.test/)
```

[w]: http://wax.test/
[honey]: <http://honey.test/>
"""


class TestText:
    def test_markdown(self) -> None:
        page = page_of(MARKDOWN.encode(), "text/markdown; charset=utf-8")
        assert (page.title, page.headings) == ("Of bees", ("Bees", "Queens"))
        assert linked(page) == [
            (HIVE, "a hive"),
            ("http://wax.test/", "wax"),
            ("http://honey.test/", "honey"),
            ("http://queen.test/", "http://queen.test/"),
            ("http://b.test/x_y_z", "http://b.test/x_y_z"),
            ("http://badge.test/", "badge"),
        ]
        assert page.links[1].heading == "Bees"
        assert "of wood, see" in page.text
        assert "- 7 - all" in page.text

    def test_markdown_that_is_announced_as_text(self) -> None:
        page = page_of(b"# Bees\n\n[x](y)", "text/plain", "http://a.test/README.md?raw=1")
        assert (page.title, linked(page)) == ("Bees", [("http://a.test/y", "x")])

    def test_plain_text(self) -> None:
        text = f"RFC of bees\n\nSee (http://hive.test/),\r\nor www.wax.test. {SENTENCES}"
        page = page_of(text.encode(), "text/plain")
        assert (page.title, page.language) == ("RFC of bees", "en")
        assert linked(page) == [
            (HIVE, "http://hive.test/"),
            ("http://www.wax.test/", "www.wax.test"),
        ]

    @pytest.mark.parametrize(
        ("text", "addresses"),
        [
            ("请访问 http://a.test/，谢谢大家。", ["http://a.test/"]),
            ("詳細はhttp://a.test/page.htmlをご覧ください。", ["http://a.test/page.html"]),
            ("http://a.test/x에서, （www.b.test）", ["http://a.test/x", "http://www.b.test/"]),
            ("http://a.test/1…and “http://a.test/2”", ["http://a.test/1", "http://a.test/2"]),
            ("«http://a.test/1» http://a.test/2—or", ["http://a.test/1", "http://a.test/2"]),
            ("http://a.test/bücher–neu_(x)", ["http://a.test/b%C3%BCcher%E2%80%93neu_(x)"]),
            ("awww.a.test xhttp://a.test/", []),
        ],
    )
    def test_where_addresses_begin_and_end(self, text: str, addresses: list[str]) -> None:
        page = page_of(text.encode(), "text/plain")
        assert [link.url for link in page.links] == addresses

    def test_a_charset_that_is_a_lie(self) -> None:
        page = page_of("Bienen für die Wiese".encode(), "text/plain; charset=iso-8859-1")
        assert page.text == "Bienen für die Wiese"
        assert page.encoding == "utf-8"
        assert page_of("Bienen für".encode("cp1252"), "text/plain; charset=no").text == "Bienen für"

    def test_markup_in_text_is_text(self) -> None:
        page = page_of(b"<script>bees</script> & <a href='x'>y</a>", "text/plain")
        assert (page.text, page.links) == ("<script>bees</script> & <a href='x'>y</a>", ())

    def test_no_text_at_all(self) -> None:
        assert page_of(b"", "text/plain") == Page(URL, encoding="utf-8")


def test_heavy_documents_are_read_only_where_the_process_may_be_lost() -> None:
    for body in (made.pdf([[(12, "Bees")]]), made.docx("<w:p><w:t>Bees</w:t></w:p>")):
        assert extract_harmless(body, URL, "") is None
        assert extract_page(body, URL, "") == Page(URL)
    large = b"bees " * 20_001
    assert extract_harmless(large, URL, "text/plain") is None
    assert extract_harmless(large[:1_000], URL, "text/plain") is not None


@pytest.mark.parametrize(
    ("form", "said"),
    [("text", "Of bees\n\na hive"), ("markdown", "# Of bees\n\n[a hive](http://hive.test/)")],
)
def test_what_people_read(form: TextForm, said: str) -> None:
    body = made.docx(
        '<w:p><w:pPr><w:pStyle w:val="Title"/></w:pPr><w:t>Of bees</w:t></w:p>'
        '<w:p><w:hyperlink r:id="r1"><w:t>a hive</w:t></w:hyperlink></w:p>',
        address="//hive.test",
    )
    assert main_content(PageSource(body, URL, DOCX), form) == said


def test_without_the_library_the_reason_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "pypdfium2", None)
    with pytest.raises(UnreadableDocumentError, match=r"pip install 'trailhound\[documents\]'"):
        read_document(b"%PDF-1.7", URL, "", DocumentKind.PDF)


def test_the_first_feed_of_a_page_is_a_link_when_feeds_are_wanted() -> None:
    html = (
        b'<link rel="alternate" hreflang="de" href="/de"><link rel="alternate home" '
        b'title="Bee news" type="application/rss+xml" href="/rss"><link rel="alternate" '
        b'type="application/atom+xml" href="/comments"><p><a href="/hive">hive</a>'
    )
    plain = extract_harmless(html, URL, "text/html")
    offered = extract_harmless(html, URL, "text/html", feeds=True)
    assert plain is not None
    assert offered is not None
    assert linked(plain) == [("http://a.test/hive", "hive")]
    assert linked(offered)[1:] == [("http://a.test/rss", "Bee news")]


def test_blank_lines_part_paragraphs() -> None:
    assert pdf._PARAGRAPH_END.split("On wax\n\nbees make it\n \n\nof honey\nand pollen") == [
        "On wax",
        "bees make it",
        "of honey\nand pollen",
    ]
