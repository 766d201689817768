"""Problems whose hidden tests are not all known, in the columns of the hub."""

import json
from collections.abc import Mapping
from typing import Any

_SAME = ("platform", "contest_id", "contest_date", "difficulty")


def in_columns(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return a plain row; its samples are the public tests, and what else is known the private.

    Raises KeyError where it lacks a column.
    """
    name = row["function_name"]
    return {
        "question_title": row["title"],
        "question_content": row["question"],
        "question_id": row["id"],
        "starter_code": row["starter_code"] or "",
        "public_test_cases": json.dumps(row["sample_tests"]),
        "private_test_cases": json.dumps(row["revealed_private_tests"]),
        "metadata": json.dumps({"func_name": name} if name else {}),
        "solution": row["answer"],
    } | {column: row[column] for column in _SAME}
