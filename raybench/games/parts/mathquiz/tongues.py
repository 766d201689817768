"""Numbers below a million in words of other languages than English: what a number may be called.

A table per language: words in lists, '/' between those that mean the same. Accents and what stands
between words are left out.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import product


@dataclass(frozen=True, slots=True)
class Tongue:
    """How a language builds its numbers."""

    small: str
    """0 to 19."""
    tens: str
    """20, 30 … 90."""
    both: tuple[Callable[[str, str], str], ...]
    """How tens and ones are put together."""
    hundreds: str
    """100, 200 … 900; where it is one word: what stands after the number of hundreds."""
    thousand: str
    link: str
    """What may stand before the rest that is left below a hundred or a thousand."""
    teens_too: bool = False
    """Whether 60 and 80 take 10 to 19."""

    def names(self, number: int) -> set[str]:
        """Return what a number is called, in letters a to z."""
        if number < 100:
            return {*self._below_hundred(number)}
        unit = 1000 if number >= 1000 else 100
        whole, rest = divmod(number, unit)
        heads = {*(self._thousands(whole) if unit == 1000 else self._hundreds(whole))}
        if not rest:
            return heads
        return {"".join(it) for it in product(heads, ("", self.link), self.names(rest))}

    def words(self) -> set[str]:
        """Return every word of which numbers are made."""
        lists = (self.small, self.tens, self.hundreds, self.thousand)
        return {word for each in lists for part in each.split() for word in part.split("/")}

    def _thousands(self, count: int) -> Iterator[str]:
        counts = self.names(count) | ({""} if count == 1 else set())
        yield from map("".join, product(counts, self.thousand.split("/")))

    def _hundreds(self, count: int) -> Iterator[str]:
        hundreds = self.hundreds.split()
        if len(hundreds) > 1:
            yield from hundreds[count - 1].split("/")
            return
        counts = self.names(count) | ({""} if count == 1 else set())
        yield from map("".join, product(counts, hundreds[0].split("/")))

    def _below_hundred(self, number: int) -> Iterator[str]:
        small, tens = self.small.split(), [each.split("/") for each in self.tens.split()]
        if number < 20:
            yield from small[number].split("/")
            return
        ten, one = number // 10 - 2, number % 10
        if not one:
            yield from tens[ten]
        pairs = [(tens[ten], small[one])] if one else []
        if self.teens_too and ten in (5, 7):
            pairs.append((tens[ten - 1], small[10 + one]))
        for some_tens, ones in pairs:
            for t, o, both in product(some_tens, ones.split("/"), self.both):
                yield both(t, o)


SPANISH = Tongue(
    "cero uno/una/un dos tres cuatro cinco seis siete ocho nueve diez once doce trece catorce "
    "quince dieciseis diecisiete dieciocho diecinueve",
    "veinte/veinti treinta cuarenta cincuenta sesenta setenta ochenta noventa",
    (lambda t, o: t + o, lambda t, o: f"{t}y{o}"),
    "cien/ciento doscientos/doscientas trescientos/trescientas cuatrocientos/cuatrocientas "
    "quinientos/quinientas seiscientos/seiscientas setecientos/setecientas "
    "ochocientos/ochocientas novecientos/novecientas",
    "mil",
    "y",
)
PORTUGUESE = Tongue(
    "zero um/uma dois/duas tres quatro cinco seis sete oito nove dez onze doze treze "
    "quatorze/catorze quinze dezesseis/dezasseis dezessete/dezassete dezoito dezenove/dezanove",
    "vinte trinta quarenta cinquenta sessenta setenta oitenta noventa",
    (lambda t, o: t + o, lambda t, o: f"{t}e{o}"),
    "cem/cento duzentos/duzentas trezentos/trezentas quatrocentos/quatrocentas "
    "quinhentos/quinhentas seiscentos/seiscentas setecentos/setecentas oitocentos/oitocentas "
    "novecentos/novecentas",
    "mil",
    "e",
)
ITALIAN = Tongue(
    "zero uno/una/un due tre quattro cinque sei sette otto nove dieci undici dodici tredici "
    "quattordici quindici sedici diciassette diciotto diciannove",
    "venti trenta quaranta cinquanta sessanta settanta ottanta novanta",
    (lambda t, o: t + o, lambda t, o: t[:-1] + o),
    "cento/cent",
    "mille/mila",
    "e",
)
FRENCH = Tongue(
    "zero un/une deux trois quatre cinq six sept huit neuf dix onze douze treize quatorze quinze "
    "seize dixsept dixhuit dixneuf",
    "vingt trente quarante cinquante soixante septante quatrevingts/quatrevingt/huitante/octante "
    "nonante",
    (lambda t, o: t + o, lambda t, o: f"{t}et{o}"),
    "cent/cents",
    "mille",
    "et",
    teens_too=True,
)
GERMAN = Tongue(
    "null eins/ein/eine zwei/zwo drei vier funf/fuenf sechs sieben acht neun zehn elf "
    "zwolf/zwoelf dreizehn vierzehn funfzehn/fuenfzehn sechzehn siebzehn achtzehn neunzehn",
    "zwanzig dreissig vierzig funfzig/fuenfzig sechzig siebzig achtzig neunzig",
    (lambda t, o: f"{o}und{t}",),
    "hundert",
    "tausend",
    "und",
)
DUTCH = Tongue(
    "nul een twee drie vier vijf zes zeven acht negen tien elf twaalf dertien veertien vijftien "
    "zestien zeventien achttien negentien",
    "twintig dertig veertig vijftig zestig zeventig tachtig negentig",
    (lambda t, o: f"{o}en{t}",),
    "honderd",
    "duizend",
    "en",
)
TONGUES = (SPANISH, PORTUGUESE, ITALIAN, FRENCH, GERMAN, DUTCH)
