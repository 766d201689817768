"""Settings that came later: runs from before are found again, and are what they were."""

from pathlib import Path
from typing import Any, cast

import pytest
import yaml
from omegaconf import OmegaConf

from raybench import cli, saved
from raybench.pipeline.store import fingerprint
from raybench.pipeline.terms import models_of
from raybench.pipeline.typed import config_in


def told(experiment: str = "index", prompt: str | None = "Be brief.", **index: Any) -> Any:
    model = {"name": "m", "engine": "simulated", "system_prompt": prompt}
    return {
        "experiment": experiment,
        "roster": {"name": "r", "models": [model]},
        "index": {"limit": 5, **index},
    }


@pytest.mark.parametrize(
    ("settings", "same"),
    [
        (told(own_system_prompts=True), True),
        (told(own_system_prompts=False), False),
        (told(experiment="suite", own_system_prompts=False), False),
        (told(prompt=None, own_system_prompts=False), True),
        (told(experiment="games", own_system_prompts=False), True),
    ],
)
def test_a_run_from_before_is_found_where_it_asked_alike(settings: Any, same: bool) -> None:
    before = {**settings, "index": {"limit": 5}}
    assert (fingerprint(settings) == fingerprint(before)) == same


def test_a_configuration_from_before_asks_as_it_did(tmp_path: Path) -> None:
    prompted = "roster.models=[{name: m, engine: simulated, system_prompt: Be brief.}]"
    asked = cli.compose(cli.at_home(["+experiment=index", prompted]))
    settings = cast(dict[str, Any], OmegaConf.to_container(asked, resolve=True))
    file = tmp_path / "config.yaml"
    del settings["index"]["own_system_prompts"]
    file.write_text(yaml.safe_dump(settings))
    (model,) = models_of(config_in(file))
    assert model.system_prompt == "Be brief."
    assert saved.compose(str(file), []).index.own_system_prompts is True
    settings["index"]["own_system_prompts"] = False
    file.write_text(yaml.safe_dump(settings))
    (model,) = models_of(config_in(file))
    assert model.system_prompt is None
    assert saved.compose(str(file), []).index.own_system_prompts is False
