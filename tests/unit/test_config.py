"""Settings: what there is, which source wins, and what wrong values lead to."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from trailhound.config.layers import (
    check_variables,
    configure,
    find_file,
    from_assignments,
    parse_duration,
)
from trailhound.config.settings import Settings, all_settings
from trailhound.errors import ConfigError

DOCUMENT = Path(__file__).parents[2] / "docs" / "configuration.md"


def written(folder: Path, text: str) -> Path:
    path = folder / "trailhound.toml"
    path.write_text(text, "utf-8")
    return path


def test_without_any_source_all_are_defaults() -> None:
    configuration = configure()
    assert configuration.settings == Settings()
    assert set(configuration.origins.values()) == {"default"}
    assert configuration.settings.fetch.obey_robots, "polite by default"


def test_flag_beats_environment_beats_file_beats_default(tmp_path: Path) -> None:
    file = written(tmp_path, "[crawl]\nmax_requests = 1\nconcurrency = 2\nstrategy = 'random'\n")
    environment = {"TRAILHOUND_MAX_REQUESTS": "10", "TRAILHOUND_CONCURRENCY": "20"}
    configuration = configure({"crawl.max_requests": 100}, environment, file)
    crawl = configuration.settings.crawl
    assert (crawl.max_requests, crawl.concurrency, crawl.strategy) == (100, 20, "random")
    origins = configuration.origins
    assert origins["crawl.max_requests"] == "flag"
    assert origins["crawl.concurrency"] == "TRAILHOUND_CONCURRENCY"
    assert origins["crawl.strategy"] == str(file)
    assert origins["crawl.scope"] == "default"


def test_a_flag_that_was_not_given_and_an_empty_variable_change_nothing() -> None:
    assert configure({"crawl.max_requests": None}, {"TRAILHOUND_MAX_REQUESTS": " "}) == configure()


def test_the_old_name_of_the_budget_is_understood_and_the_new_one_wins(tmp_path: Path) -> None:
    file = written(tmp_path, "[crawl]\nmax_pages = 7\n")
    assert configure(None, {}, file).settings.crawl.max_requests == 7
    environment = {"TRAILHOUND_MAX_PAGES": "8"}
    configuration = configure(None, environment, file)
    assert configuration.settings.crawl.max_requests == 8
    assert configuration.origins["crawl.max_requests"] == "TRAILHOUND_MAX_PAGES"
    check_variables(environment)
    environment["TRAILHOUND_MAX_REQUESTS"] = "9"
    assert configure(None, environment, file).settings.crawl.max_requests == 9
    both = written(tmp_path, "[crawl]\nmax_requests = 10\nmax_pages = 7\n")
    assert configure(None, {}, both).settings.crawl.max_requests == 10


def test_values_from_the_environment_are_typed() -> None:
    settings = configure(
        None,
        {
            "TRAILHOUND_MAX_TIME": "1h30m",
            "TRAILHOUND_SEEDS": "http://a.test/, http://b.test/\nhttp://c.test/",
            "TRAILHOUND_ARCHIVE": "no",
            "TRAILHOUND_THRESHOLD": "0.5",
            "TRAILHOUND_USER_AGENT": "bees-bot (+https://example.org/bot)",
        },
    ).settings
    assert settings.crawl.max_time == 5400.0
    assert settings.crawl.seeds == ("http://a.test/", "http://b.test/", "http://c.test/")
    assert settings.output.archive is False
    assert settings.judge.threshold == 0.5
    assert settings.fetch.user_agent == "bees-bot (+https://example.org/bot)"


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("MAX_REQUESTS", "0", ">= 1"),
        ("MAX_REQUESTS", "many", "expected int"),
        ("MAX_TIME", "two weeks", "no length of time"),
        ("MAX_TIME", "0", "write more than no time at all, for example"),
        ("MAX_TIME", "-1", "write more than no time at all, for example"),
        ("ARCHIVE", "perhaps", "true or false"),
        ("THRESHOLD", "1.5", "<= 1"),
        ("METRICS_PORT", "99999", "<= 65535"),
    ],
)
def test_wrong_values_of_variables_are_named(name: str, value: str, words: str) -> None:
    with pytest.raises(ConfigError, match=f"TRAILHOUND_{name}.*{re.escape(words)}"):
        configure(None, {f"TRAILHOUND_{name}": value})


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[crawl]\nmax_request = 1", "Did you mean max_requests"),
        ("[crwl]\na = 1", "Did you mean crawl"),
        ("[fetch]\nmax_requests = 1", "Unknown setting in [fetch]"),
        ("crawl = 3", "Write [crawl]"),
        ("[crawl]\nmax_requests = '7'", "crawl.max_requests is '7'"),
        ("[crawl]\nsame_domain = 1", "expected bool"),
        ("[crawl]\nseeds = 'http://a.test/'", "expected array"),
        ("[crawl\n", "no valid TOML"),
    ],
)
def test_mistakes_in_the_file_are_named(tmp_path: Path, text: str, words: str) -> None:
    with pytest.raises(ConfigError, match=re.escape(words)) as raised:
        configure(None, None, written(tmp_path, text))
    assert "trailhound.toml" in str(raised.value)
    assert raised.value.exit_code == 2


def test_whole_numbers_and_durations_in_the_file_may_be_written_plainly(tmp_path: Path) -> None:
    file = written(
        tmp_path, "[crawl]\nmax_time = '2h'\nmax_idle = 90\n[fetch]\ndelay_seconds = 2\n"
    )
    settings = configure(None, None, file).settings
    assert settings.crawl.max_time == 7200.0
    assert settings.crawl.max_idle == 90.0
    assert settings.fetch.delay_seconds == 2.0


@pytest.mark.parametrize("never", ["'0s'", "0", "0.0"])
def test_a_crawl_may_be_told_never_to_wait_for_something_better(tmp_path: Path, never: str) -> None:
    settings = configure(file=written(tmp_path, f"[crawl]\nwait_for_better = {never}")).settings
    assert settings.crawl.wait_for_better == 0.0


@pytest.mark.parametrize("refused", ["wait_for_better = -1", "max_idle = '0s'"])
def test_times_that_make_no_sense_are_refused(tmp_path: Path, refused: str) -> None:
    with pytest.raises(ConfigError, match=refused.split()[0]):
        configure(file=written(tmp_path, f"[crawl]\n{refused}"))


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("90", 90.0),
        ("90s", 90.0),
        ("10m", 600.0),
        ("2h", 7200.0),
        ("1h30m", 5400.0),
        ("1 h 30 m", 5400.0),
        ("1h 30m", 5400.0),
        ("1.5d", 129600.0),
    ],
)
def test_durations(text: str, seconds: float) -> None:
    assert parse_duration(text) == seconds
    assert parse_duration(f" {text.upper()} ") == seconds


@pytest.mark.parametrize(
    "text",
    [
        "[crawl]\nmax_requests = " + "9" * 400,
        "[crawl]\nmax_requests = " + "9" * 5000,
        "[crawl]\nmax_idle = " + "9" * 400,
        "[fetch]\nmax_redirects = " + "9" * 400,
        "[fetch]\ndelay_seconds = -" + "9" * 400,
        "[crawl]\nscope = " + "[" * 5000 + "]" * 5000,
        "[crawl]\nscope" + ".a" * 3000 + " = 1",
        "[crawl]\nscope = " + "{a = " * 3000,
    ],
)
def test_numbers_and_lists_without_end_are_refused_in_few_words(tmp_path: Path, text: str) -> None:
    with pytest.raises(ConfigError, match=r"trailhound\.toml") as raised:
        configure(file=written(tmp_path, text))
    assert len(str(raised.value)) < 1000


def test_a_number_without_end_is_refused_wherever_it_comes_from() -> None:
    with pytest.raises(ConfigError, match="max_requests"):
        configure(flags={"crawl.max_requests": 10**400})
    with pytest.raises(ConfigError, match="MAX_REQUESTS"):
        configure(environment={"TRAILHOUND_MAX_REQUESTS": "9" * 400})


@pytest.mark.parametrize(
    "text", ["", "soon", "10 months", "１０m", "1m５s", "1 2 3", "1 2h", "1h 30", "1 . 5h"]
)
def test_what_is_no_duration(text: str) -> None:
    with pytest.raises(ConfigError, match="no length of time"):
        parse_duration(text)


def test_the_file_is_the_one_named_or_the_one_here(tmp_path: Path) -> None:
    assert find_file(None, {}, tmp_path) is None
    here = written(tmp_path, "")
    other = tmp_path / "other.toml"
    other.write_text("")
    assert find_file(None, {}, tmp_path) == here
    assert find_file(None, {"TRAILHOUND_CONFIG": str(other)}, tmp_path) == other
    assert find_file(other, {"TRAILHOUND_CONFIG": "nowhere"}, tmp_path) == other
    with pytest.raises(ConfigError, match="no configuration file"):
        find_file(tmp_path / "missing.toml", {}, tmp_path)


def test_variables_with_typing_errors_are_found() -> None:
    with pytest.raises(ConfigError, match=r"SCOP'\. Did you mean TRAILHOUND_SCOPE"):
        configure(None, {"TRAILHOUND_SCOP": "a.test", "TRAILHOUND_WORKSPACE": "x", "PATH": ""})
    with pytest.raises(ConfigError, match=r"MAXREQUESTS.*SCOP'"):
        check_variables(["TRAILHOUND_SCOP", "TRAILHOUND_MAXREQUESTS"])
    check_variables(["TRAILHOUND_CONFIG", "TRAILHOUND_CORPORA", "TRAILHOUND_E2E_TOPICS", "PATH"])


def test_every_setting_has_a_meaning_a_variable_of_its_own_and_a_line_in_the_documentation() -> (
    None
):
    settings = list(all_settings())
    assert len({each.variable for each in settings}) == len(settings)
    text = DOCUMENT.read_text("utf-8")
    for each in settings:
        assert each.description, each.key
        assert f"`{each.key.partition('.')[2]}`" in text, f"{each.key} is not documented"


def test_an_assignment_of_nothing_known_names_the_command_that_lists_settings() -> None:
    with pytest.raises(ConfigError, match=r"Unknown setting 'nonsense'.*trailhound config show"):
        from_assignments(["nonsense=1"])


def test_flags_are_checked_as_all_other_sources_are() -> None:
    with pytest.raises(ConfigError, match=r"fetch\.render is 'sometimes'.*never, auto"):
        configure({"fetch.render": "sometimes"})
