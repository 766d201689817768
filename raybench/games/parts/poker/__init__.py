"""The parts of poker: its settings, a hand on pokerkit's table, moves, what is seen and told."""
