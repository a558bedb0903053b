"""Small documents of every kind, made by hand."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Mapping, Sequence

Link = tuple[str, tuple[int, int, int, int]]
"""An address, and the rectangle that leads there."""


def pdf(
    pages: Sequence[Sequence[tuple[int, str]]],
    *,
    title: str = "",
    language: str = "",
    links: Mapping[int, Sequence[Link]] | None = None,
    outline: Sequence[tuple[str, int]] = (),
    claimed_pages: int | None = None,
    is_locked: bool = False,
) -> bytes:
    """Lines of each page with their sizes, from the top down; the first is 700 points up."""
    objects: list[str] = ["", ""]  # the catalogue and the tree of pages come last

    def add(content: str) -> int:
        objects.append(content)
        return len(objects)

    font = add("<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>")
    numbers = []
    for index, lines in enumerate(pages):
        shown = [
            f"BT /F1 {size} Tf 72 {700 - 30 * row} Td ({text}) Tj ET"
            for row, (size, text) in enumerate(lines)
        ]
        stream = "\n".join(shown)
        content = add(f"<< /Length {len(stream)} >>\nstream\n{stream}\nendstream")
        notes = [
            add(
                f"<< /Type /Annot /Subtype /Link /Rect [{' '.join(map(str, area))}] "
                f"/A << /S /URI /URI ({address}) >> >>"
            )
            for address, area in (links or {}).get(index, ())
        ]
        numbers.append(
            add(
                "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] "
                f"/Resources << /Font << /F1 {font} 0 R >> >> /Contents {content} 0 R "
                f"/Annots [{' '.join(f'{note} 0 R' for note in notes)}] >>"
            )
        )
    kids = " ".join(f"{number} 0 R" for number in numbers)
    objects[1] = f"<< /Type /Pages /Kids [{kids}] /Count {claimed_pages or len(numbers)} >>"
    more = f"/Lang ({language})" if language else ""
    if outline:
        root = len(objects) + 1
        add(f"<< /First {root + 1} 0 R /Last {root + len(outline)} 0 R /Count {len(outline)} >>")
        for place, (heading, page) in enumerate(outline, 1):
            after = f"/Next {root + place + 1} 0 R" if place < len(outline) else ""
            add(
                f"<< /Title ({heading}) /Parent {root} 0 R {after} "
                f"/Dest [{numbers[page]} 0 R /Fit] >>"
            )
        more += f" /Outlines {root} 0 R"
    objects[0] = f"<< /Type /Catalog /Pages 2 0 R {more} >>"
    trailer = ""
    if title:
        trailer += f" /Info {add(f'<< /Title ({title}) >>')} 0 R"
    if is_locked:
        key = "<" + "41" * 32 + ">"
        locked = add(f"<< /Filter /Standard /V 1 /R 2 /P -4 /O {key} /U {key} >>")
        trailer += f" /Encrypt {locked} 0 R /ID [<00> <00>]"
    return _written(objects, trailer)


def _written(objects: Sequence[str], trailer: str) -> bytes:
    out = bytearray(b"%PDF-1.7\n")
    places = []
    for number, content in enumerate(objects, 1):
        places.append(len(out))
        out += f"{number} 0 obj\n{content}\nendobj\n".encode("latin-1")
    start = len(out)
    out += f"xref\n0 {len(objects) + 1}\n0000000000 65535 f \n".encode()
    out += b"".join(f"{place:010} 00000 n \n".encode() for place in places)
    out += f"trailer\n<< /Size {len(objects) + 1} /Root 1 0 R{trailer} >>\n".encode()
    return bytes(out) + f"startxref\n{start}\n%%EOF\n".encode()


def package(parts: Mapping[str, str | bytes]) -> bytes:
    """A zip file; a part named ``mimetype`` is stored as it is."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as made:
        for name, content in parts.items():
            how = zipfile.ZIP_STORED if name == "mimetype" else zipfile.ZIP_DEFLATED
            made.writestr(name, content, how)
    return out.getvalue()


_CORE = (
    '<cp:coreProperties xmlns:cp="c" xmlns:dc="d"><dc:title>{title}</dc:title>'
    "<dc:language>{language}</dc:language></cp:coreProperties>"
)
_RELATIONS = (
    '<Relationships><Relationship Id="r1" Type="t" Target="{address}" TargetMode="External"/>'
    '<Relationship Id="r2" Type="t" Target="styles.xml"/></Relationships>'
)


def docx(body: str, *, title: str = "", language: str = "", address: str = "") -> bytes:
    """``body`` is what is inside ``w:body``; the relation ``r1`` leads to ``address``."""
    return package({
        "[Content_Types].xml": "<Types/>",
        "word/document.xml": '<w:document xmlns:w="w" xmlns:r="r"><w:body>'
        f"{body}</w:body></w:document>",
        "word/_rels/document.xml.rels": _RELATIONS.format(address=address),
        "docProps/core.xml": _CORE.format(title=title, language=language),
    })  # fmt: skip


def pptx(slides: Sequence[str], *, address: str = "") -> bytes:
    """Each slide is what is inside its tree of shapes."""
    parts: dict[str, str | bytes] = {"[Content_Types].xml": "<Types/>"}
    for number, slide in enumerate(slides, 1):
        parts[f"ppt/slides/slide{number}.xml"] = (
            f'<p:sld xmlns:p="p" xmlns:a="a" xmlns:r="r"><p:cSld><p:spTree>{slide}'
            "</p:spTree></p:cSld></p:sld>"
        )
        parts[f"ppt/slides/_rels/slide{number}.xml.rels"] = _RELATIONS.format(address=address)
    return package(parts)


def xlsx(cells: Sequence[str], *, address: str = "") -> bytes:
    """Strings of cells, and one link."""
    strings = "".join(f"<si><t>{cell}</t></si>" for cell in cells)
    return package({
        "[Content_Types].xml": "<Types/>",
        "xl/workbook.xml": "<workbook/>",
        "xl/sharedStrings.xml": f"<sst>{strings}</sst>",
        "xl/worksheets/_rels/sheet1.xml.rels": _RELATIONS.format(address=address),
    })  # fmt: skip


def odt(body: str, *, title: str = "") -> bytes:
    """``body`` is what is inside ``office:text``."""
    return package({
        "mimetype": "application/vnd.oasis.opendocument.text",
        "content.xml": '<office:document-content xmlns:office="o" xmlns:text="t" xmlns:xlink="x">'
        f"<office:body><office:text>{body}</office:text></office:body></office:document-content>",
        "meta.xml": f'<m xmlns:dc="d"><dc:title>{title}</dc:title></m>',
    })  # fmt: skip


def epub(chapters: Sequence[str], *, title: str = "", language: str = "en") -> bytes:
    """Chapters are bodies of XHTML files, read from the last to the first."""
    items = "".join(f'<item id="c{n}" href="text/{n}.xhtml"/>' for n in range(len(chapters)))
    order = "".join(f'<itemref idref="c{n}"/>' for n in reversed(range(len(chapters))))
    about = f"<dc:title>{title}</dc:title><dc:language>{language}</dc:language>"
    return package({
        "mimetype": "application/epub+zip",
        "META-INF/container.xml": '<c><r><rootfile full-path="OPS/book.opf"/></r></c>',
        "OPS/book.opf": f'<package xmlns:dc="d"><metadata>{about}</metadata>'
        f"<manifest>{items}</manifest><spine>{order}</spine></package>",
        **{
            f"OPS/text/{n}.xhtml": f"<html><head><title>x</title></head><body>{text}</body></html>"
            for n, text in enumerate(chapters)
        },
    })  # fmt: skip
