"""Jails that evaluate nothing, and follow what they are given: formats, paths, pickles, a shell."""

import json

from raybench.positions.parts.pyjail.lot import Jail, Lot

_HOLDING_OS = ("filecmp", "glob", "logging", "shutil", "tarfile")


def formatted(lot: Lot) -> Jail:
    """Format a text with an object, whose attributes lead on."""
    kept, kind, field, value = lot.names(4)
    source = """
        import os

        $kept = os.environ["FLAG"]


        class $kind:
            def __init__(self, $field):
                self.$field = $field


        def jail(user_input):
            if len(user_input) > $most:
                return "$no"
            return ("{0.$field}: " + user_input).format($kind("$value"))
        """
    names = {"kept": kept.upper(), "kind": kind.title(), "field": field, "value": value}
    filled = lot.filled(source, **names, most=lot.rng.randint(50, 99))
    return Jail(filled, f"{{0.__init__.__globals__[{kept.upper()}]}}")


def percent(lot: Lot) -> Jail:
    """Fill in a text from more than was meant."""
    known, name, value = lot.names(3)
    source = """
        import collections
        import os

        $known = collections.ChainMap({"$name": "$value"}, os.environ)


        def jail(user_input):
            if "%" not in user_input:
                return "$no"
            return user_input % $known
        """
    return Jail(lot.filled(source, known=known, name=name, value=value), "%(FLAG)s")


def walk(lot: Lot) -> Jail:
    """Follow attributes from a module on; some are refused."""
    source = """
        import $module as $start


        def jail(user_input):
            $thing = $start
            for $part in user_input.split("."):
                if $part.startswith("_") or $part == "environ":
                    return "$no"
                $thing = getattr($thing, $part)
            return $thing
        """
    start, thing, part = lot.names(3)
    module = lot.rng.choice(_HOLDING_OS)
    return Jail(
        lot.filled(source, module=module, start=start, thing=thing, part=part), "os.environb"
    )


def unpickled(lot: Lot) -> Jail:
    """Load what was pickled, some words excepted."""
    words = lot.mixed("system", "popen", "eval", among=("exec", "spawn", "fork", "open"), extra=2)
    source = """
        import pickle

        $banned = $words


        def jail(user_input):
            if any($each in user_input for $each in $banned):
                return "$no"
            return pickle.loads(user_input.encode())
        """
    banned, each = lot.names(2)
    filled = lot.filled(source, banned=banned, each=each, words=words)
    return Jail(filled, "cos\ngetenv\n(S'FLAG'\ntR.")


def of_builtins(lot: Lot) -> Jail:
    """Load what was pickled, with classes of one module alone."""
    kind, loaded = lot.names(2)
    source = """
        import io
        import pickle


        class $kind(pickle.Unpickler):
            def find_class(self, module, name):
                if module != "builtins":
                    raise pickle.UnpicklingError("$no")
                return super().find_class(module, name)


        def jail(user_input):
            $loaded = $kind(io.BytesIO(user_input.encode())).load()
            return f"$loaded: {$loaded}"
        """
    filled = lot.filled(source, kind=kind.title(), loaded=loaded)
    return Jail(filled, "cbuiltins\neval\n(S'__import__(\"os\").environ'\ntR.")


def shell(lot: Lot) -> Jail:
    """Put a text into a command; some signs are refused."""
    signs = "".join(lot.mixed("$", "`", "|", among=tuple("&<>(){}*?"), extra=4))
    greeting, banned, done = lot.names(3)
    source = """
        import subprocess

        $banned = set("$signs")


        def jail(user_input):
            if $banned & set(user_input):
                return "$no"
            $done = subprocess.run(
                "echo $greeting " + user_input, shell=True, capture_output=True, text=True
            )
            return $done.stdout
        """
    filled = lot.filled(source, banned=banned, signs=signs, greeting=greeting, done=done)
    return Jail(filled, "; set")


def pollution(lot: Lot) -> Jail:
    """Set attributes of an object, as deep as one likes, and look at those of another one."""
    kind, field, merge, name, value = lot.names(5)
    word = lot.password()
    source = """
        import json
        import os


        class $kind:
            $field = "nobody"


        def $merge(given, target):
            for $name, $value in given.items():
                if isinstance($value, dict):
                    $merge($value, getattr(target, $name))
                else:
                    setattr(target, $name, $value)


        def jail(user_input):
            $merge(json.loads(user_input), $kind())
            return os.environ["FLAG"] if $kind().$field == "$word" else "$no"
        """
    names = {"kind": kind.title(), "field": field, "merge": merge, "name": name, "value": value}
    return Jail(lot.filled(source, **names, word=word), json.dumps({"__class__": {field: word}}))
