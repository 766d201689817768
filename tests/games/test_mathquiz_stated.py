"""Which questions state a number, and which do not."""

import base64
from collections.abc import Callable
from dataclasses import replace

import pytest
from games.growth import linear
from hypothesis import given
from hypothesis import strategies as st
from statements import code, values

from raybench.games import InvalidMove
from raybench.games.mathquiz import GAME, Quiz
from raybench.games.parts.mathquiz import words
from raybench.games.parts.mathquiz.foreign import named
from raybench.games.parts.mathquiz.stated import how
from raybench.games.parts.mathquiz.tongues import TONGUES as LANGUAGES
from raybench.games.parts.mathquiz.tongues import Tongue

TARGETS = st.integers(100, 999)
TWO_TARGETS = st.lists(TARGETS, min_size=2, max_size=2, unique=True)
DIGITS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
TEENS = (
    "ten", "eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen",
    "eighteen", "nineteen",
)  # fmt: skip
TENS = ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
MORSE = (
    "-----", ".----", "..---", "...--", "....-", ".....", "-....", "--...", "---..", "----.",
)  # fmt: skip
STATEMENTS: dict[str, Callable[[int], str]] = {
    "at sight": lambda n: f"What is {n}?",
    "in a trivial sum": lambda n: f"What is {n} + 0?",
    "with zeros": lambda n: f"What is 000{n}.00?",
    "spaced": lambda n: "Read this: " + " ".join(str(n)),
    "with points between": lambda n: ".".join(str(n)),
    "in Markdown": lambda n: f"**{str(n)[0]}**{str(n)[1:]}",
    "with what nobody sees": lambda n: "\u200b".join(str(n)),
    "in LaTeX": lambda n: f"${str(n)[0]}{{,}}{str(n)[1:]}$",
    "in full width": lambda n: "".join(chr(0xFF10 + int(d)) for d in str(n)),
    "in Arabic digits": lambda n: "".join(chr(0x0660 + int(d)) for d in str(n)),
    "in bold": lambda n: "".join(chr(0x1D7CE + int(d)) for d in str(n)),
    "reversed": lambda n: f"Turn {str(n)[::-1]} around." if n % 10 else f"{n}",
    "as a fraction": lambda n: f"Work out {2 * n}/2.",
    "as a fraction in LaTeX": lambda n: rf"Work out \frac{{{3 * n}}}{{3}}.",
    "scientifically": lambda n: f"What is {n / 100}e2 as a number?" if n % 100 else f"{n}",
    "as a power": lambda n: f"What is {n // 10}.{n % 10} × 10¹ as a number?",
    "in hex": lambda n: f"Convert {n:#x}.",
    "in bare hex": lambda n: f"Convert the hexadecimal {n:x}.",
    "in binary": lambda n: f"Convert {n:b}.",
    "in base 7": lambda n: f"In base 7 it is {numeral(n, 7)}. What is it?",
    "in base seven": lambda n: f"What is the base-seven number {numeral(n, 7)}?",
    "in base-5": lambda n: f"What is {numeral(n, 5)} (base-5)?",
    "in octal": lambda n: f"What is the octal {n:o}?",
    "in Roman numerals": lambda n: f"What is {roman(n)}?",
    "in words": lambda n: f"What is {english(n)}?",
    "in words with and": lambda n: f"What is {english(n, ' and ')}?",
    "in capitals": lambda n: english(n).upper(),
    "in glued words": lambda n: english(n).replace(" ", "").replace("-", ""),
    "in spelled digits": lambda n: "Write " + " ".join(DIGITS[int(d)] for d in str(n)),
    "in base64": lambda n: f"Decode {base64.b64encode(str(n).encode()).decode()}.",
    "in bytes": lambda n: f"Decode {str(n).encode().hex()}.",
    "figures and words": lambda n: f"What is {n // 100} hundred {n % 100}?",
    "a figure at the end": lambda n: (
        f"{english(n - n % 10)} {n % 10 or ''}" if n // 10 % 10 > 1 else str(n)
    ),
    "in words glued to others": lambda n: (
        f"theansweris{english(n).replace(' ', '').replace('-', '')}" if n % 100 else str(n)
    ),
    "then": lambda n: "It is " + " then ".join(str(n)),
    "and": lambda n: "It is {}, {} and {}.".format(*str(n)),
    "words and": lambda n: "It is {}, {} and {}.".format(*(DIGITS[int(d)] for d in str(n))),
    "followed by": lambda n: "It is {} followed by {}, and then {}".format(*str(n)),
    "by place": lambda n: "Its hundreds digit is {}, its tens digit is {}, its units {}.".format(
        *str(n)
    ),
    "by place, short": lambda n: "hundreds 1, tens 2, units 3".translate(
        str.maketrans("123", str(n))
    ),
    "by place in words": lambda n: (
        "{} in the hundreds place, {} in the tens, {} in the ones".format(
            *(DIGITS[int(d)] for d in str(n))
        )
    ),
    "by place from the right": lambda n: "{} units, {} tens and {} hundreds".format(*str(n)[::-1]),
    "by order": lambda n: "first digit {}; second digit: {}; the last digit = {}".format(*str(n)),
    "in Morse": lambda n: " ".join(MORSE[int(d)] for d in str(n)),
    "in Morse with other signs": lambda n: (
        " / ".join(MORSE[int(d)].replace(".", "·").replace("-", "–") for d in str(n)) + "."
    ),
    "in Morse without gaps": lambda n: "".join(MORSE[int(d)] for d in str(n)),
    "with letters for digits": lambda n: str(n)[:2].replace("1", "l").replace("0", "O") + str(n)[2],
    "in Markdown, digit by digit": lambda n: "*{}* *{}* *{}*".format(*str(n)),
    "listed in Markdown": lambda n: "*{}*, *{}*, *{}*".format(*str(n)),
    "a Roman numeral a digit": lambda n: (
        " ".join(roman(int(d)) for d in str(n)) if "0" not in str(n) else roman(n)
    ),
    "in small Roman numerals, listed": lambda n: (
        ", ".join(roman(int(d)).lower() for d in str(n)) if "0" not in str(n) else roman(n)
    ),
    "in Roman numerals that add": lambda n: f"What is {added(n)}?",
    "as codes of characters": lambda n: "ASCII " + " ".join(str(ord(d)) for d in str(n)),
    "as codes of characters in hex": lambda n: (
        "Unicode " + ", ".join(f"U+{ord(d):04X}" for d in str(n))
    ),
    "as a program": lambda n: "What is " + "+".join(f"chr({ord(d)})" for d in str(n)) + "?",
    "in reverse order": lambda n: "The digits are {}, {} and {} in reverse order.".format(
        *str(n)[::-1]
    ),
    "words in reverse order": lambda n: "Backwards it is {}, then {}, then {}".format(
        *(DIGITS[int(d)] for d in str(n)[::-1])
    ),
    "with its base": lambda n: f"What is {numeral(n, 7)}_7?",
    "with its base in LaTeX": lambda n: f"What is $({numeral(n, 5)})_{{5}}$?",
    "with its base below": lambda n: f"What is {numeral(n, 6)}₆?",
    "joined": lambda n: f"Concatenate {n // 10} and {n % 10}.",
    "appended": lambda n: f"Append {n % 10} to {n // 10}.",
    "appended to a name": lambda n: f"Let N = {n // 10}, append {n % 10}.",
    "joined by places": lambda n: (
        f"{n // 100}00, {n // 10 % 10}0 and {n % 10} joined" if "0" not in str(n) else str(n)
    ),
    "in binary with gaps": lambda n: f"What is {n:_b} in binary?",
    "in groups of binary": lambda n: f"What is {f'{n:b}'[:4]} {f'{n:b}'[4:]} in binary?",
    "in base 3 with gaps": lambda n: f"What is {' '.join(numeral(n, 3))} in base 3?",
    "in words in base64": lambda n: base64.b64encode(english(n).encode()).decode(),
}


def english(number: int, link: str = " ") -> str:
    """Return a number below a thousand in words."""
    hundreds, rest = divmod(number, 100)
    tens, ones = divmod(rest, 10)
    if tens == 1:
        small = TEENS[ones]
    else:
        small = "-".join([*([TENS[tens - 2]] if tens else []), *([DIGITS[ones]] if ones else [])])
    return link.join(
        [*([f"{DIGITS[hundreds]} hundred"] if hundreds else []), *filter(None, [small])]
    )


def roman(number: int) -> str:
    """Return a number below a thousand in Roman numerals."""
    written = ""
    for letters, digit in zip(("CDM", "XLC", "IVX"), f"{number:03}", strict=True):
        one, five, ten = [*letters]
        row = ("", one, one * 2, one * 3, one + five, five, five + one, five + one * 2)
        written += (*row, five + one * 3, one + ten)[int(digit)]
    return written


def added(number: int) -> str:
    """Return a number below a thousand in Roman numerals that take nothing away."""
    written = ""
    for value, letter in zip((500, 100, 50, 10, 5, 1), "DCLXVI", strict=True):
        written += letter * (number // value)
        number %= value
    return written


def numeral(number: int, base: int) -> str:
    return numeral(number // base, base) + str(number % base) if number else ""


@pytest.mark.parametrize("way", STATEMENTS)
@given(number=TARGETS.map(lambda number: number + (number in (100, 500))))
def test_questions_that_state_their_answer_are_refused(way: str, number: int) -> None:
    """Except by a single letter: C and D are names of other things."""
    assert how(STATEMENTS[way](number), number)


@pytest.mark.parametrize(
    ("number", "question"),
    [
        (1234, "What is 1,234?"),
        (1234, "twelve hundred thirty-four"),
        (1234, "twelve thirty-four"),
        (1234, "one thousand, two hundred and thirty four"),
        (100_000, "a hundred thousand"),
        (1_000_000, "one million"),
        (123, "the one hundred twenty-third number after 0"),
        (120, "the one hundred and twentieth natural number"),
        (112, "two and one hundred twelve"),
    ],
)
def test_larger_and_ordinal_numbers_too(number: int, question: str) -> None:
    assert how(question, number)


@pytest.mark.parametrize(
    ("number", "question"),
    [
        (123, "How many primes are below 678?"),
        (123, "What is 12 * 10 + 3?"),
        (123, "What is 11^2 + 2?"),
        (122, "What is 12² - 22?"),
        (123, "Add one hundred and twenty to three."),
        (100, "Add one hundred and twenty to three."),
        (120, "What is 21 times 50, over two?"),
        (523, "Of five and twenty-three, which is larger?"),
        (171, "In the triangle ABC the side AB is 2 long. What is 2a?"),
        (420, "Solve 1a4 = 0 for a."),
        (550, "He did mix a civil vivid lid."),
        (456, "Is MTIz a word?"),
        (123, "What is 1 + 2 and 3 * 7 together?"),
        (123, "Of 1, 2 and 36, which is the largest?"),
        (345, "A triangle has the sides 3, 4, and 5.5. What is its area?"),
        (122, "Its hundreds digit is 1, its tens digit is 2 times its units digit."),
        (123, "The hundreds digit is 1 and the tens digit 2."),
        (305, "It falls for 30s."),
        (120, "It is 12o at most."),
        (250, "How much are two hundred 50-cent coins?"),
        (103, "How many of the first one hundred 3-digit numbers are prime?"),
        (100, "It costs one cent. What does each cent weigh?"),
        (600, "Each costs six cents. What do a hundred cost?"),
        (120, "Combien fait cent vingt-trois moins trois ?"),
        (120, "¿Cuánto es ciento veintitrés menos tres?"),
        (123, "Wie viel ist einhundertdreiundzwanzigtausend durch tausend?"),
        (855, "How many diagonals has a convex hexagon?"),
        (110, "What is the sum of the first ten even numbers?"),
        (120, "What is the sum of the first twenty numbers?"),
        (112, "What is one twelfth of 1344?"),
        (110, "What is one tenth of 1100?"),
        (347, "What is the sum of 34 and 7?"),
        (347, "Add 300, 40 and 7 together."),
        (347, "Thirty-four girls and 7 boys join 12 others. How many are they?"),
        (347, "Join 34 and 72."),
        (347, "Join 134 and 7."),
        (347, "Concatenate 3 and 4.7."),
        (347, "Of 7, 4 and 3, which is the largest?"),
        (347, "What is the reverse of 7, 4 and 30?"),
        (347, "What is the mean of 51, 52 and 55?"),
        (347, "Which signs are ASCII 51, 52 and 550?"),
        (347, "What is 3* 4 *7?"),
        (347, "What is x_1 + x_7, where x_n = 1004?"),
        (347, "What is 1004_8?"),
        (347, "In the types III, IV and VIII, how many letters are there?"),
        (347, "What is 1010 1101 11 in binary?"),
        (347, "What is CCCXXXXVIII?"),
        (12, "In quadrants I, II and III, which points are there?"),
        (360, "A triangle has base 120 and height 6. What is its area?"),
        (255, "A base of 33 people eats 100 apples. How many are left?"),
        (455, "A triangle has a base of 8 cm and a height of 5 cm. What is the other?"),
    ],
)
def test_other_questions_are_not(number: int, question: str) -> None:
    assert how(question, number) is None


@given(TWO_TARGETS)
def test_another_number_in_words_is_not_the_answer(targets: list[int]) -> None:
    number, other = targets
    assert str(other) in [*words.values(english(other))]
    assert str(number) not in [*words.values(english(other))]


NAMES: dict[str, tuple[str, ...]] = {
    "123": (
        "¿Cuánto es ciento veintitrés?", "ciento veinte y tres", "uno, dos, tres",
        "cento e vinte e três", "um dois três",
        "Quanto fa centoventitré?", "cento venti tre",
        "Combien fait cent vingt-trois ?", "CENT VINGT TROIS", "un, deux, trois",
        "Was ist einhundertdreiundzwanzig?", "Hundertdreiundzwanzig", "eins zwei drei",
        "Wat is honderddrieëntwintig?", "honderd drieentwintig",
    ),
    "535": (
        "quinientos treinta y cinco", "quinhentas e trinta e cinco", "cinquecentotrentacinque",
        "cinq cent trente-cinq", "fünfhundertfünfunddreißig", "fuenfhundertfuenfunddreissig",
        "vijfhonderdvijfendertig",
    ),
    "181": (
        "ciento ochenta y uno", "cento e oitenta e um", "centottantuno", "cent quatre-vingt-un",
        "einhunderteinundachtzig", "honderdeenentachtig",
    ),
    "197": ("cent quatre-vingt-dix-sept", "cent nonante-sept", "ciento noventa y siete"),
    "171": ("cent soixante et onze", "cent soixante-et-onze", "cent septante et un"),
    "216": (
        "dos cientos dieciséis", "duzentos e dezasseis", "deux cent seize", "zweihundertsechzehn",
    ),
    "300": ("trescientos", "trezentos", "trecento", "trois cents", "dreihundert", "driehonderd"),
    "1001": ("mil uno", "mil e um", "milleuno", "mille un", "tausendundeins", "duizendeneen"),
    "345678": (
        "trois cent quarante-cinq mille six cent soixante-dix-huit",
        "dreihundertfünfundvierzigtausendsechshundertachtundsiebzig",
    ),
}  # fmt: skip


@pytest.mark.parametrize(
    ("number", "name"), [(int(number), name) for number, each in NAMES.items() for name in each]
)
def test_words_of_other_languages_state_numbers(number: int, name: str) -> None:
    assert how(f"Resta: {name}?", number)
    assert how(name, number + 1) is None and how(name, number - 1) is None


@given(TWO_TARGETS, st.sampled_from(LANGUAGES))
def test_a_number_in_any_of_them_is_that_number_alone(targets: list[int], tongue: Tongue) -> None:
    number, other = targets
    for name in tongue.names(number):
        assert named(name, number) or name in ("cent", "cents")
        assert not named(name, other)


UNITS = (
    "0 ", "one ", "1 ", "and ", "a ", "1/", "x", "e1", "\\frac{", "²", "1, ", "1 then ", ".-",
    ".....", "l1", "llll", "hundred ", "hundred 1", "einhundert", "ein", "un ", "uno, ", "dixsept ",
    "one", "onehundred", "hundreds digit ", "digit of the ", "base 16 a", "twenty ", "-----.",
    "and then ", "1_2 ", "ascii 49 ", "append 1 ", "join 12, ", "i ", "i ii ", "*1* ",
    "reverse 1, ", "1 1 1 1 0 ", "49 chr",
)  # fmt: skip


@pytest.mark.parametrize("unit", UNITS[::4])
def test_a_long_question_is_read_in_linear_time(unit: str) -> None:
    assert linear(lambda size: how(unit * (size // len(unit)), 123), 50_000)


@pytest.mark.long(
    short="tests/games/test_mathquiz_stated.py::test_a_long_question_is_read_in_linear_time"
)
@pytest.mark.parametrize("unit", UNITS)
def test_any_long_question_is_read_in_linear_time(unit: str) -> None:
    assert linear(lambda size: how(unit * (size // len(unit)), 123), 100_000)


@pytest.mark.parametrize(
    "question",
    [
        "Hundred and twenty-three is what I want. What is it?",
        "It is &#49;&#50;&#51;. What is it?",
        "It is %31%32%33. What is it?",
        "It is \\u0031\\u0032\\u0033. What is it?",
        "It is \\x31\\x32\\x33. What is it?",
    ],
)
def test_escapes_and_bare_hundreds_state_numbers_too(question: str) -> None:
    assert how(question, 123) is not None
    assert how(question, 124) is None


@pytest.mark.parametrize(
    ("number", "question"),
    [
        (900, "A ribbon is 15 cm long. How many of 2 cm each can be cut from 18 m of it?"),
        (900, "How many cm are nine m?"),
        (150, "Of 3 cl and 9 dl, which is more? Give it in cl."),
        (550, "How many dl are fifty-five l?"),
        (400, "A lamp of 5 cd shines. How many cd have eighty of them?"),
        (2000, "How many mm are two m? A 15 MM bolt is none."),
        (900, "IT IS 15 CM LONG. HOW LONG ARE SIXTY OF THEM?"),
        (1009, "Mix two paints, then mix them again."),
        (501, "Quanti di loro sono dispari? Di chi?"),
        (510, "Evaluate the integral of x dx from 0 to 2."),
        (505, "What is dv/dt, and what is x div y?"),
        (504, "What is x div y? And \\div?"),
        (11, "Let $\\xi$ be a root of x^2 = 121."),
        (30, "The number xxx has three digits that are alike."),
        (400, "In the trapezoid ABCD the sides AB and CD are parallel. How long is CD?"),
        (1005, "Take MV and AB. Which is longer?"),
    ],
)
def test_units_words_and_names_of_lines_are_no_numerals(number: int, question: str) -> None:
    assert how(question, number) is None


@pytest.mark.parametrize(
    ("number", "question"),
    [
        (1990, "What is MCMXC?"),
        (1990, "What is mcmxc?"),
        (123, "What is cxxiii?"),
        (111, "What is cxi?"),
        (111, "What is CXI?"),
        (400, "What is CD?"),
        (400, "What is **CD** as a number?"),
        (400, "What is the Roman numeral cd?"),
        (900, "What is 'cm' in Roman numerals?"),
        (900, "In AB, which Roman number is CM?"),
        (504, "Read DIV."),
        (504, "Read div as a numeral."),
        (1990, "A bolt of 3 MCMXC. What is it?"),
        (900, "What is ⅽⅿ?"),
        (900, "What is ⅭⅯ?"),
    ],
)
def test_roman_numerals_that_are_meant_state_numbers(number: int, question: str) -> None:
    assert "Roman numerals (" in (how(question, number) or "")
    assert how(question, number + 1) is None


@pytest.mark.parametrize(
    ("number", "question", "way", "piece"),
    [
        (123, "Is it 123?", "digits", "123"),
        (123, "A box of 1 - 2 - 3 parts.", "digits", "1 - 2 - 3"),
        (123, "Turn 3\n2 1 around, and 45.", "reversed", "3 2 1"),
        (111, "What is CXI less nothing?", "Roman", "CXI"),
    ],
)
def test_where_the_number_stands_is_told(number: int, question: str, way: str, piece: str) -> None:
    told = how(question, number) or ""
    assert way in told and told.endswith(f" ('{piece}')")
    quiz = GAME.new(1, smallest=100)
    assert isinstance(quiz, Quiz)
    with pytest.raises(InvalidMove) as refused:
        replace(quiz, target=number).apply(question)
    assert code(refused.value) == "mathquiz.states_number"
    assert values(refused.value) == {"how": told}
