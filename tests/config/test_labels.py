"""Which nodes a selector means: as Ray would have it."""

from pathlib import Path

import pytest
from command import run_command
from helpers import SIMULATED
from hypothesis import given
from hypothesis import strategies as st
from ray._private.label_utils import validate_label_key, validate_label_selector_value
from refusals import refused

from raybench import cli
from raybench.config import labels

WORDS = st.text("ab1-_./() ,!in", max_size=12)


@pytest.mark.parametrize(
    ("selector", "chosen"),
    [
        ({}, [{}, {"role": "cpu"}, {"role": "gpu"}]),
        ({"role": "cpu"}, [{"role": "cpu"}]),
        ({"role": "!cpu"}, [{}, {"role": "gpu"}]),
        ({"role": "in(cpu, gpu)"}, [{"role": "cpu"}, {"role": "gpu"}]),
        ({"role": "in(cpu,other)"}, [{"role": "cpu"}]),
        ({"role": "!in(cpu, gpu)"}, [{}]),
        ({"role": "cpu", "zone": "a"}, []),
        ({"role": "!cpu", "zone": "!a"}, [{}, {"role": "gpu"}]),
    ],
)
def test_who_is_meant(selector: dict[str, str], chosen: list[dict[str, str]]) -> None:
    nodes: list[dict[str, str]] = [{}, {"role": "cpu"}, {"role": "gpu"}]
    assert [node for node in nodes if labels.chosen(node, selector)] == chosen


def test_ray_is_told_no_space_which_would_be_a_part_of_the_label() -> None:
    assert labels.for_ray({"role": "!in(cpu, gpu)"}) == {"role": "!in(cpu,gpu)"}


@given(WORDS, WORDS)
def test_what_we_take_ray_takes(key: str, value: str) -> None:
    """What Ray would refuse in the middle of a run is refused before it."""
    if not list(labels.problems("fleet.nodes", {key: value})):
        assert validate_label_key(key) is None
        assert validate_label_selector_value(value) is None


@given(WORDS, WORDS)
def test_a_value_and_its_opposite_choose_every_node_once(label: str, value: str) -> None:
    for node in ({}, {"role": label}):
        if value and value[0] != "!" and not list(labels.problems("", {"role": value})):
            assert labels.chosen(node, {"role": value}) != labels.chosen(
                node, {"role": f"!{value}"}
            )


@pytest.mark.process
def test_mistakes_are_told_before_anything_starts(tmp_path: Path) -> None:
    told = run_command(
        "+experiment=index", "roster=simulated", "data=samples", "dry_run=true",
        "fleet.nodes={role: 'in(a b)'}", "sandbox.nodes={role: true}", "fleet.work_nodes={a//b: c}",
        cwd=tmp_path,
    )  # fmt: skip
    assert told.returncode == 2
    for text in ("fleet.nodes.role is 'in(a b)'", "sandbox.nodes.role is true, no text", "'a//b'"):
        assert text in told.stderr


@pytest.mark.parametrize(
    ("setting", "value", "told"),
    [
        *(
            (
                setting,
                "[near,far]",
                'is a list: for any of several values write "in(near,far)", with the quotes',
            )
            for setting in labels.SETTINGS
        ),
        ("fleet.nodes", "[yes]", 'is a list: for any of several values write "in(yes)"'),
        ("fleet.nodes", "[a b,c]", 'write "in(a,b)"'),
        ("fleet.nodes", "[]", 'write "in(a,b)"'),
        ("fleet.nodes", "[true,1]", 'write "in(true,1)"'),
        ("sandbox.nodes", "{a: b}", "is no text: give a label's value, !value, in(a, b) or !in("),
        ("sandbox.nodes", "true", "is true, no text: quote it"),
    ],
)
def test_what_is_no_text_is_told_with_what_to_write(setting: str, value: str, told: str) -> None:
    given = cli.with_tables([*SIMULATED, f"{setting}={{raybench/zone: {value}}}"])
    with refused("setting.type") as caught:
        cli.check(cli.compose(given))
    assert str(caught.value).startswith(f"{setting}.raybench/zone is ")
    assert told in str(caught.value)


@pytest.mark.parametrize("value", ["yes", "1", "1.5", '"in(near,far)"', '"!yes"', '"true"'])
def test_numbers_and_words_are_labels(value: str) -> None:
    config = cli.check(cli.compose(cli.with_tables([*SIMULATED, f"fleet.nodes={{a: {value}}}"])))
    assert config.fleet.nodes == {"a": value.strip('"')}


@pytest.mark.process
def test_a_list_ends_without_a_traceback(tmp_path: Path) -> None:
    told = run_command(*SIMULATED, "dry_run=true", "sandbox.nodes={a: [b]}", cwd=tmp_path)
    assert told.returncode == 2
    assert told.stderr.count("\n") == 1
