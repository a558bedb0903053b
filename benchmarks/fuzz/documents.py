"""Documents that are no HTML: feeds, Markdown, packages of XML, PDF; and those made to be slow."""

from __future__ import annotations

import io
import zipfile
import zlib
from collections.abc import Callable, Mapping
from random import Random

from benchmarks.fuzz.grammar import Grammar
from benchmarks.fuzz.mutations import Swollen
from benchmarks.fuzz.web_grammars import _ADDRESS

Make = Callable[[int], bytes]

FEED = Grammar(_ADDRESS | {
    "start": (
        "<rss><channel>«head»«items»</channel></rss>",
        "<?xml version='1.0' encoding='«encoding»'?><rss version='2.0'><channel>«head»«items»",
        "<feed xmlns='http://www.w3.org/2005/Atom' xml:lang='«any»'>«head»«items»</feed>",
        "<rdf:RDF xmlns:rdf='r'><channel>«head»</channel>«items»</rdf:RDF>",
        '{"version": "https://jsonfeed.org/version/1", "title": "«word»", "items": [«json»]}',
        "<!DOCTYPE rss [<!ENTITY a '«odd»'>]><rss>«items»&a;</rss>",
        "<rss>«odd»«items»",
    ),
    "encoding": ("utf-8", "utf-16", "iso-8859-1", "«odd»", "big5", "idna"),
    "head": ("<title>«text»</title>", "<link>«address»</link>«head»", "<language>«any»</language>",
             "<description>«text»</description>«head»", "<image><title>x</title></image>"),
    "items": ("", "«item»«items»", "«item»«items»«odd»"),
    "item": (
        "<item><title>«text»</title><link>«address»</link><description>«text»</description></item>",
        "<entry><title type='html'>«text»</title><link href='«address»'/><content>«text»</content>"
        "</entry>",
        "<entry><link rel='«word»' href='«address»'/><summary><div>«text»</div></summary></entry>",
        "<item><guid>«address»</guid><encoded><![CDATA[<p>«text»</p>]]></encoded></item>",
        "<item><item>«item»</item></item>",
        "<title><title>«text»</title></title>",
        "<!--«odd»-->",
    ),
    "json": ("{}", '{"id": "«address»", "title": "«word»"}, «json»',
             '{"url": «number», "content_html": "<p>«word»"}, «json»', "[«json»]", "«odd»"),
    "text": ("bees", "&lt;p&gt;«word»&lt;/p&gt; «text»", "&amp;amp;«word»", "&#«number»;", "«odd»",
             "«word» «text»", "&«word»;", "«run»"),
})  # fmt: skip

MARKDOWN = Grammar(_ADDRESS | {
    "start": ("«block»", "«block»\n\n«start»", "---\ntitle: «word»\n---\n«start»",
              "«block»\n«start»"),
    "block": ("«text»", "# «text»", "«text»\n====", "* «text»\n* «text»", "> «text»",
              "```\n«text»\n```", "[«word»]: «address»", "1. «text»", "~~~", "«run»"),
    "text": ("bees", "[«text»](«address») «text»", "![«word»](«address»)", "[«word»][«word»]",
             "<«address»>", "**«text»**", "`«odd»`", "«address»,", "(«address»)", "«odd»",
             "[![«word»](x)](«address»)", "<a href=«address»>«word»</a>", "www.«word».org «text»",
             "[«text»", "«run»[«run»", "_«word»_ «text»"),
})  # fmt: skip

_XML = Grammar(_ADDRESS | {
    "start": (
        "<w:document xmlns:w='w' xmlns:r='r'>«blocks»</w:document>",
        "<o:document-content xmlns:o='o' xmlns:text='t'>«blocks»</o:document-content>",
        "<p:sld xmlns:p='p' xmlns:a='a'>«blocks»</p:sld>",
        "<html><head><title>«text»</title></head><body>«blocks»</body></html>",
        "<sst>«blocks»</sst>",
        "<!DOCTYPE html PUBLIC 'a' 'b'><html>«blocks»&nbsp;</html>",
    ),
    "blocks": ("", "«block»«blocks»", "«block»«blocks»«odd»"),
    "block": (
        "<p><t>«text»</t></p>",
        "<w:p><w:pPr><w:pStyle w:val='Heading«small»'/></w:pPr><w:t>«text»</w:t></w:p>",
        "<text:h text:outline-level='«number»'>«text»</text:h>",
        "<p><hyperlink id='r1'><r><t>«text»</t></r></hyperlink></p>",
        "<p><a href='«address»'>«text»</a></p>",
        "<sp><ph type='title'/><p><r><rPr><hlinkClick id='r1'/></rPr><t>«text»</t></r></p></sp>",
        '<p><instrText>HYPERLINK "«address»"</instrText><t>«text»</t><fldChar fldCharType="end"/>',
        "<li>«block»</li>", "<script>«text»</script>", "<tab/><br/><s/>", "<si><t>«text»</t></si>",
    ),
    "text": ("bees", "«word» «text»", "&amp;&#«number»;", "«odd»", "«run»"),
})  # fmt: skip


def package(parts: Mapping[str, bytes]) -> bytes:
    """A zip file; the same for the same parts."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as made:
        for name, content in parts.items():
            made.writestr(zipfile.ZipInfo(name), content, zipfile.ZIP_DEFLATED, 1)
    return out.getvalue()


def office(rng: Random) -> bytes:
    """Any kind of package, with parts that belong to another one now and then."""
    content = _XML.make(rng).encode("utf-8", "replace")
    address = _XML.make(rng, "address").encode("utf-8", "replace")
    relations = b"<R><Relationship Id='r1' TargetMode='External' Target='%b'/></R>" % address
    name = rng.choice(_MAIN_PARTS)
    folder, _, file = name.rpartition("/")
    return package({
        "[Content_Types].xml": b"",
        name: content,
        f"{folder}/_rels/{file}.rels": relations,
        "xl/workbook.xml" if name.startswith("xl") else "meta.xml": b"<m><title>Bees</title></m>",
        "META-INF/container.xml": b"<c><rootfile full-path='b.opf'/></c>",
        "b.opf": b"<p><item id='a' href='c.xhtml'/><itemref idref='a'/></p>",
    })  # fmt: skip


_MAIN_PARTS = (
    *("word/document.xml", "ppt/slides/slide1.xml", "xl/sharedStrings.xml", "content.xml"),
    "c.xhtml",
)


def pdf(rng: Random) -> bytes:
    """One page, packed or not, whose index is often wrong."""
    lines = [f"BT /F1 {rng.choice((8, 12, 30))} Tf 72 {y} Td (bees) Tj ET" for y in (700, 650, 90)]
    stream = "\n".join(lines * rng.choice((1, 1, 9))).encode()
    how = b""
    if rng.random() < 0.5:
        stream, how = zlib.compress(stream), b"/Filter /FlateDecode"
    uri = f"http://a.test/{rng.randrange(99)}".encode()
    bodies = (
        b"<< /Type /Catalog /Pages 2 0 R /Outlines 6 0 R /Lang (en) >>",
        b"<< /Type /Pages /Kids [3 0 R] /Count %d >>" % rng.choice((1, 1, 0, 99_999, -1)),
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 4 0 R /Annots [5 0 R] "
        b"/Resources << /Font << /F1 << /Type /Font /Subtype /Type1 /BaseFont /Times >> >> >> >>",
        b"<< /Length %d %b >>\nstream\n%b\nendstream" % (len(stream), how, stream),
        b"<< /Subtype /Link /Rect [70 690 200 720] /A << /S /URI /URI (%b) >> >>" % uri,
        b"<< /First 7 0 R /Last 7 0 R /Count 1 >>",
        b"<< /Title (bees) /Parent 6 0 R /Dest [3 0 R] /Next %d 0 R >>" % rng.choice((7, 6, 9)),
    )  # fmt: skip
    made = b"%PDF-1.7\n"
    for number, body in enumerate(bodies, 1):
        made += b"%d 0 obj\n%b\nendobj\n" % (number, body)
    return made + b"trailer\n<< /Size 8 /Root 1 0 R >>\nstartxref\n0\n%%EOF\n"


def _grown(head: bytes, piece: bytes, tail: bytes = b"") -> Make:
    return Swollen(head, piece, tail).of_size


def _in_package(name: str, make: Make) -> Make:
    """Four times what the package weighs: a bomb that is just small enough to be read."""
    return lambda size: package({"[Content_Types].xml": b"", name: make(4 * size)})


FAMILIES: Mapping[str, Mapping[str, Make]] = {
    "feed": {
        "items": _grown(b"<rss><channel>", b"<item><title>Bees</title><link>/######</link></item>"),
        "items in items": _grown(b"<rss>", b"<item>"),
        "tags in a summary": _grown(b"<rss><item><description>", b"&lt;", b"</description></item>"),
        "open tags in a summary": _grown(b"<rss><item><title>", b"&lt;a ", b"</title></item>"),
        "one long title": _grown(b"<rss><item><title>", b"bees ", b"</title></item></rss>"),
        "fields in a field": _grown(b"<rss><channel><title>", b"<title>x</title>"),
        "one endless tag": _grown(b"<rss><item a='", b"bees ", b"'/>"),
        "attributes": _grown(b"<rss><item ", b"a######='' ", b"/>"),
        "comments": _grown(b"<rss>", b"<!---->"),
        "JSON items": _grown(
            b'{"version":"https://jsonfeed.org/version/1","items":[', b'{"url":"/######"},', b"{}]}"
        ),
        "JSON in JSON": _grown(b'{"version":"https://jsonfeed.org/version/1","items":', b"["),
    },
    "text": {
        "words": _grown(b"m", b"bees and w###### "),
        "addresses": _grown(b"m", b"http://a.test/###### "),
        "one address": _grown(b"mhttp://a.test/", b"a.,"),
        "almost addresses": _grown(b"m", b"http://"),
        "open brackets": _grown(b"m", b"["),
        "open brackets with words": _grown(b"m", b"[bees "),
        "open links": _grown(b"m", b"[a]("),
        "open images": _grown(b"m", b"[![a](b)"),
        "half images": _grown(b"m[", b"![a"),
        "parentheses": _grown(b"m[a](", b"(a)"),
        "definitions": _grown(b"m", b"[a######]: http://a.test/######\n"),
        "references": _grown(b"m[a]: http://a.test/\n", b"[a][a]"),
        "emphasis": _grown(b"m", b"*_`"),
        "tags": _grown(b"m", b"<a "),
        "blank lines": _grown(b"m", b" \n\t\n"),
        "headings": _grown(b"m", b"# bees\n"),
        "one heading": _grown(b"m# ", b" #"),
        "underlines": _grown(b"m", b"a\n---\n"),
        "lists": _grown(b"m", b"* - 1. "),
        "fences": _grown(b"m", b"```\n"),
        "blanks": _grown(b"m", b" "),
        "plain lines": _grown(b"p", b"bees in line ######\n"),
    },
    "office": {
        "paragraphs": _in_package("word/document.xml", _grown(b"<document>", b"<p><t>a</t></p>")),
        "one paragraph": _in_package("word/document.xml", _grown(b"<document><p>", b"<t>a</t>")),
        "elements in elements": _in_package("content.xml", _grown(b"<d>", b"<a>")),
        "links": _in_package(
            "content.xml", _grown(b"<d>", b"<a href='http://a.test/######'>a</a>")
        ),
        "characters": _in_package("content.xml", _grown(b"<d>", b"&#65;&amp;")),
        "parts": lambda size: package({f"word/{n}": b"" for n in range(size // 100)}),
        "a list of links": _in_package(
            "word/_rels/document.xml.rels", _grown(b"<R>", b"<Relationship Id='r######'/>")
        ),
    },
    "pdf": {
        "comments": _grown(b"%PDF-1.7\n", b"% bees\n"),
        "objects": _grown(b"%PDF-1.7\n", b"1 0 obj << /Type /Page >> endobj\n", b"trailer << >>"),
        "dictionaries": _grown(b"%PDF-1.7\n1 0 obj ", b"<< /A "),
    },
}
"""Each is an input of any size; the first byte of a text says if it is Markdown."""
