"""Rewrite what tests compare word for word: `make goldens`, then review the difference.

Sentences of refusals (tests/messages.txt), templates of all other sentences (tests/statements.txt),
and playthroughs of games (tests/games/playthroughs/).
"""

import messages
import statements
from games import playthroughs

if __name__ == "__main__":
    messages.write()
    statements.write()
    playthroughs.rewrite()
