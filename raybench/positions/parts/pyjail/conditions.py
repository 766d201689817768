"""Jails that open to any text with some properties: one has to be made up, or worked out."""

import json
import string

from raybench.positions.parts.pyjail.lot import Jail, Lot


def linear(lot: Lot) -> Jail:
    """Want the number that solves an equation."""
    number, factor, plus = (lot.rng.randint(*of) for of in ((1_000, 99_999), (3, 99), (1, 9_999)))
    source = """
        import os


        def jail(user_input):
            if not user_input.isdecimal():
                return "$no"
            $given = int(user_input)
            return os.environ["FLAG"] if $given * $factor + $plus == $value else "$no"
        """
    value = number * factor + plus
    filled = lot.filled(source, given=lot.name(), factor=factor, plus=plus, value=value)
    return Jail(filled, str(number))


def remainders(lot: Lot) -> Jail:
    """Want a number with two remainders."""
    first, second = lot.rng.sample((11, 13, 17, 19, 23, 29, 31), 2)
    number = lot.rng.randint(10, first * second - 1)
    source = """
        import os


        def jail(user_input):
            $given = int(user_input)
            if $given % $first == $one and $given % $second == $other and $given > 0:
                return os.environ["FLAG"]
            return "$no"
        """
    rests = {"one": number % first, "other": number % second}
    filled = lot.filled(source, given=lot.name(), first=first, second=second, **rests)
    return Jail(filled, str(number))


def checksum(lot: Lot) -> Jail:
    """Want so many letters whose codes have a sum."""
    word = "".join(lot.rng.choices(string.ascii_lowercase, k=lot.rng.randint(6, 9)))
    source = """
        import os


        def jail(user_input):
            if len(user_input) != $length or not user_input.isalpha():
                return "$no"
            $total = sum(map(ord, user_input))
            return os.environ["FLAG"] if $total == $value else f"$no ({$total})"
        """
    value = sum(map(ord, word))
    return Jail(lot.filled(source, length=len(word), total=lot.name(), value=value), word)


def shape(lot: Lot) -> Jail:
    """Want a text that reads the same backwards, with some characters given."""
    half = "".join(lot.rng.choices(string.ascii_lowercase, k=lot.rng.randint(4, 6)))
    middle = str(lot.rng.randint(0, 9))
    source = """
        import os


        def jail(user_input):
            $checks = [
                len(user_input) == $length,
                user_input == user_input[::-1],
                user_input.startswith("$begin"),
                user_input[$at:$at + 1] == "$middle",
            ]
            return os.environ["FLAG"] if all($checks) else "$no"
        """
    given = {"begin": half[:2], "at": len(half), "middle": middle, "length": 2 * len(half) + 1}
    return Jail(lot.filled(source, checks=lot.name(), **given), half + middle + half[::-1])


def unequal(lot: Lot) -> Jail:
    """Want a number in JSON that is not equal to itself."""
    field, given = lot.names(2)
    source = """
        import json
        import os


        def jail(user_input):
            $given = json.loads(user_input)["$field"]
            if isinstance($given, float) and not $given == $given:
                return os.environ["FLAG"]
            return "$no"
        """
    return Jail(lot.filled(source, field=field, given=given), f'{{"{field}": NaN}}')


def fields(lot: Lot) -> Jail:
    """Want two numbers in JSON with a sum and a difference, and a list of them."""
    first, second, both, given = lot.names(4)
    one, other = lot.rng.randint(100, 999), lot.rng.randint(100, 999)
    source = """
        import json
        import os


        def jail(user_input):
            $given = json.loads(user_input)
            if $given["$first"] + $given["$second"] != $total:
                return "$no"
            if $given["$first"] - $given["$second"] != $apart:
                return "$no"
            if $given["$both"] != [$given["$first"], $given["$second"]]:
                return "$no"
            return os.environ["FLAG"]
        """
    names = {"first": first, "second": second, "both": both, "given": given}
    key = json.dumps({first: one, second: other, both: [one, other]})
    return Jail(lot.filled(source, **names, total=one + other, apart=one - other), key)
