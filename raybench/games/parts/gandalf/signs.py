"""Words and signs that stand for letters: the names of letters, look-alike digits."""

NATO = frozenset({
    "alfa", "alpha", "bravo", "charlie", "delta", "echo", "foxtrot", "golf", "hotel", "india",
    "juliett", "juliet", "kilo", "lima", "mike", "november", "oscar", "papa", "quebec",
    "romeo", "sierra", "tango", "uniform", "victor", "whiskey", "whisky", "xray", "yankee",
    "zulu",
})  # fmt: skip
"""The spelling alphabet: each word stands for its first letter."""
NAMES = {
    "ay": "a", "bee": "b", "cee": "c", "see": "c", "dee": "d", "ee": "e", "ef": "f",
    "eff": "f", "gee": "g", "jee": "g", "aitch": "h", "haitch": "h", "eye": "i", "jay": "j",
    "kay": "k", "el": "l", "ell": "l", "em": "m", "en": "n", "oh": "o", "pee": "p",
    "cue": "q", "queue": "q", "ar": "r", "are": "r", "ess": "s", "es": "s", "tee": "t",
    "yu": "u", "you": "u", "vee": "v", "doubleyou": "w", "doubleu": "w", "ex": "x",
    "wye": "y", "why": "y", "zee": "z", "zed": "z",
}  # fmt: skip
"""What the letters are called."""
DIGITS = str.maketrans("0123456789@$€£¢¥§", "oizeasgtbgaselcys")
"""Digits and signs that look like letters; 1 is i, and so is l, in texts that are read so."""
SIGNS = str.maketrans("!|+(<", "iitcc")
"""Signs that may also be nothing but signs."""
DRAWN = (("|\\/|", "m"), ("|\\|", "n"), ("|_|", "u"), ("/\\", "a"), ("\\/", "v"), ("|-|", "h"))
"""Letters drawn with several signs."""
