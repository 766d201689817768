"""Answers to mathematics as models write them, and as somebody would who wants a grader to stop.

Pairs are gold answers of the datasets beside this repository against rewritten forms, typical
mistakes, other gold answers and expressions from solutions. A hash of the gold answer puts a pair
into the half that our grader was developed on or into the one held out.
"""

import hashlib
import re
import string
from collections.abc import Callable, Iterator
from fractions import Fraction
from pathlib import Path
from random import Random

import sympy  # type: ignore[import-untyped]

from perf import data

_FILES = ("math500", "math_test_5000", "aime2024", "gsm8k_test", "mgsm")
_SEED = 4
Pair = tuple[str, str]
"""The given answer and the true one."""


def chosen(folder: Path, of_half: str, most: int) -> list[Pair]:
    """Return that many of a half, drawn by lot, or all; always the same."""
    found = [pair for pair in pairs(folder) if half(pair[1]) == of_half]
    return Random(_SEED).sample(found, min(most, len(found)))


def half(truth: str) -> str:
    """Return which half a gold answer's pairs belong to."""
    first = hashlib.sha256(truth.encode()).digest()[0]
    return "development" if first % 2 else "held-out"


# ------------------------------------------------------------------------------------------- pairs


def pairs(folder: Path) -> list[Pair]:
    """Return every different pair, from the same data always the same."""
    rows = [row for name in _FILES for row in data.read(folder, name)]
    golds = list(dict.fromkeys(row["answer"] for row in rows))
    random = Random(_SEED)
    found: dict[Pair, None] = {}
    for gold in golds:
        for given in _forms(gold, random):
            found[given, gold] = None
        for other in random.sample(golds, 2):
            found[other, gold] = None
    by_shape: dict[str, list[str]] = {}
    for gold in golds:
        by_shape.setdefault(re.sub(r"\d+", "0", gold), []).append(gold)
    for alike in by_shape.values():
        for gold in alike:
            found[random.choice(alike), gold] = None
    for row in rows:
        for expression in re.findall(r"\$([^$\n]{1,80})\$", row.get("solution") or "")[-6:]:
            found[expression, row["answer"]] = None
    return list(found)


def _forms(gold: str, random: Random) -> Iterator[str]:
    """Yield a gold answer as models write it, rightly and wrongly."""
    for rewritten in _REWRITINGS:
        given = rewritten(gold, random)
        if given is not None:
            yield given


def _replacing(old: str, new: str) -> Callable[[str, Random], str | None]:
    return lambda gold, _: gold.replace(old, new) if old in gold else None


def _around(template: str) -> Callable[[str, Random], str | None]:
    return lambda gold, _: template.replace("@", gold)


def _matching(pattern: str, new: str) -> Callable[[str, Random], str | None]:
    found = re.compile(pattern)
    return lambda gold, _: found.sub(new, gold) if found.search(gold) else None


def _decimal(gold: str, random: Random) -> str | None:
    found = re.fullmatch(r"(-?)\\d?frac\{(\d+)\}\{(\d+)\}", gold)
    if not found or not int(found[3]):
        return None
    digits = random.choice((2, 3, 4, 8, 15))
    return f"{found[1]}{int(found[2]) / int(found[3]):.{digits}f}".rstrip("0")


def _unreduced(gold: str, random: Random) -> str | None:
    found = re.fullmatch(r"(-?)\\d?frac\{(\d+)\}\{(\d+)\}", gold)
    factor = random.randint(2, 5)
    if not found:
        return None
    return rf"{found[1]}\frac{{{int(found[2]) * factor}}}{{{int(found[3]) * factor}}}"


def _mixed(gold: str, random: Random) -> str | None:
    found = re.fullmatch(r"\\d?frac\{(\d+)\}\{(\d+)\}", gold)
    if not found or int(found[1]) < int(found[2]) or not int(found[2]):
        return None
    whole, rest = divmod(int(found[1]), int(found[2]))
    return rf"{whole}{random.choice(('', ' '))}\frac{{{rest}}}{{{found[2]}}}"


def _root(gold: str, random: Random) -> str | None:
    found = re.fullmatch(r"(\d+)\\sqrt\{(\d+)\}", gold)
    return rf"\sqrt{{{int(found[1]) ** 2 * int(found[2])}}}" if found else None


def _rationalised(gold: str, random: Random) -> str | None:
    found = re.fullmatch(r"\\d?frac\{(\d*)\\sqrt\{?(\d+)\}?\}\{(\d+)\}", gold)
    if not found:
        return None
    value = Fraction(int(found[1] or 1) * int(found[2]), int(found[3]))
    return rf"\frac{{{value.numerator}}}{{{value.denominator}\sqrt{{{found[2]}}}}}"


def _grouped(gold: str, random: Random) -> str | None:
    if not re.fullmatch(r"\d{4,}", gold):
        return None
    return f"{int(gold):,}".replace(",", random.choice((",", r",\!", "{,}", ", ", r"\,")))


def _reordered(gold: str, random: Random) -> str | None:
    terms = re.findall(r"[-+]?[^-+]+", gold)
    if len(terms) < 2 or re.search(r"[{(\[\],]", gold):
        return None
    random.shuffle(terms)
    return "".join(t if t[0] in "+-" else "+" + t for t in terms).removeprefix("+")


def _swapped(gold: str, random: Random) -> str | None:
    elements = gold.strip("()[] ").split(",")
    if len(elements) < 2:
        return None
    random.shuffle(elements)
    return f"({','.join(elements)})"


def _multiplied_out(gold: str, random: Random) -> str | None:
    """Return a polynomial factored or expanded."""
    if not re.fullmatch(r"[-+0-9a-z^ ()]*[a-z][-+0-9a-z^ ()]*", gold) or len(gold) > 40:
        return None
    if re.search(r"[a-z]{3}|\^\d\d", gold):
        return None
    spelled = re.sub(r"(?<=[0-9a-z)])(?=[a-z(])", "*", gold.replace(" ", "")).replace("^", "**")
    letters = {letter: sympy.Symbol(letter) for letter in string.ascii_lowercase}
    try:
        polynomial = sympy.sympify(spelled, locals=letters)
        changed = random.choice((sympy.factor, sympy.expand))(polynomial)
    except Exception:  # prose
        return None
    return str(changed).replace("**", "^").replace("*", random.choice(("", "*", r" \cdot ")))


def _one_off(gold: str, random: Random) -> str | None:
    numbers = list(re.finditer(r"\d+", gold))
    if not numbers:
        return None
    one = random.choice(numbers)
    value = int(one[0]) + random.choice((-1, 1, 2, 10))
    return f"{gold[: one.start()]}{abs(value)}{gold[one.end() :]}"


def _negated(gold: str, random: Random) -> str | None:
    return gold[1:] if gold.startswith("-") else f"-{gold}"


def _cut(gold: str, random: Random) -> str | None:
    return gold[: random.randint(1, len(gold))] if gold else None


def _spaced(gold: str, random: Random) -> str | None:
    return re.sub(r"([-+=,])", r" \1 ", gold)


_REWRITINGS: tuple[Callable[[str, Random], str | None], ...] = (
    *map(_around, (
        "@", "@.", " @ ", "$@$", r"\(@\)", r"\[@\]", r"x=@", r"x = @", r"\text{@}", "(@)", "{@}",
        r"\mathbf{@}", r"\boxed{@}", r"@^\circ", r"@^{\circ}", "@ degrees", r"@\%", r"\$@", "$@",
        r"@ \text{ cm}", r"@\text{ square units}", "@ inches", r"@\text{cm}^2", "@ dollars", "@.0",
        "@.00", r"@ \text{ and } 1", "@, 1", r"\frac{@}{1}", "@/1", "2*@", r"@ \approx 3.14",
        r"\left(@\right)", "@+0", "1@", r"@\pi", "@i", r"\sqrt{@}", r"@ \text{ minutes}",
    )),
    *(_replacing(old, new) for old, new in (
        (r"\frac", r"\dfrac"), (r"\frac", r"\tfrac"), (r"\dfrac", r"\frac"), (r"\left", ""),
        (r"\right", ""), ("(", r"\left("), (r"\pi", "π"), (r"\pi", "pi"), (r"\pi", "3.14"),
        (r"\sqrt", "√"), ("-", "−"), (r"\cdot", "*"), (r"\times", r"\cdot"), (r"\text", r"\mbox"),
        (r"\infty", "∞"), (r"\infty", "inf"), (r"\cup", "∪"), (r"\cup", "U"), (r"\cup", r"\cap"),
        (" ", ""), (" ", r"\ "), (r"\!", ""), (",", ""), (",", ", "), ("[", "("), ("(", "["),
        ("^", "**"), ("+", "-"), ("-", "+"), (r"\pm", "+"), ("pmatrix", "bmatrix"), ("{", ""),
        ("x", "y"), ("}", ""), (r"\begin{pmatrix}", r"\left["), (r"\sqrt", ""), ("i", "j"),
    )),
    *(_matching(pattern, new) for pattern, new in (
        (r"\\d?frac\{([^{}]*)\}\{([^{}]*)\}", r"\1/\2"),
        (r"\\d?frac\{([^{}]*)\}\{([^{}]*)\}", r"(\1)/(\2)"),
        (r"\\d?frac\{([^{}]*)\}\{([^{}]*)\}", r"\\frac{\2}{\1}"),
        (r"\\d?frac\{(\d)\}\{(\d)\}", r"\\frac\1\2"),
        (r"\\d?frac\{-(\d+)\}", r"-\\frac{\1}"),
        (r"-\\d?frac\{(\d+)\}", r"\\frac{-\1}"),
        (r"\\sqrt\{([^{}]*)\}", r"sqrt(\1)"),
        (r"\\sqrt\{([^{}]*)\}", r"(\1)**(1/2)"),
        (r"\\sqrt\{([^{}]*)\}", r"\\sqrt[2]{\1}"),
        (r"(\d+)\\sqrt", r"\1*\\sqrt"),
        (r"(\d+)\\pi", r"\\pi \1"),
        (r"(\d+)\\pi", r"\1 \\cdot \\pi"),
        (r"\^(\d+)", r"^{\1}"),
        (r"\^\{(\d+)\}", r"^\1"),
        (r"^[^=]*=", ""),
        (r"\\text\{([^{}]*)\}", r"\1"),
        (r"\\text\{([^{}]*)\}", r"\\mathrm{\1}"),
        (r"^(\d+)$", r"\1 \\times 1"),
        (r"^(\d+)$", r"+\1"),
        (r"^(\d+)$", r"0\1"),
        (r"^(\d+)$", r"\1.5"),
    )),
    _decimal, _unreduced, _mixed, _root, _rationalised, _grouped, _reordered, _swapped,
    _multiplied_out, _one_off, _negated, _cut, _spaced,
)  # fmt: skip


# ----------------------------------------------------------------------------------- hostile pairs


def hostile() -> Iterator[Pair]:
    """Yield answers made to take time or memory, against truths that are no integers."""
    answers = (
        "9**9**9**9", "10**10**10", "99999999!", "(20!)!", "1e999999999", "1e-999999999",
        "9**9**9**9/9**9**9**9", "2**(2**(2**(2**2)))", "x**9**9**9", "(x+1)**9999999",
        "(x+y+1)**40*(x-y-1)**40", "((((9**9)**9)**9)**9)**9", "0.1**9**9**9", "1.5**1e9",
        "!" * 1000, "5" + "!" * 1000, "(" * 100_000, "(" * 100_000 + "1" + ")" * 100_000,
        "{" * 10_000 + "1" + "}" * 10_000, r"\frac{" * 1000, r"\sqrt" * 1000, r"\sqrt{" * 900,
        r"\frac{1}{0}", "0/0", "1/0-1/0", "0**-1", "(1/0)!", "(-1)!", "ln(0)", "9" * 1_000_000,
        "x" * 1_000_000, "+".join("x" * 500_000), "-" * 3_900 + "1", "1" + "+1" * 1_900,
        "1" + "*9" * 1_900, "x" + "/x" * 1_900, "2" * 3_900 + ".5", "sqrt(" * 49 + "2" + ")" * 49,
        "sqrt(" + "9" * 300 + "7)", "sqrt(2+" * 40 + "2" + ")" * 40, "1" + "**x" * 1_000,
        "+".join(f"sqrt({n})" for n in range(2, 200)), "*".join(f"(x+{n})" for n in range(200)),
        "/".join(f"(x+{n})" for n in range(200)), "1/(sqrt(2)+sqrt(3)+sqrt(5)+sqrt(7)+sqrt(11))",
        "(sqrt(2)+sqrt(3)+sqrt(5))**9/(sqrt(2)+sqrt(3)+sqrt(5))**9*sqrt(1/4)*(1+x**y-x**y)",
        "(x**y+y**x+1)**9/(x**y+y**x+1)**9/2", "x**y**x**y**x-x**y**x**y**x+1/2+ln(x**y)-ln(x**y)",
        "1/2+sqrt(sqrt(x+1)-sqrt(x))-sqrt(sqrt(1+x)-sqrt(x)*1.0)", "1" + " " * 1_000_000 + "2",
        "1," * 500_000, r"\begin{pmatrix}" * 300, "\\" * 100_001, "%" * 1_000_000, "x" * 3_999,
        "1" + ",000" * 900, "day" * 1_300, "^ " * 2_000, "__import__('os').getpid()", "(0).real",
        "lambda:0", "[1]*10**10", "'a'*10**10", "\ue000" * 4_000, "\0" * 100, "²" * 3_000,
        "sqrt(3+2*sqrt(2))/(1+sqrt(2))/sqrt(5+2*sqrt(6))*(sqrt(2)+sqrt(3))-1/2",
        "(sqrt(3+2*sqrt(2))+sqrt(5+2*sqrt(6)))/(1+2*sqrt(2)+sqrt(3))/4"
        "+(sqrt(8+2*sqrt(15))+sqrt(10+2*sqrt(21)))/(sqrt(3)*2+sqrt(5)+sqrt(7))/4",
        "+".join(f"1/{n}!" for n in range(1_900, 2_500)), "/".join(f"{n}!" for n in range(2_500)),
        "+".join(f"x^{n}/{n}!" for n in range(9)), "*".join(f"(x+1/{n}!)" for n in range(9)),
        "+".join(f"1/{n}!" for n in range(2_000, 2_480)), "2500!" + "/2500!*2500!" * 300,
        "(x+9999999)!/x!", "(x+40)!/(x-40)!/((x+40)!/(x-40)!)/2", "((x!)!)!/((x!)!)!/2", "x!" * 60,
        "1_" * 2_000, "0x" + "f" * 3_900, "1j**1j**1j**1j", "1" * 200 + "/" + "3" * 200,
    )  # fmt: skip
    for answer in answers:
        for truth in ("1/2", r"\frac{\sqrt{3}}{2}", "x^2+y", "(0.5,1)"):
            yield answer, truth
            yield f"{answer}+1/2", truth
            yield f"(0.5,{answer})", truth
