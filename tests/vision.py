"""A model that takes images: small, of random weights, made on the spot, as none comes from PyPI.

It is an Idefics3, as SmolVLM is; most others need torchvision. What it says depends on the picture.
"""

import base64
import io
from pathlib import Path

from PIL import Image

from raybench.fleet import embedded

TEMPLATE = """\
{% for message in messages %}<|im_start|>{{ message.role }}
{% for part in message.content %}{{ '<image>' if part.type == 'image' else part.text }}{% endfor %}
<|im_end|>
{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant
{% if enable_thinking is false %}<think>

</think>

{% endif %}{% endif %}"""
_SIDE = 32


def seeing(folder: Path) -> str:
    """Make a model that reads the embedded one's words and pictures of 32 pixels a side."""
    import torch
    from transformers import (
        AutoTokenizer,
        Idefics3Config,
        Idefics3ForConditionalGeneration,
        Idefics3Processor,
    )
    from transformers.models.idefics3.image_processing_pil_idefics3 import (
        Idefics3ImageProcessorPil,
    )

    processor = Idefics3Processor(
        # Pictures are cut into four tiles and shown small once more, each of four tokens.
        Idefics3ImageProcessorPil(
            size={"longest_edge": 2 * _SIDE}, max_image_size={"longest_edge": _SIDE}
        ),
        AutoTokenizer.from_pretrained(str(embedded.prepare())),
        image_seq_len=4,
        chat_template=TEMPLATE,
    )
    words, layers = processor.tokenizer, {"num_hidden_layers": 2, "num_attention_heads": 2}
    config = Idefics3Config(
        text_config={
            "model_type": "llama",
            "vocab_size": len(words),
            "hidden_size": 64,
            "intermediate_size": 128,
            "num_key_value_heads": 2,
            "max_position_embeddings": 512,
            "pad_token_id": words.pad_token_id,
            "eos_token_id": words.eos_token_id,
            **layers,
        },
        vision_config={
            "hidden_size": 64,
            "intermediate_size": 128,
            "image_size": _SIDE,
            "patch_size": 8,
            **layers,
        },
        image_token_id=words.convert_tokens_to_ids("<image>"),
        pad_token_id=words.pad_token_id,
        scale_factor=2,
    )
    torch.manual_seed(0)
    model = Idefics3ForConditionalGeneration(config)
    for name, weights in model.named_parameters():
        if "norm" not in name:
            weights.data *= 5  # as they are drawn, hardly anything they read would matter
    model.save_pretrained(folder)
    processor.save_pretrained(folder)
    return str(folder)


def picture(color: str) -> str:
    file = io.BytesIO()
    Image.new("RGB", (_SIDE, _SIDE), color).save(file, "PNG")
    return "data:image/png;base64," + base64.b64encode(file.getvalue()).decode()
