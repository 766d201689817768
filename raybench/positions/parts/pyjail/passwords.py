"""Jails that open to a password, and hide it more or less: reading their source is enough."""

import base64

from raybench.positions.parts.pyjail.lot import Jail, Lot


def clear(lot: Lot) -> Jail:
    """Compare with the password as it is."""
    word, kept = lot.password(), lot.name()
    source = """
        import os

        $kept = "$word"


        def jail(user_input):
            if user_input == $kept:
                return os.environ["FLAG"]
            return "$no"
        """
    return Jail(lot.filled(source, kept=kept, word=word), word)


def joined(lot: Lot) -> Jail:
    """Compare with a password in parts."""
    word, (kept, part) = lot.password(), lot.names(2)
    source = """
        import os

        $kept = $parts


        def jail(user_input):
            for $part in $kept:
                if not user_input.startswith($part):
                    return "$no"
                user_input = user_input[len($part):]
            return "$no" if user_input else os.environ["FLAG"]
        """
    parts = [word[at : at + 4] for at in range(0, len(word), 4)]
    return Jail(lot.filled(source, kept=kept, part=part, parts=parts), word)


def mirrored(lot: Lot) -> Jail:
    """Compare with the password backwards."""
    word = lot.password()
    source = """
        import os


        def jail(user_input):
            $turned = user_input[::-1]
            return os.environ["FLAG"] if $turned == "$word" else "$no"
        """
    return Jail(lot.filled(source, turned=lot.name(), word=word[::-1]), word)


def masked(lot: Lot) -> Jail:
    """Compare codes of characters after an exclusive or."""
    word, mask, (codes, given) = lot.password(), lot.rng.randint(1, 127), lot.names(2)
    source = """
        import os

        $codes = $found


        def jail(user_input):
            $given = [ord(each) ^ $mask for each in user_input]
            if $given != $codes:
                return "$no"
            return os.environ["FLAG"]
        """
    found = [ord(each) ^ mask for each in word]
    return Jail(lot.filled(source, codes=codes, given=given, mask=mask, found=found), word)


def encoded(lot: Lot) -> Jail:
    """Compare in base64."""
    word = lot.password()
    source = """
        import base64
        import os


        def jail(user_input):
            $given = base64.b64encode(user_input.encode()).decode()
            if $given == "$coded":
                return os.environ["FLAG"]
            return "$no"
        """
    coded = base64.b64encode(word.encode()).decode()
    return Jail(lot.filled(source, given=lot.name(), coded=coded), word)


def hexadecimal(lot: Lot) -> Jail:
    """Compare as hexadecimal digits."""
    word = lot.password()
    source = """
        import os

        $kept = "$coded"


        def jail(user_input):
            return os.environ["FLAG"] if user_input.encode().hex() == $kept else "$no"
        """
    return Jail(lot.filled(source, kept=lot.name(), coded=word.encode().hex()), word)


def shifted(lot: Lot) -> Jail:
    """Compare after each character was moved on in the alphabet."""
    word, by, (moved, each) = lot.password(), lot.rng.randint(1, 3), lot.names(2)
    source = """
        import os


        def jail(user_input):
            $moved = "".join(chr(ord($each) + $by) for $each in user_input)
            if $moved == "$text":
                return os.environ["FLAG"]
            return "$no"
        """
    text = "".join(chr(ord(letter) + by) for letter in word)
    return Jail(lot.filled(source, moved=moved, each=each, by=by, text=text), word)


def shuffled(lot: Lot) -> Jail:
    """Compare after all characters have changed their places."""
    word, (order, dealt) = lot.password(), lot.names(2)
    source = """
        import os

        $order = $places


        def jail(user_input):
            if len(user_input) != len($order):
                return "$no"
            $dealt = "".join(user_input[place] for place in $order)
            return os.environ["FLAG"] if $dealt == "$text" else "$no"
        """
    places = lot.rng.sample(range(len(word)), len(word))
    text = "".join(word[place] for place in places)
    return Jail(lot.filled(source, order=order, dealt=dealt, places=places, text=text), word)
