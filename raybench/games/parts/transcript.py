"""The head of a match that is written down in Markdown, whatever the game."""

from raybench.games.parts.contract import Written


def head(title: str, match: Written) -> str:
    """Return who sat where and how it ended."""
    seats = [
        f"- {role}: {_plain(name)} ({match.scores[role]:+g})"
        for role, name in match.players.items()
    ]
    ended = match.outcome or "not played to its end"
    if match.forfeits:
        ended += f"; forfeited by {', '.join(match.forfeits)}"
    return "\n".join(
        (f"# {title}: {_plain(match.event)}, {_plain(match.round)}", "", *seats, "", f"{ended}.")
    )


def _plain(text: str) -> str:
    return " ".join(text.split())
