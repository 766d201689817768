from collections import Counter
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from raybench.pipeline.units import Questions, jobs, unit_id, unit_seed

UNIT = {"model": "m", "benchmark": "b", "language": "en", "key": "7", "repeat": 0}

KEPT = [
    (("m", "mgsm", "en", "7", 0), 0, 637672315620358946, 671540280),
    (("m", "mgsm", "en", "7", 1), 0, 2369197500674547902, 870883628),
    (("n", "mgsm", "en", "7", 0), 0, 7483716300878618129, 671540280),
    (("m", "mgsm", "de", "7", 0), 0, 13787344028534257347, 310745676),
    (("m", "math_500", "", "test/algebra/1072.json", 0), 1, 6188850508523917629, 48985923),
    (
        ("Qwen/Qwen2.5-7B", "gpqa_diamond", "", "recNu3MXkvWUzHZr9", 4),
        *(7, 10162829901006656425, 1286264981),
    ),
    (
        ("modèle 模型", "multilingual_mmlu", "zh", "数学/1", 2),
        *(2**31, 9139346002815765442, 2132490671),
    ),
    (
        ("m (judge)", "hle", "", "668825f80a642802bdfeadfa", 0),
        *(2**63, 17569378415022964619, 387833108),
    ),
    (("m", "scicode", "", "12.3", 99), -1, 7039055149277276433, 348686178),
    (("", "", "", "", 0), 0, 4793667933519243676, 804264075),
]
"""Names of units, a run's seed, and the id and seed of each unit as journals and caches hold them.

They never change: an unfinished run would ask everything again.
"""

questions = st.builds(
    Questions,
    benchmark=st.sampled_from(["mmlu_pro", "mgsm"]),
    shards=st.lists(
        st.tuples(st.sampled_from(["0.jsonl", "1.jsonl"]), st.integers(1, 200)),
        max_size=2,
        unique_by=lambda shard: shard[0],
    ),
    repeats=st.integers(1, 100),
)
models = st.lists(st.uuids().map(str), min_size=1, max_size=4, unique=True)


@given(models, st.lists(questions, max_size=2, unique_by=lambda q: q.benchmark))
def test_every_asking_is_in_one_job_of_every_model(
    names: list[str], asked: list[Questions]
) -> None:
    seen = Counter(
        (job.model, job.benchmark, job.shard, row, repeat)
        for job in jobs(names, asked)
        for row in range(job.start, job.stop)
        for repeat in range(job.first, job.first + job.repeats)
    )
    assert seen == Counter(
        (model, part.benchmark, shard, row, repeat)
        for model in names
        for part in asked
        for shard, rows in part.shards
        for row in range(rows)
        for repeat in range(part.repeats)
    )


@given(models, st.lists(questions, max_size=2))
def test_a_job_is_read_in_a_moment(names: list[str], asked: list[Questions]) -> None:
    assert all(job.units <= 64 for job in jobs(names, asked))


def test_a_model_has_the_same_share_of_every_benchmark_behind_it() -> None:
    asked = [
        Questions("mmlu_pro", [("0.jsonl", 200)], 1),
        Questions("math_500", [("0.jsonl", 400)], 2),
    ]
    order = [(it.model, it.benchmark, it.start, it.units) for it in jobs(["a", "b"], asked)]
    assert [it[:3] for it in order[:4]] == [
        ("a", "mmlu_pro", 0),
        ("a", "math_500", 0),
        ("a", "math_500", 6),
        ("a", "math_500", 12),
    ]
    assert [size for *_, size in order[:2]] == [8, 12]  # a sixty-fourth, but 8 at least
    units = {"mmlu_pro": 200, "math_500": 800}
    behind = dict.fromkeys(units, 0)
    for model, benchmark, _, size in order:
        if model == "a":
            shares = [behind[it] / units[it] for it in units]
            assert max(shares) - min(shares) < 0.05
            behind[benchmark] += size


def test_a_unit_is_known_by_what_names_it_and_by_nothing_else() -> None:
    assert unit_id(UNIT) == unit_id({**UNIT, "response": "what it came to"})
    others: list[dict[str, Any]] = [
        {**UNIT, "model": "n"},
        {**UNIT, "benchmark": "c"},
        {**UNIT, "language": "de"},
        {**UNIT, "key": "8"},
        {**UNIT, "repeat": 1},
    ]
    assert len({unit_id(unit) for unit in [UNIT, *others]}) == 6


def test_a_seed_is_the_units_own_whatever_its_model_is_called() -> None:
    assert unit_seed(0, UNIT) == unit_seed(0, {**UNIT, "model": "renamed"})
    assert len({unit_seed(0, UNIT), unit_seed(1, UNIT), unit_seed(0, {**UNIT, "repeat": 1})}) == 3
    assert 0 <= unit_seed(0, UNIT) < 2**31


@given(st.lists(st.integers(1, 15), min_size=1, max_size=40), st.integers(1, 5))
def test_no_job_begins_behind_what_a_question_follows(chains: list[int], repeats: int) -> None:
    starts = [sum(chains[:place]) for place in range(len(chains))]
    rows = sum(chains)
    asked = [Questions("scicode", [("0.jsonl", rows)], repeats, starts={"0.jsonl": starts})]
    found = jobs(["m"], asked)
    assert {job.start for job in found} <= set(starts)
    assert [row for job in found for row in range(job.start, job.stop)] == list(range(rows))


@pytest.mark.parametrize(("names", "seed", "known", "own_seed"), KEPT)
def test_ids_and_seeds_of_units_never_change(
    names: tuple[str, str, str, str, int], seed: int, known: int, own_seed: int
) -> None:
    record = dict(zip(UNIT, names, strict=True))
    assert (unit_id(record), unit_seed(seed, record)) == (known, own_seed)
    told = {"response": "A", **record, "grade": 1.0}
    assert (unit_id(told), unit_seed(seed, told)) == (known, own_seed)
