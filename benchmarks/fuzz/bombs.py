"""Pages that are made to multiply while they are parsed, and what the parse guard promises of them.

Every page is a few stretches of tags, each repeated: openings first, then what makes the parser
repeat, move or search them. ``{n}`` is another number each time.
"""

from __future__ import annotations

from random import Random

from selectolax.lexbor import LexborDocumentOptions, LexborHTMLParser

from trailhound.text.parse_guard import HARMLESS, is_harmless

_FORMATTING = (
    "b",
    "i",
    "u",
    "s",
    "em",
    "tt",
    "font",
    "code",
    "nobr",
    "a",
    "STRONG",
    "big",
    "small",
)
_BLOCKS = ("p", "div", "li", "dd", "h1", "table", "td", "tr", "caption", "object", "button", "form")
_OTHERS = ("span", "svg", "math", "mi", "foreignObject", "desc", "template", "select", "option")
_RAW = (
    "script",
    "style",
    "title",
    "textarea",
    "noscript",
    "iframe",
    "xmp",
    "noframes",
    "plaintext",
)
_ATTRIBUTES = (
    "", "", " id={n}", " a={n} b c", " title='>'", " x=\">\" y{n}", " a=1/b='2'c{n}=\"3\"", "/",
    " ={n}", " \"={n}", " a='{n}' b=\"'>\"", "\tq{n}\n=\n'{n}'", " a b c d e f g h i{n}",
    " title=" + "x" * 60 + "{n}", " encoding=text/html", " selected",
)  # fmt: skip
_PIECES = (
    "<!--{end}-->", "{end}", "{end}{start}", "x", " ", "<![CDATA[{end}]]>", "<selectedcontent>",
    "<br>", "<hr>", "<input>", "<body a{n}>", "<html b{n}>", "<frameset>", "</p>", "</br>",
    "<!", "<?", "<a href='", "<", "</",
)  # fmt: skip


def bomb(rng: Random) -> str:
    """A page of a few kilobytes."""
    numbers = iter(range(1_000_000))
    return "".join(
        stretch.replace("{n}", str(next(numbers)))
        for stretch in [_stretch(rng) for _ in range(rng.randint(1, 5))]
        for _ in range(rng.choice((1, 3, 10, 40, 90)))
    )


def _stretch(rng: Random) -> str:
    return "".join(_piece(rng) for _ in range(rng.randint(1, 4)))


def _piece(rng: Random) -> str:
    names = rng.choices((_FORMATTING, _BLOCKS, _OTHERS, _RAW), (6, 5, 2, 1))[0]
    name = rng.choice(names)
    start = f"<{name}{rng.choice(_ATTRIBUTES)}>"
    if rng.random() < 0.6:
        return start
    return rng.choice(_PIECES).replace("{end}", f"</{name}>").replace("{start}", start)


def check_bomb(html: str) -> None:
    """The parsed tree is no larger than the guard says, for every limit that it says it keeps."""
    elements, attributes = _tree(html)
    written = html.count("<") * 200 + len(html) * 95 + 2_000
    taken = 200 * elements + 190 * attributes
    limit = 10_000
    while limit < HARMLESS.repeated_bytes and taken > written + limit:
        assert not is_harmless(html, HARMLESS._replace(repeated_bytes=limit)), limit
        limit *= 2


def _tree(html: str) -> tuple[int, int]:
    tree = LexborHTMLParser(html, scripting=True, options=LexborDocumentOptions.WO_EVENTS)
    elements = tree.css("*")
    return len(elements), sum(len(element.attributes) for element in elements)
