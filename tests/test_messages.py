"""Sentences of refusals are those that people reviewed."""

from pathlib import Path

import messages
import pytest


def test_sentences_are_as_reviewed() -> None:
    now, before = messages.text(), messages.FILE.read_text("utf-8")
    changed = [line for line in now.splitlines() if line not in before.splitlines()]
    if now != before:
        told = "\n".join(changed[:20])
        pytest.fail(f"`make goldens`, then review the difference:\n{told}", pytrace=False)


def test_what_is_wrong_with_a_setting_names_it(tmp_path: Path) -> None:
    """A program reads the field, not the text."""
    unnamed = [
        it.text
        for it in messages.problems(tmp_path)
        if it.code.startswith("setting.") and not it.setting
    ]
    assert unnamed == []
