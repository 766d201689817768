"""Pieces of words, of two or more letters, that messages set apart, and what they come to.

A piece stands in capitals, in quotation marks or other marks, has a hyphen or dots at an end, or is
next to words of its sentence that speak of pieces: 'it begins with gar, then comes den'.
"""

import re
from collections.abc import Iterable, Iterator, Sequence

from raybench.games.parts.gandalf.folding import folded

_CAPITALS = re.compile(r"(?<![^\W_])[A-Z]{2,}(?![^\W_])")
_WORDS = re.compile(r"[^\W\d_]{2,}")
_OPEN, _CLOSED = '"“”„«»‹›`*_~()\\[\\]{}<>|', "'‘’"
_PIECE = r"(?P<piece>[a-z]{2,16})"
_MARKED = re.compile(
    rf"(?:(?<=[{_OPEN}])|(?<![a-z0-9][{_CLOSED}])(?<=[{_CLOSED}])){_PIECE}(?=[{_OPEN}{_CLOSED}.,;:-])"
    rf"|(?:(?<=\.\.)|(?<=…)|(?<![a-z0-9])(?<!-)-){_PIECE.replace('piece', 'behind')}(?![a-z])"
    rf"|(?<![a-z]){_PIECE.replace('piece', 'before')}(?=\.\.|…|-(?![a-z0-9-]))"
)
_TOKEN = re.compile(r"[a-z]+(?:['’][a-z]+)*")
_TELLING = frozenset({
    "plus", "follow", "follows", "followed", "half", "halves", "piece", "pieces", "syllable",
    "syllables", "chunk", "remainder", "letters", "prefix", "suffix",
})  # fmt: skip
"""Words that speak of pieces."""
_ORDINARY = frozenset({
    "begin", "begins", "beginning", "start", "starts", "starting", "open", "opens", "opening",
    "end", "ends", "ending", "close", "closes", "closing", "then", "comes", "following", "next",
    "add", "adding", "finally", "finish", "finishes", "first", "second", "third", "last", "part",
    "parts", "rest", "middle",
})  # fmt: skip
"""Words that do so where a sentence speaks of a word: 'the first light' alone is the morning's."""
_IDIOMS = re.compile(
    r"\b(?:at (?:first|last)|in the end)(?= (?:i|we|you|he|she|they)\b)|\bfirst of all\b"
    r"|\b(?:first|last|next) time\b"
)
"""Where they say nothing of the kind."""
_OF_A_WORD = re.compile(
    r"\b(?:(?:pass)?words?|letters?|syllables?|prefix|suffix|hal(?:f|ves)|pieces?|chunks?"
    r"|(?:begin|start|open|end|clos|finish)(?:e?s|n?ing)? (?:with|in)"
    r"|(?:first|second|third|last|final|other) (?:part|two|three|four|five|six|seven|eight))\b"
)
_LINKS = _TELLING | _ORDINARY | frozenset({
    "a", "and", "is", "are", "was", "be", "it", "its", "it's", "the", "that", "with", "in",
    "by", "of", "as", "to", "my", "word", "just", "only", "you", "get", "have", "will", "come",
    "up", "one", "two", "three", "four", "five", "six", "after", "which", "this", "there", "right",
    "like",
})  # fmt: skip
"""Words that may stand between those and a piece."""
_MOST_LINKS = 6
_SENTENCE = re.compile(r"(?<![.!?])[.!?]+[\"'”’)\]]*\s+|\n{2,}")


def pieces(messages: Sequence[str]) -> frozenset[str]:
    """Return the pieces in somebody's messages."""
    text = "\n".join(messages)
    low = folded(text)
    marked = ((each["piece"] or each["behind"] or each["before"]) for each in _MARKED.finditer(low))
    told = (piece for message in messages for piece in _told(folded(message)))
    return frozenset((*marked, *told, *_capitals(text)))


def pieced(word: str, some: Iterable[str]) -> bool:
    """Tell whether pieces, in any order, come to the whole word."""
    known = [False] * len(word)
    for piece in some:
        at = word.find(piece) if 1 < len(piece) < len(word) else -1
        while at >= 0:
            known[at : at + len(piece)] = [True] * len(piece)
            at = word.find(piece, at + 1)
    return all(known)


def _capitals(text: str) -> Iterator[str]:
    found = _CAPITALS.findall(text)
    if 2 * len(found) < len(_WORDS.findall(text)):  # else it is only shouting
        yield from map(str.lower, found)


def _told(low: str) -> Iterator[str]:
    """Yield the words of a folded message beside those of their sentence that speak of pieces."""
    spoken_of = _OF_A_WORD.search(low) is not None
    for sentence in _SENTENCE.split(low):
        tokens = _TOKEN.findall(_IDIOMS.sub(" ", sentence))
        means_it = spoken_of and (_OF_A_WORD.search(sentence) or _is_bare(tokens))
        yield from _beside(tokens, _TELLING | _ORDINARY if means_it else _TELLING)


def _is_bare(tokens: Sequence[str]) -> bool:
    """Tell whether a sentence has hardly more than pieces: 'First light, then house'."""
    tells = sum(token in _ORDINARY for token in tokens)
    return sum(token not in _LINKS for token in tokens) <= tells


def _beside(tokens: Iterable[str], telling: frozenset[str]) -> Iterator[str]:
    """Yield the words on both sides of those that tell."""
    before, links, tells = "", 0, False
    for token in tokens:
        if token in _LINKS:
            links += 1
            tells = tells or token in telling
            continue
        if tells and links <= _MOST_LINKS:
            yield before
            yield token
        before, links, tells = token, 0, False
    if tells and links <= _MOST_LINKS:
        yield before
