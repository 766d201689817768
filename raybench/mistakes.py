"""Turns Hydra's and OmegaConf's errors into one message with the mend."""

import re
from collections.abc import Collection, Sequence

from raybench.errors import did_you_mean


def explain(error: Exception, overrides: Sequence[str], known_keys: Collection[str]) -> str:
    """Say what is wrong with the configuration, where, and how to mend it."""
    from hydra.errors import MissingConfigException, OverrideParseException

    texts = [str(error)] + ([str(error.__cause__)] if error.__cause__ else [])
    text = "\n".join(texts)
    if isinstance(error, OverrideParseException):
        return (
            f"'{error.override}' is not an override: write KEY=VALUE, +experiment=NAME or "
            "GROUP=NAME, and quote values with special characters"
        )
    if isinstance(error, MissingConfigException) and error.missing_cfg_file:
        group, _, name = error.missing_cfg_file.rpartition("/")
        return f"unknown {group or 'configuration'} '{name}'." + did_you_mean(
            name, error.options or ()
        )
    if match := re.search(r"Could not override '([^']+)'.\s*No match in the defaults list", text):
        group = match[1]
        given = next((o for o in overrides if o.startswith(f"{group}=")), f"{group}=NAME")
        if group == "experiment":
            return f"'{given}' needs a plus sign: write +{given}"
        return f"there is no configuration group '{group}' to choose from: '{given}'"
    if match := re.search(r"Could not override '([^']+)'", text):
        return f"unknown setting '{match[1]}'." + _closest(match[1], known_keys)
    if match := re.search(r"Key '([^']+)' (?:is )?not in '\w+'\s+full_key: (\S+)", text):
        return f"unknown setting '{match[2]}'." + _closest(match[2], known_keys)
    if "Missing mandatory value" in text and (match := re.search(r"full_key: (\S+)", text)):
        return f"'{match[1]}' has no value: give it one"
    if match := re.search(r"\s*full_key: (\S+)", text):
        lines = [line for line in text.splitlines() if line.strip()]
        reason = next((line for line in lines if line.startswith("Value ")), lines[0])
        return f"'{match[1]}': {_humble(reason)}"
    return next(line for line in text.splitlines() if line.strip())


def _humble(reason: str) -> str:
    """Say what type is wanted in a person's words."""
    wanted = {"Integer": "a whole number", "Float": "a number", "Boolean": "true or false"}
    if match := re.search(r"Value '(.*)'.* could not be converted to (\w+)", reason):
        return f"'{match[1]}' is not {wanted.get(match[2], match[2])}"
    return reason


def _closest(key: str, known: Collection[str]) -> str:
    parent, _, _ = key.rpartition(".")
    siblings = [name for name in known if name.rpartition(".")[0] == parent]
    return did_you_mean(key, siblings or known)
