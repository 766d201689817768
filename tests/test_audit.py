"""What `make audit` says of known vulnerabilities, and that silence is never taken for health."""

import importlib.util
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from helpers import ROOT

FILE = ROOT / "scripts" / "audit.py"
BAD = {"id": "PYSEC-1", "aliases": ["CVE-2026-1"], "fix_versions": ["1.1"], "description": "…"}


@pytest.fixture(scope="module")
def audit() -> ModuleType:
    spec = importlib.util.spec_from_file_location("audit", FILE)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["audit"] = module
    spec.loader.exec_module(module)
    return module


def report(*vulns: dict[str, Any], skipped: bool = False) -> dict[str, Any]:
    told: dict[str, Any] = {"name": "a", "version": "1.0", "vulns": list(vulns)}
    return {"dependencies": [{"name": "b", "skip_reason": "unknown"} if skipped else told]}


def test_what_is_known_and_what_is_new_is_told_apart(audit: ModuleType) -> None:
    found = audit.read([report(BAD), report(BAD), report(skipped=True)])  # in two of three lists
    said, well = audit.lines(found, {})
    (bad,) = found.found
    assert (found.looked, found.skipped, bad.ids) == (1, ("b",), ("PYSEC-1", "CVE-2026-1"))
    assert f"  {bad}: NEW" in said and any(line.endswith(": b") for line in said)
    assert not well
    reason = "its server is never started"
    said, well = audit.lines(found, {"CVE-2026-1": reason})
    assert f"  {bad}: {reason}" in said
    assert well


def test_a_reason_that_is_of_no_use_any_more_is_told(audit: ModuleType) -> None:
    said, well = audit.lines(audit.read([report()]), {"CVE-2025-9": "…"})
    assert well
    assert "CVE-2025-9" in said[1]


def test_where_the_index_tells_of_nothing_that_is_said_and_no_bill_of_health(
    audit: ModuleType, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(audit, "asked", lambda file: report(skipped=True))
    assert audit.main([]) == 0
    assert " 1 packages" in capsys.readouterr().out
    assert audit.main(["--required"]) == 2

    why = "no route to host"

    def away(file: Path) -> None:
        raise RuntimeError(why)

    monkeypatch.setattr(audit, "asked", away)
    assert audit.main([]) == 0
    assert why in capsys.readouterr().err
    assert audit.main(["--required"]) == 2


def test_new_ones_fail(audit: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(audit, "asked", lambda file: report(BAD))
    assert audit.main([]) == 1


def test_every_known_one_has_its_reason(audit: ModuleType) -> None:
    audit.reasons(audit.KNOWN.read_text())
    with pytest.raises(ValueError, match="CVE-1"):
        audit.reasons('[[known]]\nid = "CVE-1"\nreason = " "\n')


def test_all_lists_that_pin_are_looked_at(
    audit: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[str] = []

    def ask(file: Path) -> dict[str, Any]:
        seen.append(file.name)
        return report()

    monkeypatch.setattr(audit, "asked", ask)
    audit.main([])
    assert {"cpu.txt", "gpu.txt", "dev.txt", "dspy.txt", "inspect.txt", "launcher.txt"} <= {*seen}
    assert not [name for name in seen if name.endswith("-excludes.txt")]
