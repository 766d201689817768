"""The parts of PyJail: what may be chosen, what a jail is, how it is run, and some of our own."""
