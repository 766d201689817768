"""The sources' caveats on HLE, in plan and report."""

from dataclasses import replace
from typing import Any

from statements import code, values

from raybench.config import Config, DataConf, HleConf, HleScreenConf, ModelConf, RosterConf
from raybench.experiments.parts.questions import conditions
from raybench.experiments.parts.questions.exam_remarks import remarks
from raybench.pipeline.datasets import Dataset, Prepared
from raybench.pipeline.revisions import Stamp

ROSTER = RosterConf("r", [ModelConf("four", "openai", "gpt-4o"), ModelConf("b", "openai", "new")])


def asked(origin: str = "hub: cais/hle@5a81a4c", benchmark: str = "hle") -> Prepared:
    return Prepared((Dataset(benchmark, origin, (), (), 9, "d", {}, {}),), {}, ())


def config(**more: Any) -> Config:
    return Config(**{"experiment": "hle", "roster": ROSTER, "hle": HleConf(), **more})


def test_models_of_the_curation_and_both_counts_are_told() -> None:
    found = remarks(config(), asked())
    curation, counts = found["HLE's curation"], found["HLE's questions"]
    assert (code(curation), values(curation)) == ("hle.curation", {"models": "four"})
    assert code(counts) == "hle.counts"
    assert values(counts) == {"all": 2500, "text": 2158, "counted": 2684, "of": 3000}
    assert found.items() <= conditions.narrowed(config(), asked()).items()
    in_index = remarks(config(experiment="index"), asked())
    assert in_index == found


def test_of_other_questions_nothing_is_told() -> None:
    assert remarks(config(), asked("samples")) == {}
    assert remarks(config(), asked(benchmark="mmlu_pro")) == {}
    assert remarks(config(data=DataConf(source="rolling")), asked("runs/hle_rolling")) == {}
    assert remarks(config(experiment="hle_screen", hle_screen=HleScreenConf()), asked()) == {}


def test_of_a_revision_of_a_screening_nothing_is_told() -> None:
    (part,) = asked("set/late/0001")
    stamped = replace(part, stamp=Stamp("required", 0, older=False, simulated=False))
    assert remarks(config(), Prepared((stamped,), {}, ())) == {}


def test_a_copy_of_the_questions_has_no_count_that_is_known() -> None:
    assert list(remarks(config(), asked("/data/hle"))) == ["HLE's curation"]
    plain = RosterConf("r", [ModelConf("b", "openai", "new")])
    assert remarks(config(roster=plain), asked("/data/hle")) == {}
