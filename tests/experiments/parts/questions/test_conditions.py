from dataclasses import replace
from pathlib import Path
from typing import Any

from statements import code, the, values

from raybench.config import Config, HleConf, IndexConf, ModelConf, RosterConf
from raybench.experiments.parts import models
from raybench.experiments.parts.questions import conditions, deviations
from raybench.pipeline.datasets import Dataset, Prepared
from raybench.types import ModelSpec, Sampling

PART = Dataset(
    benchmark="mgsm",
    origin="samples",
    files=("mgsm.jsonl",),
    shards=(Path("0"),),
    questions=5,
    digest="0123456789abcdef" * 4,
    by_language={"de": 2, "en": 3},
    by_subject={},
)


def prepared(*parts: Dataset) -> Prepared:
    return Prepared(parts, {}, ())


def test_the_questions_are_a_table() -> None:
    about = conditions.about(PART, 3, None)
    assert (about["chance"], about["repeats"], about["digest"]) == (None, 3, PART.digest)
    table = conditions.questions({"mgsm": about}).table
    assert table is not None
    assert table.rows == [("MGSM", 5, 3, "de 2, en 3", "samples", "mgsm.jsonl", "0123456789abcdef")]


def test_models_are_shown_as_they_were_asked() -> None:
    specs = [
        ModelSpec("a", "vllm", "ORG/A", revision="c0ffee", sampling=Sampling(0.7, 0.9, 1000)),
        ModelSpec("b", "vllm", "ORG/B", reasoning=True),
    ]
    table = models.section(specs).table
    assert table is not None
    assert "system prompt" not in table.columns
    assert table.rows == [
        ["a", "vllm", "ORG/A", "c0ffee", "0.7", "0.9", "1,000", "no"],
        ["b", "vllm", "ORG/B", None, "0", "1", "the model's context", "yes"],
    ]


def test_what_an_endpoint_draws_with_is_said_as_it_is_sent() -> None:
    options = {"extra_body": {"temperature": None, "top_p": 0.5, "max_tokens": 9}}
    table = models.section([ModelSpec("o", "openai", "o3", options=options)]).table
    assert table is not None
    ((*drawn, shown),) = table.rows
    assert drawn == ["o", "openai", "o3", "the endpoint's", "0.5", "9", "no"]
    assert '"top_p": 0.5' in str(shown)


def test_a_limit_goes_by_either_of_its_names() -> None:
    options = {"extra_body": {"max_tokens": None, "max_completion_tokens": 9000}}
    drawn = ModelSpec("o", "openai", "o3", options=options).drawn_with
    assert drawn == {"temperature": 0.0, "top_p": 1.0, "max_tokens": 9000}


def test_settings_are_said_in_words() -> None:
    said = conditions.settings(Config(index=IndexConf(limit=60, temperature=None)))
    assert values(said["questions"]) == {"most": 60}
    assert said["temperature"] == "each model's own"
    assert said["most tokens of a reply"].startswith("4,096")
    assert "subjects" not in said
    judged = IndexConf(benchmarks=["hle"], subset=["math"], judges=["one"])
    said = conditions.settings(Config(index=judged))
    assert (code(said["questions"]), said["subjects"]) == ("questions.all", "math")
    assert said["judges"] == "one"
    judged.benchmarks = ["mgsm"]
    assert "judges" not in conditions.settings(Config(index=judged))


def test_what_came_from_the_cache_is_said_in_words() -> None:
    config = Config()
    part = prepared(PART)

    def cached(reused: int, units: int) -> str | None:
        return conditions.closing(config, part, reused, units).get("From cache")

    assert cached(0, 0) is None, "nothing was asked"
    assert code(cached(0, 9)) == "cache.none"
    some = values(cached(1200, 24840))
    assert some == {"reused": 1200, "replies": 24840, "new": 23640}
    config.index.cache = False
    assert cached(0, 9) == "not used (cache=false)"


def test_what_scores_do_not_compare_with_is_said() -> None:
    assert conditions.narrowed(Config(), prepared(replace(PART, origin="hub"))) == {}
    lacking = replace(PART, origin="folder", caveats={"no target": 2})
    said = conditions.narrowed(Config(index=IndexConf(subset=["math"])), prepared(PART, lacking))
    assert list(said) == ["Subjects", "Samples", "Questions"]
    assert said["Questions"].startswith("mgsm: 2 of 5 ")
    assert conditions.about(lacking, 1, None)["caveats"] == {"no target": 2}


def test_system_prompts_of_the_roster_are_a_deviation_where_models_are_asked_with_them() -> None:
    roster = RosterConf("r", [ModelConf("a", system_prompt="Be brief."), ModelConf("b")])
    without = Config(experiment="index", roster=roster)
    assert conditions.deviations(without, prepared(PART)) == {}
    none = conditions.closing(without, prepared(PART), 0, 1)["Deviations"]
    assert code(none) == "deviation.none" and "(index.benchmarks, " in values(none)["scope"]
    asked = Config(experiment="index", roster=roster, index=IndexConf(own_system_prompts=True))
    assert conditions.deviations(asked, prepared(PART)) == {"own_system_prompts": ["a"]}
    note = conditions.closing(asked, prepared(PART), 0, 1)["Deviations"]
    assert (code(note), values(note)["settings"]) == ("deviation.few", "index.own_system_prompts")
    told = [conditions.settings(it) for it in (Config(), without, asked)]
    assert len({it.get("system prompts of the roster") for it in told}) == 3


def test_one_model_is_asked_with_its_system_prompt_and_several_are() -> None:
    for names, are in (("a", "is"), ("ab", "are")):
        roster = RosterConf("r", [ModelConf(name, system_prompt="Be brief.") for name in names])
        asked = Config(experiment="index", roster=roster, index=IndexConf(own_system_prompts=True))
        texts = [it.text for it in deviations.deviations(asked, prepared(PART))]
        assert the("deviation.system_prompts", texts)["are"] == are


def test_how_judges_are_asked_is_a_deviation_where_it_is_one() -> None:
    roster = RosterConf("r", [ModelConf("a", weights="embedded")])
    part = prepared(replace(PART, benchmark="hle"))

    def told(**conf: Any) -> dict[str, Any]:
        exam = HleConf(judges=["a"], **conf)
        return conditions.deviations(Config(experiment="hle", roster=roster, hle=exam), part)

    assert told() == {}
    roster.models.append(ModelConf("b", weights="embedded", system_role=False))
    assert told() == {"without_system_role": "prepended"}
    assert told(without_system_role="separate") == {}
    roster.models.pop()
    assert told(judge_role="user", judge_chars=350) == {"judge_role": "user", "judge_chars": 350}
