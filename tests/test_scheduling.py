"""Files that bring up real engines are tested by one worker; all others by whoever is free."""

from types import SimpleNamespace

from helpers import ROOT
from scheduling import EnginesApart


def test_engines_are_never_brought_up_at_once() -> None:
    dealt = EnginesApart.__new__(EnginesApart)
    dealt.config = SimpleNamespace(rootpath=ROOT)
    real = [str(it.relative_to(ROOT)) for it in (ROOT / "tests" / "fleet").glob("test_*_real.py")]
    scopes = {dealt._split_scope(f"{file}::test_it[a::b]") for file in real}
    assert len(real) >= 5 and len(scopes) == 1
    plain = "tests/test_paths.py"
    assert dealt._split_scope(f"{plain}::test_it") == plain
