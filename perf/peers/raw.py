"""vLLM itself: all prompts in one call of `LLM.chat`, replies to a file.

    python -m perf.peers.raw FOLDER [--core]

What is asked, and of which engine, is in `raw.json` and `prompts.jsonl` of the folder. With --core
the engine is as ours on CPUs. It imports nothing else of ours: vLLM's processes import it, too.
"""

import json
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, nullcontext
from pathlib import Path
from typing import Any
from unittest.mock import patch


def main() -> None:
    """Ask, and keep what is answered."""
    folder, core = Path(sys.argv[1]), "--core" in sys.argv
    from vllm import LLM, SamplingParams

    told = json.loads((folder / "raw.json").read_text())
    with (folder / "prompts.jsonl").open() as lines:
        prompts = [json.loads(line)["prompt"] for line in lines]
    with our_core() if core else nullcontext():
        llm = LLM(told["model"], **told["engine"])
    messages: Any = [[{"role": "user", "content": it}] for it in prompts]
    sampling = SamplingParams(temperature=0.0, max_tokens=told["tokens"])
    replies = llm.chat(messages, sampling, use_tqdm=False)
    with (folder / "replies.jsonl").open("w") as file:
        file.writelines(json.dumps(it.outputs[0].text) + "\n" for it in replies)


@contextmanager
def our_core() -> Iterator[None]:
    """Have an engine that is made meanwhile be as raybench has it on CPUs."""
    from vllm.engine.arg_utils import EngineArgs

    from raybench.fleet.on_cpu.core import tuned

    usual = EngineArgs.create_engine_config
    with ExitStack() as meanwhile:

        def configured(self: EngineArgs, *given: Any, **named: Any) -> Any:
            config = usual(self, *given, **named)
            meanwhile.enter_context(tuned(config))
            return config

        meanwhile.enter_context(patch.object(EngineArgs, "create_engine_config", configured))
        yield


if __name__ == "__main__":
    main()
