"""Turns Hydra's and OmegaConf's errors into one message with the mend."""

import re
from collections.abc import Collection, Sequence
from dataclasses import fields

from raybench import config
from raybench.config import labels
from raybench.errors import Problem, did_you_mean

_REASONS = (
    "Value ",
    "Invalid ",
    "field ",
    "Incompatible value ",
    "Cannot assign container ",
    "Cannot convert ",
    "Key ",
)
"""How the line begins in which OmegaConf says what is wrong."""


def explain(error: Exception, overrides: Sequence[str], known_keys: Collection[str]) -> Problem:
    """Say what is wrong with the configuration, where, and how to mend it."""
    from hydra.errors import MissingConfigException, OverrideParseException

    texts = [str(error)] + ([str(error.__cause__)] if error.__cause__ else [])
    text = "\n".join(texts)
    if isinstance(error, OverrideParseException):
        return _no_override(str(error.override))
    if isinstance(error, MissingConfigException) and error.missing_cfg_file:
        return _no_config(error.missing_cfg_file, error.options, overrides)
    if match := re.search(r"Could not override '([^']+)'.\s*No match in the defaults list", text):
        return _no_group(match[1], overrides)
    if match := re.search(r"Ambiguous value for argument '([^']+)'", text):
        return Problem(
            "setting.syntax",
            f"'{match[1]}' has several values",
            setting=match[1].partition("=")[0],
            given=match[1],
            fix="add --multirun to run each, or write a list as KEY=[a,b]",
        )
    if match := re.search(r"Could not override '([^']+)'", text):
        if match[1] in known_keys:
            message = f"'{match[1]}': its value is not what it takes; names in it have no spaces"
            return Problem("setting.type", message, setting=match[1])
        return _unknown(match[1], _closest(match[1], known_keys, overrides))
    if match := re.search(r"Key '([^']+)' (?:is )?not in '(\w+)'\s+full_key: (\S+)", text):
        found = _unknown_key(match[1], match[2], match[3], known_keys, overrides)
        return found.prefixed(_where(text))
    if match := re.search(r"issing mandatory value[\s\S]*full_key: (\S+)", text):
        message = f"{_where(text)}'{match[1]}' has no value"
        return Problem("setting.missing", message, setting=match[1], fix="give it one")
    twice = r"(\S+) appears more than once in the final defaults list|Multiple values for (\S+)\. "
    if match := re.search(twice, text):
        group = match[1] or match[2]
        message, fix = f"'{group}' is chosen twice", "choose it once"
        return Problem("setting.duplicate", message, setting=group, fix=fix)
    if match := re.search(r"(\w+) is not a subclass of (\w+)", text):
        return _wrong_shape(match[1], match[2], text).prefixed(_where(text))
    if re.search(r"Cannot merge \w+ with \w+", text):
        return _in_each_others_place(text).prefixed(_where(text))
    if match := re.search(r"Cannot assign \w+ to Dict\S*[\s\S]*full_key: (\S+)", text):
        return Problem(
            "setting.type",
            f"{_where(text)}'{match[1]}' takes values by their names",
            setting=match[1],
            fix=f"{match[1]}.NAME=VALUE",
        )
    if match := re.search(r"full_key: (\S+)", text):
        lines = [line for line in text.splitlines() if line.strip()]
        reason = next((line for line in lines if line.startswith(_REASONS)), lines[0])
        return _of_type(reason, match[1]).prefixed(f"{_where(text)}'{match[1]}': ")
    if isinstance(error, UnicodeDecodeError):
        message = f"a configuration file is not UTF-8 text ({error})"
        return Problem("file.format", message, fix="save it as UTF-8")
    # YAML's own messages name file, line and cause on several lines: all of them are wanted.
    noise = ("full_key:", "object_type=", "reference_type=")
    lines = [line.strip() for line in text.splitlines()]
    message = "; ".join(line for line in lines if line and not line.startswith(noise))
    return Problem("setting.syntax", message)


def _no_config(file: str, options: Sequence[str] | None, overrides: Sequence[str]) -> Problem:
    """Say of a group's name that there is no file of it."""
    group, _, name = file.rpartition("/")
    for override in overrides:
        chosen, _, value = override.lstrip("+").partition("=")
        if file == f"{chosen}/{value}":  # the name may be a path
            group, name = chosen, value
    message = f"unknown {group or 'configuration'} '{name}'"
    # Hydra tells them of what is asked for once, and not of a list.
    fix = did_you_mean(name, options) if options else "`--help` lists what there is"
    if group.partition("/")[0] == "roster":
        fix += (
            " roster=PATH.yaml takes a file." if options else ", and roster=PATH.yaml takes a file"
        )
    return Problem("setting.choice", message, setting=group or None, given=name, fix=fix)


def _no_group(group: str, overrides: Sequence[str]) -> Problem:
    """Say of an argument that it chooses from a group that is not there, or lacks its plus sign."""
    given = next((o for o in overrides if o.startswith(f"{group}=")), f"{group}=NAME")
    if group == "experiment":
        message, fix = f"'{given}' needs a plus sign", f"write +{given}"
        return Problem("setting.syntax", message, setting=group, given=given, fix=fix)
    message = f"there is no configuration group '{group}' to choose from: '{given}'"
    return Problem("setting.unknown", message, setting=group, given=given)


def _unknown(key: str, fix: str, hint: str = "") -> Problem:
    """Say that there is no such setting."""
    return Problem("setting.unknown", f"unknown setting '{key}'{hint}", setting=key, fix=fix)


def _no_override(override: str) -> Problem:
    """Say how an argument is written that Hydra cannot read.

    It is told without the plus signs that we may have put before it.
    """
    key, _, value = override.lstrip("+").partition("=")
    told = f"'{key}={value}'" if value else f"'{override}'"
    message = f"{told} is not an override"
    if "/" in key and "." in key:
        table, _, name = key.rpartition(".")
        fix = f"a name with a / stands in braces: '{table}={{{name}: …}}'"
    else:
        braces = ". In { } names stand without quotes, and have no spaces" * value.startswith("{")
        fix = (
            "write KEY=VALUE, +experiment=NAME or GROUP=NAME, and quote values with special "
            f"characters{braces}"
        )
    return Problem("setting.syntax", message, setting=key, given=override, fix=fix)


def _in_each_others_place(text: str) -> Problem:
    """Say of a list that it should have been a mapping, or the other way round."""
    key = match[1] if (match := re.search(r"full_key: (\S+)", text)) else ""
    if key and not key.startswith("roster"):
        if "object_type=list" in text:
            message, fix = f"'{key}' is a mapping", f"a list is wanted: {key}=[a, b]"
        else:
            message = f"'{key}' is a list"
            fix = f"it takes values by their names: {key}.NAME=VALUE, or '{key}={{NAME: VALUE}}'"
        return Problem("setting.type", message, setting=key, fix=fix)
    return Problem(
        "setting.type",
        (f"'{key}': " if key else "") + "a list and a mapping stand in each other's place",
        setting=key or None,
        fix="models is a list, every item of which begins with '- name: …'; everything else is "
        "KEY: VALUE",
    )


def _wrong_shape(given: str, wanted: str, text: str) -> Problem:
    """Say what a list or a word should have been instead."""
    shapes = {
        "ModelConf": "a model is '- name: …' with its weights and more below it",
        "RosterConf": "a roster is 'name: …' and 'models:', a list",
    }
    match = re.search(r"full_key: (\S+)", text)
    place = f"'{match[1]}'" if match else "the file"
    kind = {"str": "a word", "list": "a list", "int": "a number"}.get(given, given)
    return Problem(
        "setting.type",
        f"{place} is {kind}",
        setting=match[1] if match else None,
        fix=shapes.get(wanted, "write KEY: VALUE"),
    )


def _where(text: str) -> str:
    """Name the file of the configuration in which the mistake stands, where Hydra says so."""
    match = re.search(r"In '([^']+)': \w+ raised while composing", text)
    return f"{match[1]}: " if match else ""


def _unknown_key(
    key: str, owner: str, full_key: str, known_keys: Collection[str], overrides: Sequence[str]
) -> Problem:
    """Say what the thing that was given an unknown key does have."""
    if owner == "Config" or not hasattr(config, owner):
        return _unknown(full_key, _closest(full_key, known_keys, overrides))
    prefix = full_key.removesuffix(key)
    names = [prefix + field.name for field in fields(getattr(config, owner))]
    if owner == "ModelConf" and key in {field.name for field in fields(config.SamplingConf)}:
        message = f"a model has no setting '{full_key}'"
        fix = f"'{key}' stands under its sampling"
        return Problem("setting.unknown", message, setting=full_key, fix=fix)
    hint = ". Settings of the engine stand under options" if owner == "ModelConf" else ""
    return _unknown(full_key, did_you_mean(full_key, names), hint)


def _of_type(reason: str, key: str) -> Problem:
    """Say what type is wanted in a person's words."""
    message, given, fix = _humble(reason, key)
    return Problem("setting.type", message, setting=key, given=given, fix=fix)


def _humble(reason: str, key: str) -> tuple[str, str | None, str | None]:
    """Return what is wrong with a value's type, the value, and how to fix it."""
    wanted = {"Integer": "a whole number", "Float": "a number", "Boolean": "true or false"}
    if match := re.search(
        r"Value '(.*?)' (?:of type '\w+' )?could not be converted to (\w+)", reason
    ):
        fix = f"write {key}=true or {key}=false" if match[2] == "Boolean" else f"write {key}=NUMBER"
        return f"'{match[1]}' is not {wanted.get(match[2], match[2])}", match[1], fix
    if match := re.search(r"Value '(.*)' is not a valid bool", reason):
        return (
            f"'{match[1]}' is not true or false",
            match[1],
            f"write {key}=true or {key}=false",
        )
    if match := re.search(
        r"'(.*?)' of type '\w+' (?:is incompatible .*|to )\S*Union\[(?:int, str|str, int)\]", reason
    ):
        return f"'{match[1]}' is neither a whole number nor auto", match[1], f"write {key}=NUMBER"
    if re.search(r"is not Optional|Incompatible value 'None'|Value 'None'", reason):
        return "it cannot be null", None, "give it a value"
    if match := re.search(r"Cannot convert '(\w+)' to string", reason):
        kind = "mapping" if "dict" in match[1].lower() else "list"
        listed = kind == "list" and key.startswith(labels.SETTINGS)
        fix = labels.several() if listed else f"write {key}=VALUE"
        return f"it is a {kind}, and takes one value", None, fix
    if match := re.search(r"Key (\S+) \((\w+)\) is incompatible with", reason):
        return f"'{match[1]}' is no text, and a name is", match[1], f"write it as {key}=VALUE"
    if "is not a ListConfig, list or tuple" in reason:
        return "a list is wanted", None, f"write {key}=[a,b]"
    return reason, None, None


def _closest(key: str, known: Collection[str], overrides: Sequence[str] = ()) -> str:
    parent, _, last = key.rpartition(".")
    elsewhere = sorted(name for name in known if name.rpartition(".")[2] == last)
    if elsewhere:
        named = {f"{it.partition('=')[2]}.{last}" for it in overrides if "experiment=" in it}
        return f"Did you mean '{next((it for it in elsewhere if it in named), elsewhere[0])}'?"
    siblings = [name for name in known if name.rpartition(".")[0] == parent]
    own = [] if parent else _own(known, overrides)
    return did_you_mean(key, [*siblings, *own] or known)


def _own(known: Collection[str], overrides: Sequence[str]) -> list[str]:
    """Return the settings of the experiment that is named, which need no prefix."""
    prefixes = [f"{it.partition('=')[2]}." for it in overrides if it.startswith("+experiment=")]
    return [name.removeprefix(own) for own in prefixes for name in known if name.startswith(own)]
