"""What +experiment=serve plans, and how it tells people to call it."""

import ast
import shlex

import pytest
from refusals import refused

from raybench import cli
from raybench.errors import Code, ConfigurationError
from raybench.experiments.serve import how_to_call, plan
from raybench.tracking.plan import describe


def test_the_plan_says_what_is_served_and_where() -> None:
    config = cli.check(cli.compose(["+experiment=serve", "serve.port=8123", "fleet.device=cpu"]))
    assert config.fleet.patience_s == 60
    told = describe(plan(config))
    assert "127.0.0.1:8123" in told
    assert "smollm2-hot" in told
    assert "Units" not in told


@pytest.mark.parametrize(
    ("override", "code"),
    [
        ("serve.port=0", "setting.range"),
        ("serve.host=''", "setting.missing"),
        ("serve.api_key_env=sk-1", "setting.format"),
    ],
)
def test_settings_that_cannot_be_are_refused(override: str, code: Code) -> None:
    with refused(code, override.partition("=")[0], kind=ConfigurationError):
        cli.check(cli.compose(["+experiment=serve", override]))


@pytest.mark.parametrize("key", [None, "MY_KEY"])
def test_the_examples_can_be_run(key: str | None) -> None:
    told = how_to_call("http://127.0.0.1:8000/v1", ["one", "two"], key)
    assert "Ctrl-C stops it" in told
    lines = [line.strip() for line in told.splitlines()]
    begin = next(number for number, line in enumerate(lines) if line.startswith("curl"))
    words = shlex.split(" ".join(lines[begin : begin + 2]).replace("\\ ", ""))
    assert words[:2] == ["curl", "http://127.0.0.1:8000/v1/chat/completions"]
    assert (f"Authorization: Bearer ${key}" in words) == bool(key)
    code = "\n".join(lines[begin + 3 :])
    ast.parse(code)
    assert ("MY_KEY" in code) == bool(key)
    assert 'model="one"' in code
