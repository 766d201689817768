"""What a Python says of itself: run by the Python in question, which may be none of ours.

So it keeps to what every Python 3 understands and to the standard library. Its one argument is a
JSON object of two lists, the `modules` to import and the `distributions` whose versions are asked
for; its answer is one JSON object on stdout.
"""

import importlib
import json
import os
import platform
import sys
import sysconfig
from pathlib import Path

_NOT_FOR_PROGRAMS = ("_test", "_xx", "xx", "_ctypes_test")


# Types in quotes: older Pythons know no list[str], and are to say what they are all the same.
def answer(modules: "list[str]", distributions: "list[str]") -> "dict[str, object]":
    """Return the facts, after importing the modules."""
    dynload = [Path(path) for path in sys.path if path.endswith("/lib-dynload")]
    # All of them, because each may have been linked with a library of its own.
    _import([name for folder in dynload for name in _extensions(folder)])
    broken = _import(modules)
    libraries = []
    try:
        libraries = _libraries()
    except ImportError as error:  # a Python may be built without ctypes
        broken["ctypes"] = str(error)
    return {
        "version": platform.python_version(),
        "implementation": platform.python_implementation(),
        "executable": os.path.realpath(getattr(sys, "_base_executable", None) or sys.executable),
        "prefix": sys.prefix,
        "stdlib": [str(folder) for folder in (Path(os.__file__).parent, *dynload)],
        "site": sorted({sysconfig.get_path("purelib"), sysconfig.get_path("platlib")}),
        "libraries": libraries,
        "broken": broken,
        "versions": _versions(distributions),
        "threads": len(list(Path("/proc/self/task").iterdir())),
    }


def _extensions(folder: "Path") -> "list[str]":
    names = {file.name.partition(".")[0] for file in folder.glob("*.so")}
    return sorted(name for name in names if not name.startswith(_NOT_FOR_PROGRAMS))


def _import(names: "list[str]") -> "dict[str, str]":
    broken = {}
    for name in names:
        try:
            importlib.import_module(name)
        except Exception as error:
            broken[name] = f"{type(error).__name__}: {error}"
    return broken


def _versions(names: "list[str]") -> "dict[str, str | None]":
    if not names:
        return {}
    from importlib import metadata  # older Pythons have none

    found: dict[str, str | None] = {}
    for name in names:
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            found[name] = None
    return found


def _libraries() -> "list[str]":
    """Return the shared libraries of this process by the names that the loader found them by.

    /proc/self/maps has them too, but with links resolved, and the loader asks for the links.
    """
    import ctypes

    class Info(ctypes.Structure):
        _fields_ = (("address", ctypes.c_void_p), ("name", ctypes.c_char_p))

    names = set()
    takes = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(Info), ctypes.c_size_t, ctypes.c_void_p)

    def note(info: "ctypes._Pointer[Info]", size: int, data: int) -> int:
        names.add(os.fsdecode(info.contents.name or b""))
        return 0

    ctypes.CDLL(None).dl_iterate_phdr(takes(note), None)
    return sorted(os.path.normpath(name) for name in names if name.startswith("/"))


if __name__ == "__main__":
    sys.stdout.write(json.dumps(answer(**json.loads(sys.argv[1]))))
