"""Tournaments: who meets whom, in which order, and when it is enough."""
