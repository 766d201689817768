"""The terminal: progress while a run goes, the leaderboard at its end, words to the person.

`progress.py` is what experiments use: a state (`state.py`, `models.py`) that is shown as a live
table (`live.py`), as lines (`plain.py`), as JSON (`events.py`) or not at all (`modes.py`).
"""

from raybench.tracking.console.progress import Progress
from raybench.tracking.console.tables import show_leaderboard, show_note
from raybench.tracking.console.telling import began, came_to, is_for_people, out, say, warn
from raybench.tracking.console.words import counted, duration, short

__all__ = [
    "Progress",
    "began",
    "came_to",
    "counted",
    "duration",
    "is_for_people",
    "out",
    "say",
    "short",
    "show_leaderboard",
    "show_note",
    "warn",
]
