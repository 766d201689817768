"""A checkpoint of random weights, of a Llama of a given shape, with the embedded model's tokenizer.

It needs no hub. Its replies make no sense and practically never end by themselves: each one has the
length that its request asks for.
"""

import json
from dataclasses import asdict, dataclass
from pathlib import Path

from raybench.fleet import embedded

CONTEXT = 4096
_SHAPE = "shape.json"


@dataclass(frozen=True, slots=True)
class Shape:
    """The sizes of a Llama."""

    layers: int = 16
    hidden: int = 2048
    heads: int = 32
    kv_heads: int = 8
    intermediate: int = 8192

    @classmethod
    def parse(cls, text: str) -> "Shape":
        """Read `layers,hidden,heads,kv_heads,intermediate`; what is left out is as by default."""
        shape = cls(*map(int, text.split(",")))
        if min(asdict(shape).values()) < 1:
            raise ValueError("sizes of a model are at least 1")
        if shape.hidden % shape.heads or shape.heads % shape.kv_heads:
            raise ValueError("heads have to divide hidden, and kv_heads have to divide heads")
        return shape


ABOUT_1B = Shape()
TINY = Shape(layers=2, hidden=128, heads=2, kv_heads=1, intermediate=256)
"""For engines on CPUs, whose heads have at least 32 dimensions."""


def write_checkpoint(folder: Path, shape: Shape) -> str:
    """Return the path of such a checkpoint, which is written unless it is there."""
    done = folder / _SHAPE
    if done.is_file() and json.loads(done.read_text()) == asdict(shape):
        return str(folder)
    import torch
    from transformers import AutoTokenizer, LlamaConfig, LlamaForCausalLM

    tokenizer = AutoTokenizer.from_pretrained(str(embedded.prepare()))
    torch.manual_seed(0)
    config = LlamaConfig(
        vocab_size=len(tokenizer),
        num_hidden_layers=shape.layers,
        hidden_size=shape.hidden,
        num_attention_heads=shape.heads,
        num_key_value_heads=shape.kv_heads,
        intermediate_size=shape.intermediate,
        max_position_embeddings=CONTEXT,
        bos_token_id=tokenizer.bos_token_id,
        eos_token_id=tokenizer.eos_token_id,
        pad_token_id=tokenizer.pad_token_id,
    )
    before = torch.get_default_dtype()
    torch.set_default_dtype(torch.bfloat16)
    try:
        model = LlamaForCausalLM(config)
    finally:
        torch.set_default_dtype(before)
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    done.write_text(json.dumps(asdict(shape)))  # at last: what was broken off is written again
    return str(folder)
