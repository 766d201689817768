"""Which way a run is told, by what is asked for and where it goes."""

import io

import pytest
from refusals import refusal
from terminals import Terminal

from raybench.config import CONSOLE_MODES, ConsoleConf
from raybench.config.places import console_problems
from raybench.pipeline.run_identity import fingerprint
from raybench.tracking.console import modes, streams

HERE = {"TERM": "xterm"}


class Latin(Terminal):
    encoding = "latin-1"


@pytest.mark.parametrize(
    ("environment", "stream", "auto", "live"),
    [
        ({}, Terminal(), "live", "live"),
        ({}, io.StringIO(), "plain", "plain"),
        ({"TERM": "dumb"}, Terminal(), "plain", "plain"),
        ({"TERM": ""}, Terminal(), "plain", "plain"),
        ({"TTY_COMPATIBLE": "0"}, Terminal(), "plain", "plain"),
        ({}, Latin(), "plain", "plain"),
        ({"CI": "true"}, Terminal(), "plain", "live"),
        ({"CI": "false"}, Terminal(), "live", "live"),
        ({"RAY_JOB_CONFIG_JSON_ENV_VAR": "{}"}, Terminal(), "plain", "live"),
        ({"RAY_JOB_SUBMISSION_ID": "raysubmit_1"}, Terminal(), "plain", "live"),
        ({"FORCE_COLOR": "1"}, io.StringIO(), "plain", "plain"),
    ],
)
def test_a_table_needs_a_terminal_that_somebody_looks_at(
    environment: dict[str, str],
    stream: io.StringIO,
    auto: str,
    live: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in ("CI", "RAY_JOB_CONFIG_JSON_ENV_VAR", "RAY_JOB_SUBMISSION_ID", "TTY_COMPATIBLE"):
        monkeypatch.delenv(name, raising=False)
    for name, value in (HERE | environment).items():
        monkeypatch.setenv(name, value)
    for mode, expected in (("auto", auto), ("live", live), ("plain", "plain"), ("json", "json")):
        monkeypatch.setattr(modes, "_mode", mode)
        assert modes.resolved(stream) == expected


def test_a_closed_stream_is_no_terminal() -> None:
    stream = io.StringIO()
    stream.close()
    assert not streams.is_terminal(stream)


def test_flags_are_settings() -> None:
    given = ["--json", "+experiment=hle", "-q", "seed=1"]
    meant = ["console.mode=json", "+experiment=hle", "console.mode=quiet", "seed=1"]
    assert modes.with_flags(given) == meant
    assert set(modes.FLAGS.values()) | {"auto"} == set(CONSOLE_MODES)


@pytest.mark.parametrize(
    ("given", "mode"),
    [
        (["--json"], "json"),
        (["+experiment=hle", "console.mode=quiet"], "quiet"),
        (["++console.mode=json"], "json"),
        (["console.mode=jsn"], "auto"),
        ([], "auto"),
    ],
)
def test_the_mode_is_known_before_the_configuration_is(given: list[str], mode: str) -> None:
    assert modes.of_arguments(given) == mode


def test_a_mode_that_there_is_not_is_told_with_those_there_are() -> None:
    (problem,) = console_problems(ConsoleConf("jsn"))
    assert refusal(problem) == ("setting.choice", "console.mode")
    assert problem.fix and "'json'" in problem.fix
    assert not [*console_problems(ConsoleConf())]


def test_how_a_run_is_told_changes_nothing_of_which_run_it_is() -> None:
    one, other = ({"seed": 1, "console": {"mode": mode}} for mode in ("json", "auto"))
    assert fingerprint(one) == fingerprint(other) == fingerprint({"seed": 1})


def test_who_is_told_of_a_run_and_where_it_lies_changes_nothing_of_which_it_is() -> None:
    """Another token for MLflow left an unfinished run behind, and a new one began."""
    one, other = (
        {"seed": 1, "runs_dir": place, "tracking": {"uri": f"http://me:{place}@host"}}
        for place in ("here", "there")
    )
    assert fingerprint(one) == fingerprint(other) == fingerprint({"seed": 1})
