"""What in a program looks like a way to pass its tests without solving the problem.

A flag proves nothing and changes no grade: it is for a person's eye. Only names and shapes are
looked at; a program that hides what it does is stopped by the sandbox and the harness, not here.
"""

import ast
import re
from collections.abc import Collection, Iterator

from raybench.grading.syntax import parsed

EQUALITY = "answers comparisons itself"
EXIT = "ends the process"
AT_EXIT = "acts when the process ends"
PATCH = "changes a module or a builtin"
FRAMES = "looks into the interpreter"
SOURCE = "reads source or memory"
PROCESSES = "starts or signals processes"
DESCRIPTORS = "uses raw descriptors"
HIDDEN = "hides what it calls"
FLAGS = (EQUALITY, EXIT, AT_EXIT, PATCH, FRAMES, SOURCE, PROCESSES, DESCRIPTORS, HIDDEN)

_TELLING = {
    EXIT: ("sys.exit", "os._exit", "os.abort", "exit", "quit", "SystemExit"),
    AT_EXIT: ("atexit.",),
    PATCH: ("sys.modules", "sys.meta_path", "sys.path_hooks", "__builtins__", "forbiddenfruit."),
    FRAMES: (
        *("sys._getframe", "sys._current_frames", "sys.settrace", "sys.setprofile", "inspect."),
        *("gc.", "traceback.", "tracemalloc."),
    ),
    SOURCE: ("linecache.", "ctypes.", "mmap.", "__main__."),
    PROCESSES: (
        *("os.kill", "os.killpg", "os.fork", "os.forkpty", "os.system", "os.popen", "os.getppid"),
        *("os.execv", "os.execve", "os.execvp", "os.execl", "os.execlp", "os.spawnv", "os.spawnl"),
        *("os.posix_spawn", "signal.", "subprocess.", "multiprocessing."),
    ),
    DESCRIPTORS: (
        *("os.write", "os.writev", "os.dup", "os.dup2", "os.fdopen", "os.pipe", "os.closerange"),
        *("os.sendfile", "os.openpty"),
    ),
    HIDDEN: ("__import__", "importlib.import_module", "exec"),
}
"""Names that earn a flag where they are used; of those that end in a point, all that they hold."""
_EXACT = {name: flag for flag, names in _TELLING.items() for name in names if name[-1] != "."}
_MODULES = {
    name[:-1]: flag for flag, names in _TELLING.items() for name in names if name[-1] == "."
}
_INSIDE = frozenset({
    *("f_back", "f_globals", "f_locals", "f_code", "gi_frame", "cr_frame", "tb_frame", "__code__"),
    *("__globals__", "__closure__", "__subclasses__", "__builtins__", "__traceback__", "__bases__"),
})  # fmt: skip
_STREAMS = ("sys.stdin", "sys.stdout", "sys.stderr")
"""What programs may well put something of their own in the place of."""
_ALWAYS = frozenset({"__eq__", "__ne__", "__bool__", "__instancecheck__", "__subclasscheck__"})
_ORDERED = frozenset({"__lt__", "__le__", "__gt__", "__ge__", "__contains__"})
_PATHS = re.compile(r"/proc(?:/|$)|/dev/(?:fd|mem|std)")


def flags(source: str, *, ignore: Collection[str] = ()) -> tuple[str, ...]:
    """Return which of `FLAGS` a program earns, in their order; those to be ignored left out.

    What is honest depends on the task: a script may well end itself, a function will not.
    """
    tree = parsed(source)
    found = set(_Look(tree).found()) if tree else set()
    return tuple(flag for flag in FLAGS if flag in found and flag not in ignore)


class _Look:
    """One look at a program."""

    def __init__(self, tree: ast.Module) -> None:
        self._nodes = list(ast.walk(tree))
        self._names = dict(self._imports())
        self._own = set(self._bound())

    def found(self) -> Iterator[str]:
        """Yield flags, in no order and perhaps repeatedly."""
        for node in self._nodes:
            match node:
                case ast.Import(names=names):
                    yield from (it for name in names for it in self._named(name.name))
                case ast.ImportFrom(module=str(module), names=names):
                    yield from (it for n in names for it in self._named(f"{module}.{n.name}"))
                case ast.Name() | ast.Attribute():
                    yield from self._used(node)
                case ast.Call():
                    yield from self._called(node)
                case ast.FunctionDef(name=name):
                    if name in _ALWAYS or (name in _ORDERED and _constant(node)):
                        yield EQUALITY
                case ast.Assign(targets=targets):
                    yield from (it for target in targets for it in self._assigned(target))
                case ast.AugAssign(target=target) | ast.AnnAssign(target=target):
                    yield from self._assigned(target)
                case ast.Delete(targets=targets):
                    yield from (it for target in targets for it in self._assigned(target))
                case ast.Constant(value=str(text)) if _PATHS.search(text):
                    yield SOURCE

    def _imports(self) -> Iterator[tuple[str, str]]:
        """Yield what every imported name stands for."""
        for node in self._nodes:
            match node:
                case ast.Import(names=names):
                    for it in names:
                        top = it.name.partition(".")[0]
                        yield (it.asname, it.name) if it.asname else (top, top)
                case ast.ImportFrom(module=str(module), names=names):
                    for it in names:
                        yield it.asname or it.name, f"{module}.{it.name}"

    def _bound(self) -> Iterator[str]:
        """Yield the names that the program gives to things of its own."""
        for node in self._nodes:
            match node:
                case ast.FunctionDef(name=name) | ast.ClassDef(name=name) | ast.arg(arg=name):
                    yield name
                case ast.Name(id=name, ctx=ast.Store()):
                    yield name

    def _dotted(self, node: ast.expr) -> str | None:
        """Return the full name of what an expression refers to, where it can be read off."""
        match node:
            case ast.Name(id=name) if name in self._names:
                return self._names[name]
            case ast.Name(id=name):
                return None if name in self._own else name
            case ast.Attribute(value=value, attr=attr):
                base = self._dotted(value)
                return None if base is None else f"{base}.{attr}"
            case ast.Call(func=ast.Name(id="getattr"), args=[value, ast.Constant(str(attr)), *_]):
                base = self._dotted(value)
                return None if base is None else f"{base}.{attr}"
        return None

    def _imported(self, node: ast.expr) -> bool:
        """Tell whether an expression is, or is in, something imported or builtin."""
        match node:
            case ast.Name(id=name):
                return name in self._names or name in ("__builtins__", "builtins")
            case ast.Attribute(value=value):
                return self._imported(value)
        return False

    def _named(self, name: str) -> Iterator[str]:
        if flag := _EXACT.get(name) or _MODULES.get(name.partition(".")[0]):
            yield flag

    def _used(self, node: ast.Name | ast.Attribute) -> Iterator[str]:
        if isinstance(node, ast.Attribute) and node.attr in _INSIDE:
            yield FRAMES
        if isinstance(node.ctx, ast.Load) and (name := self._dotted(node)):
            yield from self._named(name)

    def _called(self, node: ast.Call) -> Iterator[str]:
        match node:
            case ast.Call(func=ast.Name(id="setattr" | "delattr"), args=[target, *_]):
                if self._imported(target):
                    yield PATCH
            case ast.Call(func=ast.Name(id="getattr"), args=[target, name, *_]):
                if self._imported(target) and not isinstance(name, ast.Constant):
                    yield HIDDEN
                elif dotted := self._dotted(node):
                    yield from self._named(dotted)
                if isinstance(name, ast.Constant) and name.value in _INSIDE:
                    yield FRAMES

    def _assigned(self, target: ast.expr) -> Iterator[str]:
        match target:
            case ast.Tuple(elts=parts) | ast.List(elts=parts):
                yield from (it for part in parts for it in self._assigned(part))
            case ast.Attribute(value=value, attr=attr):
                if self._dotted(target) in _STREAMS:
                    return
                if self._imported(value) or attr in ("__class__", "__code__", "__eq__"):
                    yield PATCH
            case ast.Subscript(value=ast.Call(func=ast.Name(id="vars"), args=[value])):
                if self._imported(value):
                    yield PATCH
            case ast.Subscript(value=value):
                if self._imported(value) and _is_table(value):
                    yield PATCH
            case ast.Name(id="__eq__" | "__ne__"):
                yield EQUALITY


def _is_table(node: ast.expr) -> bool:
    return isinstance(node, ast.Name) or (
        isinstance(node, ast.Attribute) and node.attr in ("__dict__", "modules", "environ")
    )


def _constant(function: ast.FunctionDef) -> bool:
    """Tell whether a method looks at nothing it is given."""
    arguments = {it.arg for it in function.args.args}
    used = {it.id for it in ast.walk(function) if isinstance(it, ast.Name)}
    return not arguments & used
