"""A step's test cases in two: what runs beside the candidate's code, and what judges it.

The test cases of a step are one script. The candidate's process gets what of it the candidate's
code is called with; it hands over the values that the assertions are about. The judge, in which
none of the candidate's code runs, has the targets and what the script works out to compare with,
which is in the other process as little as they are: it evaluates the assertions, that is
comparisons, arithmetic, calls of libraries, and the names that the script gives a value without the
candidate's help.

    assert np.allclose(f(A), target)
        candidate: hands over `f(A)`
        judge:     np.allclose(_0, target)
"""

import ast
import builtins
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from raybench.benchmarks.parts.scicode import empties, inline, names

TARGET = "target"
COMPARISONS = "scicode.compare.cmp"
_UNSTEADY = {"random", "time", "os", "pickle"}
"""Modules that tell two processes different things."""
_UNSAFE = {"eval", "exec", "open", "input", "print", "globals", "locals", "vars", "__import__"}
_OF_ARRAYS = {"any", "all", "sum", "mean", "min", "max", "shape", "size", "T", "real", "imag"}
"""What an assertion may ask of a value after it was handed over."""
_OPEN = (
    *(ast.Compare, ast.BoolOp, ast.UnaryOp, ast.BinOp),
    *(ast.Tuple, ast.List, ast.Starred, ast.Subscript, ast.Slice),
)


class Inseparable(ValueError):
    """A test case hands its target to the candidate's code, or hides what it does with it."""


@dataclass(frozen=True, slots=True)
class Split:
    """The two scripts: a list of steps for each test case. `ship` and `judge` come in pairs."""

    candidate: list[list[dict[str, Any]]]
    """`run`: statements. `ship`: expressions whose values are handed over, together."""
    judge: list[list[dict[str, Any]]]
    """`run`: statements. `judge`: a statement, `values`: how many were handed over for it, by the
    names _0, _1 …, `checks`: which of them must not be empty (empties.py)"""


@dataclass(slots=True)
class _Judged:
    """A statement of the judge's, which may turn out not to be needed."""

    case: int
    source: str
    loads: set[str]
    touches: set[str]
    values: int | None = None
    """None: a statement that only prepares."""
    checks: list[empties.Check] = field(default_factory=list)


@dataclass(slots=True)
class _Beside:
    """What runs beside the candidate's code, which may turn out to be for the judge alone."""

    case: int
    step: dict[str, Any]
    loads: set[str]
    touches: set[str] = field(default_factory=set)
    """The names that it is there for, where the judge can do it as well."""


def needs_target(case: str) -> bool:
    """Tell whether a test case compares with a target."""
    tree = ast.parse(case)
    return any(isinstance(node, ast.Name) and node.id == TARGET for node in ast.walk(tree))


def split(cases: Sequence[str], dependencies: str, candidates: Iterable[str]) -> Split:
    """Return both scripts; `candidates` are the names that the candidate's code defines.

    Raises Inseparable where a test case cannot be split, SyntaxError where it is no Python.
    """
    splitter = _Splitter(dependencies, set(candidates))
    for number, case in enumerate(cases):
        splitter.take(number, inline.flat(ast.parse(case).body))
    return splitter.split(len(cases))


@dataclass(slots=True)
class _Owners:
    """Who knows the value of a name."""

    library: set[str]
    """Modules, functions of libraries: the same to both."""
    theirs: set[str]
    """What the candidate's code defines, or had a part in: only its side knows."""
    constant: set[str] = field(default_factory=set)
    """Numbers and texts: nobody can change them."""
    clean: dict[str, set[str]] = field(default_factory=dict)
    """What the judge can work out itself, with the names that went into it."""
    target: set[str] = field(default_factory=lambda: {TARGET})
    """What comes of a target: the candidate's side has no such name."""

    def known(self, name: str) -> bool:
        """Tell whether the judge knows the value without being told."""
        return name in self.library or name in self.constant or name in self.clean

    def forget(self, name: str) -> None:
        """Take a name for the candidate's, and every name that may share a part of its value."""
        for it in self.kin({name} & self.clean.keys()):
            del self.clean[it]
            self.theirs.add(it)

    def kin(self, found: Iterable[str]) -> set[str]:
        """Return names, and all that may share parts of their values."""
        known = list(found)
        for name in known:  # it grows
            near = {it for it, parts in self.clean.items() if name in parts}
            near |= self.clean.get(name, set()) & self.clean.keys()
            known += near.difference(known)
        return set(known)

    def give(self, name: str, to: str, parts: Iterable[str] = ()) -> None:
        """Say who knows a name's value from now on."""
        self.clean.pop(name, None)
        for group in (self.library, self.theirs, self.constant, self.target):
            group.discard(name)
        if to == "clean":
            self.clean[name] = {part for part in parts if part in self.clean}
        else:
            getattr(self, to).add(name)


class _Splitter:
    def __init__(self, dependencies: str, candidates: set[str]) -> None:
        self._owners = _Owners(set(dir(builtins)) - _UNSAFE, candidates)
        self._beside: list[_Beside] = []
        self._judged: list[_Judged] = []
        for statement in ast.parse(dependencies).body:
            if isinstance(statement, ast.Import | ast.ImportFrom):
                self._owners.library |= _steady(statement)
        self._owners.library -= candidates
        self._case = 0

    def take(self, number: int, body: Sequence[ast.stmt]) -> None:
        """Add a test case."""
        self._case = number
        self._owners.give(TARGET, "target")
        for place, statement in enumerate(body, start=1):
            self._take(statement, body[place:])

    def split(self, cases: int) -> Split:
        """Return both scripts, the judge's without what it does not need.

        What it needs and the candidate's code is not called with is in no other process. Names that
        nobody needs stay with the candidate's code, which may look at them as upstream's does.
        """
        judge: list[list[dict[str, Any]]] = [[] for _ in range(cases)]
        needed: set[str] = set()
        for it in reversed(self._judged):
            if it.values is None and not it.touches & needed:
                continue
            needed |= it.loads
            decides = {"judge": it.source, "values": it.values, "checks": it.checks}
            judge[it.case].insert(0, {"run": it.source} if it.values is None else decides)
        candidate: list[list[dict[str, Any]]] = [[] for _ in range(cases)]
        used: set[str] = set()
        for here in reversed(self._beside):
            if here.touches and here.touches & needed and not here.touches & used:
                continue
            used |= here.loads
            candidate[here.case].insert(0, here.step)
        return Split(candidate, judge)

    def _take(self, statement: ast.stmt, later: Sequence[ast.stmt]) -> None:
        if isinstance(statement, ast.ImportFrom) and statement.module == COMPARISONS:
            self._owners.library |= _plainly(statement)
            return
        read = _read(statement)
        if isinstance(statement, ast.Assert):
            self._judge(ast.Assert(statement.test), [statement.test])
        elif read & self._owners.target:
            if not isinstance(statement, ast.Assign) or names.roots(statement) - names.bound(
                statement
            ):
                raise Inseparable(f"'{_shown(statement)}' does something else with a target")
            self._judge(statement, [statement.value])
            for name in names.bound(statement):
                self._owners.give(name, "target")
        else:
            self._run(statement, read, later)

    # ------------------------------------------------------------------ what runs in both places

    def _run(self, statement: ast.stmt, read: set[str], later: Sequence[ast.stmt]) -> None:
        source = ast.unparse(statement)
        here = _Beside(self._case, {"run": source}, read)
        self._beside.append(here)
        bound, touched = names.bound(statement), names.roots(statement)
        new = bound - self._owners.theirs - self._owners.target
        if isinstance(statement, ast.Import | ast.ImportFrom):
            for name in bound:
                self._owners.give(name, "library" if name in _steady(statement) else "theirs")
            self._prepare(source, set(), bound)
        elif (
            all(self._owners.known(it) or it in new for it in read | touched)
            and not _unsteady(statement)
            and not _asks_objects(statement)
        ):
            read, touched = read | touched, bound | self._changed(statement, read, touched)
            self._prepare(source, read, touched)
            here.loads, here.touches = read, touched
            constant = isinstance(statement, ast.Assign) and self._is_constant(statement.value)
            for name in bound:
                self._owners.give(name, "constant" if constant else "clean", read)
        else:
            changed = read | touched
            if isinstance(statement, ast.Assign) and any(bound & _read(it) for it in later):
                changed = touched | self._exposed(statement)
            for name in changed:
                self._owners.forget(name)
            for name in bound:
                self._owners.give(name, "theirs")

    def _changed(self, statement: ast.stmt, read: set[str], touched: set[str]) -> set[str]:
        """Return the names whose values a statement of the test's own may change in place."""
        if isinstance(statement, ast.Assign | ast.AnnAssign | ast.AugAssign):
            inside = touched | self._exposed(statement)
        elif isinstance(statement, ast.FunctionDef):
            inside = set()
        else:
            inside = read
        return self._owners.kin(inside & self._owners.clean.keys())

    def _exposed(self, node: ast.AST) -> set[str]:
        """Return what the test's own methods and functions may change that the judge does not call.

        What the candidate's are given for the sake of what they return stays what the test made it,
        whatever they do to it. One whose result nobody looks at is called for just that.
        """
        calls = [it for it in ast.walk(node) if isinstance(it, ast.Call) and self._is_ours(it.func)]
        own = [it for it in calls if names.root(it.func) not in self._owners.library]
        return {name for it in own for name in _read(it)}

    def _prepare(self, source: str, loads: set[str], touches: set[str]) -> None:
        self._judged.append(_Judged(self._case, source, loads, touches))

    def _is_constant(self, value: ast.expr) -> bool:
        match value:
            case ast.Constant():
                return True
            case ast.Name(id=name):
                return name in self._owners.constant
            case ast.UnaryOp(operand=operand):
                return self._is_constant(operand)
            case ast.BinOp(left=left, right=right):
                return self._is_constant(left) and self._is_constant(right)
            case ast.Tuple(elts=elements):
                return all(map(self._is_constant, elements))
        return False

    # ------------------------------------------------------------------ what the judge decides

    def _judge(self, statement: ast.stmt, values: Sequence[ast.expr]) -> None:
        """Have the judge evaluate a statement, with the values that only the candidate has."""
        ship: list[ast.expr] = []
        lifted = [self._lift(value, ship) for value in values]
        if isinstance(statement, ast.Assert):
            statement.test = lifted[0]
        elif isinstance(statement, ast.Assign):
            statement.value = lifted[0]
        if ship:
            shipped = {"ship": [ast.unparse(it) for it in ship]}
            read = {name for it in ship for name in _read(it)}
            self._beside.append(_Beside(self._case, shipped, read))
        loads, checks = names.loaded(statement), empties.checks(statement)
        self._judged.append(
            _Judged(self._case, ast.unparse(statement), loads, set(), len(ship), checks)
        )

    def _lift(self, node: ast.expr, ship: list[ast.expr]) -> ast.expr:
        """Return an expression in which what is handed over has a name."""
        read = _read(node)
        if all(self._owners.known(it) or it in self._owners.target for it in read) and not (
            _unsteady(node)
        ):
            return node
        if self._opens(node):
            for place, inner in ast.iter_fields(node):
                setattr(node, place, self._lifted(inner, ship))
            return node
        if read & self._owners.target:
            raise Inseparable(f"'{_shown(node)}' hands a target to the candidate's code")
        ship.append(_finished(node))
        for name in self._exposed(node):
            self._owners.forget(name)
        return ast.Name(f"_{len(ship) - 1}", ast.Load())

    def _lifted(self, inner: Any, ship: list[ast.expr]) -> Any:
        if isinstance(inner, list):
            return [self._lifted(it, ship) for it in inner]
        if isinstance(inner, ast.keyword):
            inner.value = self._lift(inner.value, ship)
        return self._lift(inner, ship) if isinstance(inner, ast.expr) else inner

    def _opens(self, node: ast.expr) -> bool:
        """Tell whether the judge evaluates an expression itself, of parts that are handed over."""
        match node:
            case ast.Call(func=function):
                if isinstance(function, ast.Attribute) and not self._is_ours(function):
                    return self._opens(function)
                return self._is_ours(function)
            case ast.Attribute(value=value, attr=attribute):
                return attribute in _OF_ARRAYS and not self._is_ours(value)
        return isinstance(node, _OPEN)

    def _is_ours(self, function: ast.expr) -> bool:
        """Tell whether an expression is a library, or a function of one or of the test's own."""
        name = names.root(function)
        return name is not None and self._owners.known(name) and not _unsteady(function)


def _read(node: ast.AST) -> set[str]:
    read = names.loaded(node)
    if isinstance(node, ast.AugAssign) and (name := names.root(node.target)):
        read.add(name)
    return read


def _steady(statement: ast.Import | ast.ImportFrom) -> set[str]:
    """Return the names that an import gives, of those that mean the same in both processes."""
    modules = [alias.name for alias in statement.names]
    if isinstance(statement, ast.ImportFrom):
        modules = [statement.module or ""]
    if any(set(module.split(".")) & _UNSTEADY for module in modules):
        return set()
    return names.imported(statement)


def _plainly(statement: ast.ImportFrom) -> set[str]:
    if any(alias.asname for alias in statement.names):
        raise Inseparable(f"'{_shown(statement)}' gives a comparison another name")
    return names.imported(statement)


def _unsteady(node: ast.AST) -> bool:
    """Tell whether code draws random numbers: the candidate's code draws from the same row."""
    return any(
        (isinstance(inner, ast.Attribute) and inner.attr == "random")
        or (isinstance(inner, ast.Name) and inner.id == "random")
        for inner in ast.walk(node)
    )


def _asks_objects(statement: ast.stmt) -> bool:
    """Tell whether a function asks what it is given for more than arrays have.

    It then is given objects, and those do not cross.
    """
    if not isinstance(statement, ast.FunctionDef):
        return False
    given = {inner.arg for inner in ast.walk(statement.args) if isinstance(inner, ast.arg)}
    return any(
        isinstance(inner, ast.Attribute)
        and names.root(inner) in given
        and inner.attr not in _OF_ARRAYS
        for inner in ast.walk(statement)
    )


def _finished(node: ast.expr) -> ast.expr:
    """Return an expression whose value can be handed over: of a generator, what it yields."""
    if isinstance(node, ast.GeneratorExp):
        return ast.ListComp(node.elt, node.generators)
    return node


def _shown(node: ast.AST) -> str:
    text = ast.unparse(node)
    return text if len(text) <= 80 else f"{text[:80]} …"
