from statements import code, values

from raybench.experiments.parts import profiles
from raybench.tracking.plots.profiles import MOST_MODELS, MOST_PARTS
from raybench.types import Estimate

REFUSED = Estimate(None, None, None, 0, "not computed: too few")


def told(models: int, parts: int, estimate: Estimate) -> tuple[str | None, str]:
    return profiles.drawn(
        [f"m{number}" for number in range(models)],
        {f"p{number}": number for number in range(parts)},
        lambda model, part: estimate,
        lambda model: 0.5,
        "accuracy",
        kinds="subjects",
        counted="questions",
    )


def test_few_are_drawn_whole() -> None:
    figure, text = told(2, 3, Estimate(0.5, 0.1, (0.3, 0.7), 9, "t"))
    assert figure is not None
    assert "p2 (2)" in figure and "m1" in figure
    assert "questions" in text and "95 %" in text
    assert str(MOST_MODELS) not in text and str(MOST_PARTS) not in text


def test_of_many_it_is_said_which_are_drawn() -> None:
    models, parts = MOST_MODELS + 1, MOST_PARTS + 5
    figure, text = told(models, parts, Estimate(0.5, None, None, 9, "t"))
    assert figure is not None
    assert f"m{MOST_MODELS - 1}" in figure and f">m{MOST_MODELS}<" not in figure
    assert "p5 (5)" in figure and "p4 (4)" not in figure  # those that rest on least are left out
    assert f"{MOST_MODELS} of {models} models" in text
    assert f"{MOST_PARTS} of {parts} subjects" in text


def test_what_has_no_number_has_a_sentence() -> None:
    figure, text = told(2, 3, REFUSED)
    assert figure is None
    assert (code(text), values(text)) == ("profiles.nothing", {"kinds": "subjects"})


def test_parts_without_a_number_take_no_line_of_the_figure() -> None:
    figure, _ = profiles.drawn(
        ["m"],
        {"known": 5, "unknown": 9},
        lambda _, part: Estimate(0.5, None, None, 9, "t") if part == "known" else REFUSED,
        lambda _: None,
        "accuracy",
        kinds="subjects",
        counted="questions",
    )
    assert figure is not None and "known (5)" in figure and "unknown (9)" not in figure
