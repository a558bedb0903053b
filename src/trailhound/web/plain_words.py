"""What the command line says, for people who look at the app: where to press, not what to type.

Messages are written once, for terminals; programs hear of arguments instead
(:func:`trailhound.errors.in_arguments`), and here is what the app makes of those it often shows.
What only a terminal can do keeps its words.
"""

from __future__ import annotations

import re

import msgspec

from trailhound.crawling.budget import StopReason
from trailhound.topics.crawls.notices import Failure
from trailhound.topics.crawls.status import RunningCrawl, Wish
from trailhound.topics.finds.explaining import Explanation

_ENDED = {Wish.STOP: "it was stopped", Wish.PAUSE: "it was paused"}
"""Where the command line says that it was interrupted."""

_WORDS = tuple(
    (re.compile(said), meant)
    for said, meant in (
        (r"Name one or more: --seed URL", "Tick or write one or more under 'Where to start'."),
        (
            r"Name others with --seed URL, or change --scope and --exclude",
            "Name others under 'Where to start', or change 'Where it may go'",
        ),
        (
            r"--same-domain stays on the domains of the seeds, and there are none\. Name seeds "
            r"with --seed URL, or say where to stay with --scope HOST",
            "It is to stay on the domains of the pages it starts from, and there are none. Name "
            "some under 'Where to start', or say where to stay under 'Where it may go'",
        ),
        (
            r"stop it: trailhound stop .+ \('trailhound results' works meanwhile\)",
            "stop it under Crawls",
        ),
        (r"or let it end: trailhound stop .+$", "or let it end."),
        (
            r"Go on with: trailhound crawl .+ --resume \(with more --seed URLs if you like\), or "
            r"begin anew with --restart",
            "Go on with it, or begin anew",
        ),
        (r"Resume without --strategy, or begin anew with ('.+') and --restart", r"Begin anew \1"),
        (r"Begin it anew with --restart, or learn with --states", "Begin anew, or learn with"),
        (r"\bcrawl\.max_time\b", "'Time at most'"),
        (r"Allow more with --max-requests( \d+)?", "Allow more requests"),
        (
            r"contact with --user-agent ('.+?'), in the variable .+$",
            r"contact under 'Who is crawling', such as \1.",
        ),
        (
            r"add --allow-address (\S+)\.",
            r"add \1 to 'Hosts of your own network' under 'Where it may go'.",
        ),
        # Where advice follows, once is enough.
        (r"; allow_addresses can permit it by name(?=\. If it is meant)", ""),
        (
            r"; allow_addresses can permit it by name",
            "; 'Hosts of your own network' under 'Where it may go' can permit it by name",
        ),
        (r"see --allow-address", "see 'Hosts of your own network' under 'Where it may go'"),
        (r"--resolve tells where a host is", "'Where hosts are' tells where a host is"),
        (r"see --cookies and --for-host", "the extension can hand over your cookies"),
        (
            r"export its cookies, and go on with --cookies FILE --for-host \S+",
            "hand over its cookies with the extension's popup, and tick it under 'Read as you'.",
        ),
        (r" \(--fresh: without\)", ""),
        (r"goes on with --resume", "goes on when you press Go on"),
        (r"go on with --resume( \(.+?\))?", "press Go on"),
        (r" \(a crawl: with --resume\)", ""),
        (r" \(a crawl that had begun: with --resume; (.+?)\)", r"; for a crawl, press Go on: \1"),
        (r"give it as a seed: --resume --seed URL", "begin anew with it as a page to start from."),
        (r", or set allow_impolite = true \(--allow-impolite\) if they have agreed", ""),
        (r", or name a judge that needs no session with --judge, such as keywords", ""),
        (
            r"(Nothing has been learned for .+ yet\.) Learn it (from .+ )?with: trailhound .+$",
            r"\1 Learn from a session first, or give a crawl 'Words of useful pages' to go by.",
        ),
        (r" Name one or more with --session FILE\.", " Browse first."),
        (
            r"Import again with --fetch, which asks the web for the contents, or name a corpus or "
            r"web archive that holds them with --content",
            "Import again and let the web be asked for pages without content",
        ),
        (
            r"import again with --fetch, or name an archive with --content",
            "import again and let the web be asked for pages without content",
        ),
        (
            r"Name it, for example: --site https://www\.example\.org",
            "Write it under 'Whose log it is', such as https://www.example.org",
        ),
        (r"Write for example --site ", "Write for example "),
        (r": read it with 'trailhound import \w+'", ". Choose that under 'What it is'"),
        (
            r"is not a Trailhound session: .+ Convert other recordings with 'trailhound import'\.",
            "is no session that Trailhound recorded. Choose under 'What it is' what made the file.",
        ),
        (r" See 'trailhound results .+' for its pages, and 'trailhound explain .+'\.", ""),
        (r" or fetch it again with 'trailhound crawl .+ --refresh'", " or look for changes"),
    )
)

_FIELDS = {
    "max_requests": "Requests at most",
    "requests": "Requests a night",
    "delay_seconds": "Seconds between requests to one site",
    "start": "From",
    "end": "To",
    "n_states": "Distances",
    "max_clusters": "Clusters",
    "max_rank": "Dimensions",
    "threshold": "Threshold",
    "seed_sets": "Sets of start pages",
}
"""What forms call that which requests call otherwise."""
_PLACE = re.compile(r" - at `\$\.(?:\w+\.)*(\w+)`$")
_BOUND = re.compile(r"Expected `(int|float)` (<=|>=) (-?[\d.]+)")
_KIND = re.compile(r"Expected `(int|float|str)\b")
_KINDS = {"int": "a whole number", "float": "a number", "str": "a time such as 22:00"}


def wrong_request(error: str) -> str:
    """That a request is not as it should be, for people who use forms and for programs.

    ``error`` has the words of msgspec: ``Expected `int` >= 1 - at `$.max_requests```.
    """
    place = _PLACE.search(error)
    if place is None or place[1] not in _FIELDS:
        return f"The request cannot be understood: {error}. What it may say is in /docs."
    return (
        f"'{_FIELDS[place[1]]}' cannot be understood{_wanted(error)}. In the words of /docs, for "
        f"programs: {error}."
    )


def _wanted(error: str) -> str:
    if (bound := _BOUND.match(error)) is not None:
        which = "up to" if bound[2] == "<=" else "of at least"
        return f": write {_KINDS[bound[1]]} {which} {_grouped(bound[3])}"
    kind = _KIND.match(error)
    return f": write {_KINDS[kind[1]]}" if kind is not None else ""


def _grouped(number: str) -> str:
    whole = number.removesuffix(".0")
    return f"{int(whole):,}" if whole.isdigit() else whole


def in_app(message: str) -> str:
    """The message in words of the app."""
    for said, meant in _WORDS:
        message = said.sub(meant, message)
    return message


def crawl_in_app(crawl: RunningCrawl) -> RunningCrawl:
    """A crawl that tells of itself in words of the app."""
    ended = crawl.ended
    if crawl.asked_to is not None and ended == StopReason.INTERRUPTED.value:
        ended = _ENDED[crawl.asked_to]
    return msgspec.structs.replace(
        crawl,
        ended=in_app(ended),
        failed=in_app(crawl.failed),
        remark=in_app(crawl.remark),
        notices=tuple(
            msgspec.structs.replace(each, text=in_app(each.text)) for each in crawl.notices
        ),
        went_wrong=tuple(map(failure_in_app, crawl.went_wrong)),
    )


def explained_in_app(told: Explanation) -> Explanation:
    """The same for the story of a page."""
    details = [in_app(each) for each in told.details]
    return msgspec.structs.replace(told, because=in_app(told.because), details=details)


def failure_in_app(failure: Failure) -> Failure:
    """The same for what went wrong."""
    return msgspec.structs.replace(
        failure, what=in_app(failure.what), example=in_app(failure.example)
    )
