"""Texts that players or programs wrote, shown so that they cannot pass for the manager's words."""

_MARK = "| "


def quoted(text: str, most: int) -> str:
    """Return a text with a mark before every line; what is too long loses its middle.

    What does not print, and so might hide or break a line, is written as Python escapes it.
    """
    plain = text.replace("\r\n", "\n")
    if len(plain) > most:
        gone = len(plain) - most
        half = most // 2
        plain = f"{plain[:half]}\n[{gone} characters left out]\n{plain[len(plain) - half :]}"
    return "\n".join(_MARK + escaped(line) for line in plain.split("\n"))


def escaped(line: str) -> str:
    """Return a line of which all is to be seen."""
    if line.isprintable():
        return line
    return "".join(_shown(character) for character in line)


def _shown(character: str) -> str:
    if character.isprintable() or character == "\t":
        return character
    return character.encode("unicode_escape").decode("ascii")
