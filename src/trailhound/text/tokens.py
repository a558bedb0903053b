"""Words to terms, by which models compare pages; and back to words, for people to read.

A text becomes lower-case Unicode words; a word becomes a term, or nothing:

* stop words of the text's language go (stopwordsiso, but for English words that topics are made
  of: its list holds "course" and "research");
* the rest are stemmed by that language's Snowball stemmer, if it has one;
* a text of unknown language (``""``) is treated as English, the likeliest one: a page too short to
  tell must still meet the terms of longer pages;
* single letters and bare numbers go, but four-digit years (1000 to 2999) stay;
* words are cut at 20 characters before they are stemmed;
* runs of characters written without spaces (Han, Kana, Hangul, Thai, Lao, Khmer, Burmese) become
  pairs of neighbouring characters.

Terms depend on text and language alone, so that processes and machines agree on them.
"""

from __future__ import annotations

import re
import sys
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from functools import cache, lru_cache
from itertools import pairwise

import Stemmer
import stopwordsiso

from trailhound.records import Page

MAX_WORD_LENGTH = 20
# Chunks remembered per language, about 200 bytes each; a full memo starts afresh.
MEMO_SIZE = 200_000
# Longer ones are codes or Chinese sentences, and hardly come again.
MEMO_BYTES = 60

_UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff"  # Thai and Lao, Burmese, Khmer
    "\u3005-\u3007\u3040-\u30fa\u30fc-\u30ff\u31f0-\u31ff"  # Kana with the iteration marks
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"  # Han
    "\uac00-\ud7af"  # Hangul
    "\U00020000-\U0003ffff"
)
_IS_UNSPACED = re.compile(f"[{_UNSPACED}]")
# On one letter, as in Unicode's Stream-Safe Text Format.
_MAX_MARKS = 30
_ALGORITHMS = frozenset(Stemmer.algorithms())
_JOINERS = "\u200c\u200d"  # zero-width, inside Persian and Indic words
# ASCII letters to lower case, ASCII punctuation to blanks; bytes of other characters stay.
_PLAIN_ASCII = bytes(
    code if code > 127 else ord(chr(code).lower()) if chr(code).isalnum() else 32
    for code in range(256)
)
_PLAIN_LINES = _PLAIN_ASCII[:10] + b"\n" + _PLAIN_ASCII[11:]
END_OF_LINE = b"\x01"  # which no text keeps
_YEAR = re.compile("[12][0-9]{3}")
_SPELLED = re.compile(r"\w+")

_STEMMERS = {
    "ar": "arabic", "ca": "catalan", "cs": "czech", "da": "danish", "de": "german", "el": "greek",
    "en": "english", "eo": "esperanto", "es": "spanish", "et": "estonian", "eu": "basque",
    "fa": "persian", "fi": "finnish", "fr": "french", "ga": "irish", "hi": "hindi",
    "hu": "hungarian", "hy": "armenian", "id": "indonesian", "it": "italian", "lt": "lithuanian",
    "ne": "nepali", "nl": "dutch", "no": "norwegian", "pl": "polish", "pt": "portuguese",
    "ro": "romanian", "ru": "russian", "sr": "serbian", "st": "sesotho", "sv": "swedish",
    "ta": "tamil", "tr": "turkish", "yi": "yiddish",
}  # fmt: skip
# Entries of the stop word lists that name things people look for.
_MEANINGFUL = {"en": frozenset([
    "ai", "bill", "computer", "course", "cv", "fire", "homepage", "information", "invention",
    "member", "members", "microsoft", "mill", "netscape", "novel", "research", "ring", "room",
    "rooms", "section", "shell", "state", "states", "system", "test", "text", "tv", "web",
    "website", "wells", "world",
])}  # fmt: skip
_SAME_RULES = {"": "en", "nb": "no", "nn": "no"}
_TURKIC_CAPITALS = str.maketrans({"I": "ı", "İ": "i"})


def tokenize(text: str, language: str = "") -> list[str]:
    """The terms of ``text`` in order. ``language`` is a two-letter code, ``""`` if unknown."""
    return " ".join(_terms_of_chunks(text, language)).split()


def tokenize_lines(lines: Iterable[str], language: str = "") -> list[list[str]]:
    """The terms of many short texts, none of which has a line break; faster than one by one."""
    term_of = _vocabulary(_rules_of(language)).__getitem__
    plain = _plain_lines(lines, language)
    return [" ".join(map(term_of, line.split())).split() for line in plain.split(b"\n")]


def chunk_lines(lines: Iterable[str], language: str = "") -> list[bytes]:
    """The chunks (see ``_Vocabulary``) of many such texts, ``END_OF_LINE`` behind each text."""
    return (_plain_lines(lines, language) + b"\n").replace(b"\n", b" " + END_OF_LINE + b" ").split()


def terms_by_chunk(language: str = "") -> Mapping[bytes, str]:
    """What chunks of :func:`chunk_lines` stand for: a term, several with blanks, or nothing."""
    return _vocabulary(_rules_of(language))


def _plain_lines(lines: Iterable[str], language: str) -> bytes:
    text = "\n".join(lines)
    if language in ("tr", "az"):
        text = text.translate(_TURKIC_CAPITALS)
    return text.encode("utf-8", "replace").translate(_PLAIN_LINES)


def count_terms(text: str, language: str = "") -> dict[str, int]:
    """How often each term of ``text`` occurs, in order of first occurrence."""
    counts = dict(Counter(filter(None, _terms_of_chunks(text, language))))
    if " " not in "".join(counts):
        return counts
    apart: dict[str, int] = {}
    for terms, count in counts.items():
        for term in map(sys.intern, terms.split()):
            apart[term] = apart.get(term, 0) + count
    return apart


def _terms_of_chunks(text: str, language: str) -> Iterator[str]:
    """What each chunk stands for: a term, several with blanks between them, or nothing."""
    if language in ("tr", "az"):
        text = text.translate(_TURKIC_CAPITALS)
    vocabulary = _vocabulary(_rules_of(language))
    # As bytes: a string's own translate() looks every character up by itself.
    chunks = text.encode("utf-8", "replace").translate(_PLAIN_ASCII).split()
    return map(vocabulary.__getitem__, chunks)


class _Vocabulary(dict[bytes, str]):
    """One language's rules, and a memo of the terms in each chunk of text.

    A chunk is what stands between ASCII punctuation and blanks, ASCII letters in lower case: an
    English word, or a longer stretch of other scripts. Looking one up costs 50 ns once its terms
    are known, and finding them 2 µs; cutting text into chunks is all that remains per page.
    """

    def __init__(self, language: str) -> None:
        super().__init__()
        meaningful = _MEANINGFUL.get(language, frozenset())
        self._stop_words = frozenset(stopwordsiso.stopwords(language)) - meaningful
        algorithm = _STEMMERS.get(language)
        # The stemmer's own cache would hold the same words again.
        self._stemmer = Stemmer.Stemmer(algorithm, 0) if algorithm in _ALGORITHMS else None

    def __missing__(self, chunk: bytes) -> str:
        if chunk.isascii():
            terms = self._plain_term(chunk[:MAX_WORD_LENGTH].decode("ascii"))
        else:
            several = filter(None, map(self._term, _words(chunk.decode("utf-8"))))
            terms = sys.intern(" ".join(several))
        if len(chunk) <= MEMO_BYTES:
            if len(self) >= MEMO_SIZE:
                self.clear()
            self[chunk] = terms
        return terms

    def _term(self, word: str) -> str:
        """The term of a lower-case word, ``""`` when it carries no meaning."""
        if _IS_UNSPACED.match(word):
            return "" if word in self._stop_words else word
        return self._plain_term(word)

    def _plain_term(self, word: str) -> str:
        """The same for a word of a script with spaces."""
        if word in self._stop_words or len(word) < 2:
            return ""
        if word.isdecimal() and not _YEAR.fullmatch(word):
            return ""
        stem: str = self._stemmer.stemWord(word) if self._stemmer is not None else word
        # Interned: dictionaries find a term by its identity, without reading it.
        return sys.intern(stem if len(stem) > 1 else word)


@cache
def _vocabulary(rules: str) -> _Vocabulary:
    return _Vocabulary(rules)


@lru_cache(maxsize=4096)
def _rules_of(language: str) -> str:
    """The language whose rules apply; one name for all that have none, so that memos are few."""
    language = _SAME_RULES.get(language, language)
    known = language in _STEMMERS or stopwordsiso.has_lang(language)
    return language if known else "-"


def _words(chunk: str) -> list[str]:
    """Lower-case words, and pairs of characters from scripts without spaces."""
    # NFKC: decomposed accents, ligatures and full-width letters meet their plain spelling.
    if len(chunk) > _MAX_MARKS:
        chunk = _long_stacks().sub(r"\1", chunk)
    plain = unicodedata.normalize("NFKC", chunk).lower()
    return [piece for word in _unicode_words().findall(plain) for piece in _pieces(word)]


def _pieces(word: str) -> list[str]:
    if _IS_UNSPACED.match(word) is None or len(word) == 1:
        return [word[:MAX_WORD_LENGTH]]
    return [first + second for first, second in pairwise(word)]


@lru_cache(maxsize=1)
def _unicode_words() -> re.Pattern[str]:
    """Runs of an unspaced script, or of letters and digits with the marks that belong to them.

    Python's ``\\w`` leaves combining marks out, which would cut Hindi words at every vowel sign.
    """
    letters = f"[^\\W_{_UNSPACED}]"
    return re.compile(f"[{_UNSPACED}]+|{letters}+(?:[{_combining_marks()}]+{letters}*)*")


@lru_cache(maxsize=1)
def _long_stacks() -> re.Pattern[str]:
    """More marks on one letter than any script has.

    Normalising puts them in order, one by one: a megabyte of them would take an hour.
    """
    marks = "".join(filter(unicodedata.combining, map(chr, range(0x300, 0x20000))))
    return re.compile(f"([{marks}]{{{_MAX_MARKS}}})[{marks}]++")


def _combining_marks() -> str:
    """The marks of the basic plane as ranges of a character class."""
    codes = [code for code in range(0x300, 0xFFFF) if unicodedata.category(chr(code))[0] == "M"]
    ranges: list[list[int]] = []
    for code in codes:
        if ranges and code == ranges[-1][1] + 1:
            ranges[-1][1] = code
        else:
            ranges.append([code, code])
    return _JOINERS + "".join(f"{chr(first)}-{chr(last)}" for first, last in ranges)


def commonest_forms(pages: Iterable[Page], terms: Collection[str]) -> dict[str, str]:
    """For each of ``terms`` the lower-case word that stands for it most often in the pages.

    A term without a word of its own (a pair of Chinese characters, say) stands for itself.
    """
    wanted = set(terms)
    forms: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for language, words in _words_by_language(pages).items():
        for word, count in words.items():
            found = tokenize(word, language)
            if len(found) == 1 and found[0] in wanted:
                forms[found[0]][word] += count
    return {term: _commonest(forms.get(term), term) for term in terms}


def _words_by_language(pages: Iterable[Page]) -> dict[str, Counter[str]]:
    words: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for page in pages:
        words[page.language].update(_SPELLED.findall(f"{page.title}\n{page.text}".lower()))
    return words


def _commonest(counted: Counter[str] | None, term: str) -> str:
    """Ties go to the shorter word, then to the alphabet: the order of pages must not matter."""
    if not counted:
        return term
    return min(counted, key=lambda word: (-counted[word], len(word), word))
