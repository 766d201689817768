"""How models are asked for moves: with which prompts of their own, and how replies are drawn."""

from dataclasses import replace

from raybench.arena.chair import Decoding
from raybench.config import Config, everybody
from raybench.types import ModelSpec


def asked(config: Config) -> tuple[ModelSpec, ...]:
    """Return everybody who plays or judges, with the system prompts that they have here."""
    return tuple(_here(config, it) for it in everybody(config))


def named(config: Config, name: str) -> ModelSpec:
    """Return somebody of the roster, as they are asked here."""
    every = (*config.roster.models, *config.roster.judges)
    return _here(config, next(it for it in every if it.name == name).spec())


def _here(config: Config, model: ModelSpec) -> ModelSpec:
    return model if config.games.own_system_prompts else replace(model, system_prompt=None)


def decoding(config: Config) -> Decoding:
    """Return how moves are drawn."""
    conf = config.games
    return Decoding(
        tokens={
            "line": conf.move_tokens,
            "text": conf.speech_tokens,
            "code": conf.code_tokens,
        },
        temperature=conf.temperature,
        listed=conf.listed_moves,
        seed=config.seed,
    )


def stand_ins(config: Config) -> frozenset[str]:
    """Return the models that have to be told what they could play."""
    return frozenset(it.name for it in everybody(config) if it.engine == "simulated")


def greedy(config: Config) -> frozenset[str]:
    """Return the models that reply alike whenever they are asked alike: at temperature 0."""
    return frozenset(
        it.name
        for it in (model.spec() for model in config.roster.models)
        if it.engine != "simulated" and drawn(config, it).drawn_with["temperature"] == 0
    )


def drawn(config: Config, model: ModelSpec) -> ModelSpec:
    """Return a player with the temperature that its moves are drawn with."""
    if config.games.temperature is None:
        return model
    return replace(model, sampling=replace(model.sampling, temperature=config.games.temperature))
