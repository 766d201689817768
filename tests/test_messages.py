"""Sentences of refusals are those that people reviewed."""

import messages
import pytest


def test_sentences_are_as_reviewed() -> None:
    now, before = messages.text(), messages.FILE.read_text("utf-8")
    changed = [line for line in now.splitlines() if line not in before.splitlines()]
    if now != before:
        told = "\n".join(changed[:20])
        pytest.fail(f"`make goldens`, then review the difference:\n{told}", pytrace=False)
