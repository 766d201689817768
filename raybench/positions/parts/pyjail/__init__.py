"""Jails to learn on: kinds of them, each drawn with other names, numbers and passwords."""
