"""Digests of what models were asked where no data set has one: what runs have in common."""

import hashlib
import json
from collections.abc import Iterable
from typing import Any


def of(values: Iterable[Any]) -> str:
    """Return the digest of values in their order: lists, mappings, texts, numbers."""
    whole = hashlib.sha256()
    for value in values:  # one at a time: there may be many
        whole.update(json.dumps(value, sort_keys=True, default=str).encode() + b"\n")
    return whole.hexdigest()
