"""The parts of chess: how moves are read, seen, chosen and written down."""
