import pytest

from raybench.benchmarks.parts import libraries


@pytest.mark.parametrize(
    ("program", "profile"),
    [
        ("import os, numpy as np", "scientific"),
        ("def f():\n    from scipy.special import comb", "scientific"),
        ("from sympy import *", "scientific"),
        ("x = 1; import numpy", "scientific"),
        ("if True: import numpy", "scientific"),
        ('import numpy\nd = {"a": 1}\nprint(f"{d["a"]}")', "scientific"),  # since 3.12
        ("import numpyro", "plain"),
        ("import os  # and no numpy", "plain"),
        ("x = 'import numpy'", "plain"),
        ("(" * 100_000, "plain"),
        ("import " * 100_000, "plain"),
        ("\0", "plain"),
    ],
)
def test_libraries_are_there_for_those_who_import_them(program: str, profile: str) -> None:
    assert libraries.profile(program) == profile
