"""What is suggested for a name that is not known: what was meant, or nothing."""

import pytest

from raybench.errors import closest, did_you_mean, plain

BACKENDS = ("auto", "namespaces", "bubblewrap", "landlock", "unsafe")
BENCHMARKS = ("gpqa_diamond", "mmlu_pro", "math_500", "mgsm", "humaneval", "livecodebench")


@pytest.mark.parametrize(
    ("name", "known", "meant"),
    [
        ("namespace", BACKENDS, "namespaces"),
        ("bwrap", BACKENDS, "bubblewrap"),
        ("docker", BACKENDS, ""),  # shares letters with landlock, and nothing else
        ("none", BACKENDS, ""),
        ("gpqa", BENCHMARKS, "gpqa_diamond"),
        ("mmlu_por", BENCHMARKS, "mmlu_pro"),
        ("mgms", BENCHMARKS, "mgsm"),
        ("", BENCHMARKS, ""),
        ("gpqa", (), ""),
    ],
)
def test_only_a_name_that_may_have_been_meant_is_suggested(
    name: str, known: tuple[str, ...], meant: str
) -> None:
    assert closest(name, known) == meant


def test_what_there_is_is_told_in_any_case() -> None:
    there = " There is: mgsm, mmlu_pro."
    assert did_you_mean("docker", ("mmlu_pro", "mgsm")) == there
    assert did_you_mean("mmlu", ("mmlu_pro", "mgsm")) == f" Did you mean 'mmlu_pro'?{there}"


def test_spellings_of_a_name_share_what_is_compared() -> None:
    assert plain("MATH-500") == plain("math_500") == plain(" Math 500") == "math500"
    assert plain("Liar's Dice") != plain("dice")
