"""Strategies: an observation and an `ask` function in, a move out. They know no game's rules."""
