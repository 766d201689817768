"""+experiment=serve: the roster behind an OpenAI-compatible endpoint, until Ctrl-C."""

import asyncio
import contextlib
from collections.abc import Mapping
from typing import Any

from raybench.config import Config
from raybench.fleet import endpoint, group_engines
from raybench.fleet.needs import awake_at_once
from raybench.tracking import console
from raybench.tracking.plan import engine_lines
from raybench.types import Plan


def plan(config: Config) -> Plan:
    """Say what would be served."""
    models = [model.spec() for model in config.roster.models]
    hosted = tuple(endpoint.served(models))
    engines = group_engines(hosted)
    conf = config.serve
    return Plan(
        experiment="serve",
        models=hosted,
        engines=engine_lines(engines),
        slots=awake_at_once(engines, config.fleet),
        ray=True,
        units=0,
        unit="unit",
        calls="those that clients send",
        notes=(
            f"on {conf.host}:{conf.port}, "
            + (f"with the key in {conf.api_key_env}" if conf.api_key_env else "without a key"),
            *endpoint.left_out(models),
        ),
    )


async def run(config: Config, resolved: Mapping[str, Any]) -> None:
    """Serve until Ctrl-C, which is how this ends well."""
    models = [model.spec() for model in config.roster.models]
    async with endpoint.open_endpoint(models, config.fleet, config.serve, console.say) as there:
        names = [model.name for model in endpoint.served(models)]
        told = how_to_call(there.base_url, names, config.serve.api_key_env)
        console.out(told, quiet=there.base_url, serving=there.base_url, models=names)
        with contextlib.suppress(asyncio.CancelledError):
            await there.watch(console.warn)


def how_to_call(base_url: str, models: list[str], api_key_env: str | None) -> str:
    """Return what a person needs to know to use the endpoint."""
    header = f' -H "Authorization: Bearer ${api_key_env}"' if api_key_env else ""
    key = f'os.environ["{api_key_env}"]' if api_key_env else '"none"'
    example = models[0]
    return f"""
Serving {len(models)} model{"s" * (len(models) > 1)} at {base_url} (Ctrl-C stops it)

    {", ".join(models)}

    curl {base_url}/chat/completions{header} -H 'Content-Type: application/json' \\
      -d '{{"model": "{example}", "messages": [{{"role": "user", "content": "Hello"}}]}}'

    {"import os; " * bool(api_key_env)}from openai import OpenAI
    client = OpenAI(base_url="{base_url}", api_key={key})
    messages = [{{"role": "user", "content": "Hello"}}]
    print(client.chat.completions.create(model="{example}", messages=messages))
"""
