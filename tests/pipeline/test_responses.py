import multiprocessing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from refusals import refused

from raybench.pipeline.responses import Response, Responses, address, identity
from raybench.types import Message, ModelSpec, Request

REQUEST = Request((Message("user", "What is 2 + 2?"),), 7, 512, 0.0, 1.0)
COMMIT = "0123456789abcdef0123456789abcdef01234567"


@pytest.fixture
def store(tmp_path: Path) -> Responses:
    responses = Responses(tmp_path / "raybench" / "responses.db")
    responses.prepare()
    return responses


def test_what_was_put_is_got_and_nothing_else(store: Responses) -> None:
    store.put({"a": {"response": "größer \ud83e"}, "b": {"response": ""}})
    assert store.get(["a", "c"]) == {"a": {"response": "größer \ud83e"}}
    assert store.get([]) == {}


def test_the_first_response_stays(store: Responses) -> None:
    store.put({"a": {"response": "first"}})
    store.put({"a": {"response": "second"}})
    assert store.get(["a"]) == {"a": {"response": "first"}}


def test_many_are_got_at_once(store: Responses) -> None:
    many: dict[str, Response] = {str(number): {"response": "x"} for number in range(3000)}
    store.put(many)
    assert store.get([*many]) == many


def _put(path: Path, name: str) -> None:
    for number in range(50):
        Responses(path).put({f"{name}/{number}": {"response": "x"}})


@pytest.mark.process
def test_many_processes_write_side_by_side(tmp_path: Path) -> None:
    path = tmp_path / "responses.db"
    Responses(path).prepare()
    spawned = multiprocessing.get_context("spawn")
    writers = [spawned.Process(target=_put, args=(path, name)) for name in "abc"]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join(200)
        assert writer.exitcode == 0
    wanted = [f"{name}/{number}" for name in "abc" for number in range(50)]
    assert len(Responses(path).get(wanted)) == 150


def test_a_file_that_is_none_is_told_with_the_mend(tmp_path: Path) -> None:
    path = tmp_path / "responses.db"
    path.write_bytes(b"no database at all, but long enough to be taken for one" * 20)
    with refused("file.unreadable", "cache"):
        Responses(path).prepare()


# ---------------------------------------------------------------------------- who is asked what


def model(**changes: Any) -> ModelSpec:
    given: dict[str, Any] = {"name": "m", "engine": "vllm", "weights": "org/name"}
    return ModelSpec(**given | {"revision": COMMIT} | changes)


def test_a_models_name_and_sampling_do_not_tell_it_apart() -> None:
    assert identity(model()) == identity(model(name="other"))


@pytest.mark.parametrize(
    "changes",
    [
        {"weights": "org/other"},
        {"revision": COMMIT[::-1]},
        {"options": {"dtype": "float16"}},
        {"reasoning": True},
        {"engine": "openai", "revision": "2026-11"},
    ],
)
def test_what_makes_it_answer_otherwise_does(changes: dict[str, Any]) -> None:
    assert identity(model(**changes)) not in (None, identity(model()))


@pytest.mark.parametrize(
    "changes",
    [
        {"revision": None},
        {"revision": "main"},
        {"engine": "simulated", "weights": ""},
        {"engine": "openai", "revision": None, "options": {"base_url": "http://localhost/v1"}},
    ],
)
def test_what_may_change_unseen_has_no_identity(changes: dict[str, Any]) -> None:
    assert identity(model(**changes)) is None


def test_a_template_is_known_by_what_it_says(tmp_path: Path) -> None:
    file = tmp_path / "chat.jinja"
    changes = {"options": {"chat_template": str(file)}}
    file.write_text("{{ messages }}")
    before = identity(model(**changes))
    file.write_text("{{ messages[0] }}")
    assert identity(model(**changes)) != before


def test_a_bound_on_the_context_tells_replies_apart() -> None:
    assert identity(model(), 2048) != identity(model(), 4096) != identity(model())


def test_a_folder_is_known_by_its_files(tmp_path: Path) -> None:
    (tmp_path / "model.safetensors").write_bytes(b"1234")
    before = identity(model(weights=str(tmp_path), revision=None))
    assert before is not None
    assert before == identity(model(weights=str(tmp_path), revision=None))
    (tmp_path / "model.safetensors").write_bytes(b"12345")
    assert identity(model(weights=str(tmp_path), revision=None)) != before


def test_an_address_is_of_one_model_one_request_and_one_repeat() -> None:
    other = Request((Message("user", "What is 2 + 3?"),), 7, 512, 0.0, 1.0)
    longer = Request(REQUEST.messages, 7, 1024, 0.0, 1.0)
    hot = Request(REQUEST.messages, 7, 512, 1.0, 1.0)
    hotter = Request(REQUEST.messages, 8, 512, 1.0, 1.0)
    places = {
        address("x", REQUEST, 0),
        address("y", REQUEST, 0),
        address("x", REQUEST, 1),
        *(address("x", request, 0) for request in (other, longer, hot, hotter)),
    }
    assert len(places) == 7


IMAGE = "data:image/png;base64,iVBORw0KGgo="
TURN = REQUEST.messages[0]


def test_what_a_reply_must_look_like_and_what_is_shown_tell_requests_apart() -> None:
    requests = [
        REQUEST,
        replace(REQUEST, regex="[0-9]"),
        replace(REQUEST, regex="[1-9]"),
        replace(REQUEST, json_schema={}),
        replace(REQUEST, json_schema={"type": "integer"}),
        # The order of its fields is that in which the model writes them.
        replace(REQUEST, json_schema={"properties": {"a": {}, "b": {}}}),
        replace(REQUEST, json_schema={"properties": {"b": {}, "a": {}}}),
        replace(REQUEST, messages=(replace(TURN, images=(IMAGE,)),)),
        replace(REQUEST, messages=(replace(TURN, images=(IMAGE, IMAGE)),)),
        replace(REQUEST, messages=(replace(TURN, images=(IMAGE,)), TURN)),
        replace(REQUEST, messages=(replace(TURN, foreign=True),)),
        replace(REQUEST, messages=(TURN, replace(TURN, images=(IMAGE,)))),
    ]
    assert len({address("x", request, 0) for request in requests}) == len(requests)


def test_plain_requests_are_where_earlier_versions_put_them() -> None:
    """People's caches outlive the version that filled them."""
    assert address("x", REQUEST, 0) == (
        "fba16eec03dda9165ba6d8f90d483be5e79660545b94f45b09774a6dc9c3b193"
    )


def test_a_greedy_request_is_the_same_with_any_seed() -> None:
    reseeded = Request(REQUEST.messages, 8, 512, 0.0, 1.0)
    assert address("x", REQUEST, 0) == address("x", reseeded, 0)


def test_replies_are_found_in_the_cache_whatever_the_number_of_replicas() -> None:
    model = ModelSpec("m", "vllm", "org/m", COMMIT, options={"max_model_len": 512})
    known = "c19a46f6836c4c421523e7e22a2e07fceb529b11bfffd4d47e538acfb417f1e1"
    assert identity(model, 4096) == identity(replace(model, replicas="auto"), 4096) == known
