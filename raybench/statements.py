"""Statements for people that keep what they are made of, so that programs need not read them."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Self


class Statement(str):
    """A text that also has a stable code and the values in it.

    It is the text, wherever one is expected: in a report, in a table, in JSON. Tests and programs
    look at `code` and `values`, which stay when the text is reworded.

        Statement("stopped.spent", "{spent} of {limit} {unit}", spent=11, limit=10, unit="calls")

    Code and template are literals: tests/statements.txt lists them from the sources.
    """

    __slots__ = ("code", "values")

    code: str
    values: Mapping[str, Any]

    def __new__(cls, code: str, template: str, /, **values: Any) -> Self:
        """Fill the template with the values. A code belongs to one template."""
        return cls._made(code, template.format_map(values), values)

    @classmethod
    def _made(cls, code: str, text: str, values: Mapping[str, Any]) -> Self:
        made = super().__new__(cls, text)
        made.code = code
        made.values = MappingProxyType(dict(values))
        return made

    def __reduce__(self) -> tuple[Any, ...]:
        """Keep code and values on the way to another process."""
        return self._made, (self.code, str(self), dict(self.values))
