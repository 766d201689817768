"""Strategies that are DSPy programs: the only place that knows DSPy, imported when one is used."""
