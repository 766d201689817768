import pytest
from experiments.parts.questions.test_stage_progress import *

pytestmark = [pytest.mark.virtual_time]


@pytest.mark.parametrize("case", range(8))
async def test_eta(case, rows, monkeypatch):
    w = [
        lambda: World(UNLIKE, ASKED, check_s=0.5),
        lambda: World(UNLIKE, ASKED, program_s=30.0),
        lambda: World({"a": 1.0, "b": 0.8, "c": 1.2, "d": 0.9}, ASKED, engine="vllm", load_s=60.0),
        lambda: World({"a": 1.0, "b": 1.5, "c": 4.0}, {EXAM: 300}, judge_s=8.0),
        lambda: World(UNLIKE, {n: 3 * o for n, o in ASKED.items()}, done=0.6, check_s=0.5),
        lambda: World(UNLIKE, {n: 3 * o for n, o in ASKED.items()}, known=0.5, check_s=0.5),
        lambda: World(
            UNLIKE, {n: 3 * o for n, o in ASKED.items()}, done=0.4, known=0.3, check_s=0.5
        ),
        lambda: World(UNLIKE, ASKED, stall=(100.0, 60.0)),
    ][case]()
    f = await shown(w, rows, monkeypatch)
    print(
        "CASE",
        case,
        round(f.error(), 3),
        "jump",
        round(f.largest_jump(), 3),
        "took",
        round(f.took_s),
    )
    worst = [
        (round(t / f.took_s, 2), None if s is None else round((s - (f.took_s - t)) / f.took_s, 3))
        for t, s in f.at[:: max(1, len(f.at) // 20)]
    ]
    print(worst)
