"""The Serve configurations in serving/, and what their arguments may be."""

from pathlib import Path
from typing import Any

import pytest
import yaml
from helpers import ROOT
from refusals import assert_among

from raybench.errors import Code, ConfigurationError
from raybench.fleet import endpoint
from raybench.serving import settings

FILES = sorted((ROOT / "serving").glob("*.yaml"))


def application(file: Path) -> dict[str, Any]:
    (found,) = yaml.safe_load(file.read_text())["applications"]
    return dict(found)


def test_there_is_one_for_every_shape_of_hardware() -> None:
    assert {file.stem for file in FILES} == {"cpu", "one-gpu", "node-of-8", "many-nodes"}
    readme = (ROOT / "serving" / "README.md").read_text()
    assert all(f"`{file.name}`" in readme for file in FILES)


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_ray_takes_it(file: Path) -> None:
    from ray.serve.schema import ServeDeploySchema

    schema = ServeDeploySchema.model_validate(yaml.safe_load(file.read_text()))
    (found,) = schema.applications
    assert found.import_path == "raybench.serving:build"


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_its_arguments_make_engines(file: Path) -> None:
    config = settings(application(file)["args"])
    assert config.fleet.patience_s == 60
    models = [model.spec() for model in config.roster.models]
    assert endpoint.served(models) == models
    assert endpoint.engines(models, config.fleet, "raybench")


def test_a_roster_may_be_given_itself() -> None:
    model = {"name": "mine", "weights": "org/name", "options": {"reasoning_parser": "qwen3"}}
    config = settings({"roster": {"models": [model]}, "api_key_env": "KEY"})
    (mine,) = config.roster.models
    assert (mine.name, mine.weights, mine.options) == ("mine", "org/name", model["options"])
    assert config.serve.api_key_env == "KEY"


@pytest.mark.parametrize(
    ("args", "code", "setting", "named"),
    [
        ({"rooster": "small"}, "setting.unknown", "rooster", "'roster'"),
        ({"roster": "smal"}, "setting.choice", "roster", "'small'"),
        ({"fleet": {"slot": 1}}, "setting.unknown", "fleet.slot", "'fleet.slots'"),
        ({"fleet": {"slots": "many"}}, "setting.type", "fleet.slots", "many"),
        ({"fleet": {"address": "auto"}}, "setting.conflict", "fleet.address", "Serve"),
        ({"roster": {"models": []}}, "setting.missing", "roster.models", "roster"),
        (
            {"roster": {"models": [{"name": "m", "weight": "x"}]}},
            "setting.unknown",
            "weight",
            "'weights'",
        ),
        ({"api_key_env": "sk-secret"}, "setting.format", "serve.api_key_env", "api_key_env"),
        ({"fleet": {"slots": 0, "device": "tpu"}}, "setting.range", "fleet.slots", "0"),
        ({"fleet": {"slots": 0, "device": "tpu"}}, "setting.choice", "fleet.device", "tpu"),
    ],
)
def test_mistakes_are_told(args: dict[str, Any], code: Code, setting: str, named: str) -> None:
    with pytest.raises(ConfigurationError) as caught:
        settings(args)
    assert named in assert_among(caught.value.problems, code, setting).text
    assert "sk-secret" not in str(caught.value)
