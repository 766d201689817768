"""What an engine lets a model say that is to reply in JSON, by its own matcher.

That a real one holds to it: test_host_real.py.
"""

import json
from collections.abc import Callable

import pytest
from examined import verdicts
from helpers import NEEDS_MODEL
from hypothesis import given, settings
from hypothesis import strategies as st

from raybench.config import FleetConf
from raybench.fleet import embedded, group_engines
from raybench.fleet.llm_config import llm_config
from raybench.types import ModelSpec

pytestmark = [pytest.mark.slow, NEEDS_MODEL]  # the import of vLLM

VERDICT = verdicts(300, 600)


def verdict(answer: str = "42", reasoning: str = "Same.", confidence: int = 7) -> str:
    said = dict(zip(VERDICT["properties"], (answer, reasoning, "yes", confidence), strict=True))
    return json.dumps(said, ensure_ascii=False, separators=(",", ":"))


@pytest.fixture(scope="module")
def accepts() -> Callable[[str], bool]:
    """Whether the engine would let a model say this of a verdict, from beginning to end."""
    import llguidance.hf
    from transformers import AutoTokenizer
    from vllm.v1.structured_output.backend_guidance import serialize_guidance_grammar
    from vllm.v1.structured_output.backend_types import StructuredOutputOptions

    (engine,) = group_engines([ModelSpec("m", "vllm", "embedded")])
    told = llm_config(engine, FleetConf(), gpu=True)["engine_kwargs"]["structured_outputs_config"]
    assert told["backend"] == "guidance"
    grammar = serialize_guidance_grammar(
        StructuredOutputOptions.JSON, json.dumps(VERDICT), told["disable_any_whitespace"]
    )
    tokenizer = AutoTokenizer.from_pretrained(str(embedded.prepare()))
    known = llguidance.hf.from_tokenizer(tokenizer, len(tokenizer))

    def accepted(text: str) -> bool:
        matcher = llguidance.LLMatcher(known, grammar)
        tokens = tokenizer.encode(text)
        return bool(matcher.try_consume_tokens(tokens) == len(tokens) and matcher.is_accepting())

    return accepted


# As JSON without \\u writes them: nothing below a space but for these. (The model has no token for
# the first byte of what is above, which no language uses.)
sayable = st.text(
    st.one_of(
        st.characters(
            min_codepoint=32,
            max_codepoint=0x3FFFF,
            exclude_categories=["Cs"],
            exclude_characters="\x7f",
        ),
        st.sampled_from('\b\f\n\r\t"\\'),
    )
)


@given(sayable, sayable, st.integers(0, 100))
@settings(deadline=None)
def test_every_verdict_can_be_said(
    accepts: Callable[[str], bool], answer: str, reasoning: str, confidence: int
) -> None:
    assert accepts(verdict(answer[:300], reasoning[:600], confidence))


def test_formulas_and_quotations_can_be_said(accepts: Callable[[str], bool]) -> None:
    # xgrammar lets neither stand in a text of bounded length.
    assert accepts(verdict(r"\frac{1}{2}", 'It says "\\frac{1}{2}".\n'))
    assert accepts(verdict("\\" * 300, '"' * 600))
    assert accepts(verdict("ü" * 300, "🦙" * 600))


@pytest.mark.parametrize(
    "text",
    [
        verdict().replace("42", "4\t2"),  # which JSON forbids, and xgrammar allows
        verdict().replace("42", "4\n2"),
        verdict().replace("42", "4\x002"),
        verdict().replace("42", "\\ud83e"),  # half a character, which no file can hold
        verdict().replace("42", "\\x"),
        verdict("a" * 301),
        verdict("\\" * 301),
        verdict(reasoning="a" * 601),
        verdict(confidence=101),
        verdict(confidence=-1),
        verdict().replace("yes", "perhaps"),
        verdict().replace(",", ", "),
        verdict().replace("}", " }"),
        verdict() + "\n",
        verdict().replace("42", '4"2'),
        verdict()[:-1],
        "",
    ],
)
def test_nothing_else_can(accepts: Callable[[str], bool], text: str) -> None:
    assert not accepts(text)
