"""Statements: texts with a code and values, and the templates that tests/statements.txt keeps."""

import copy
import json
import pickle
import re

import pytest
import statements

from raybench.statements import Statement

SPENT = Statement("budget.calls", "{spent:,} of {budget} calls", spent=1200, budget=10)


def test_a_statement_is_its_text() -> None:
    assert SPENT == "1,200 of 10 calls"
    assert json.loads(json.dumps({"why": SPENT})) == {"why": "1,200 of 10 calls"}


@pytest.mark.parametrize("again", [lambda it: pickle.loads(pickle.dumps(it)), copy.deepcopy])
def test_code_and_values_are_kept_on_the_way(again: object) -> None:
    assert callable(again)
    kept = again(SPENT)
    assert kept == SPENT
    assert (kept.code, dict(kept.values)) == ("budget.calls", {"spent": 1200, "budget": 10})


def test_braces_in_values_are_no_templates() -> None:
    assert Statement("a.b", "it said {what}", what="{nothing}") == "it said {nothing}"


def test_a_value_may_be_called_as_an_argument_is() -> None:
    assert Statement("a.b", "{code}, {template}", code=1, template=2) == "1, 2"


def test_a_code_has_one_template_and_looks_like_the_others() -> None:
    for code, templates in statements.templates().items():
        assert len(templates) == 1, f"{code} has {len(templates)} templates"
        assert re.fullmatch(r"[a-z0-9_]+(\.[a-z0-9_]+)+", code), code


def test_the_kept_templates_are_those_of_the_sources() -> None:
    kept = statements.FILE.read_text("utf-8")
    assert kept == statements.text(), "review it, `make goldens`"
