#!/usr/bin/env bash
# Resolve the lists in requirements/ from pyproject.toml and the peers' .in files (`make lock`).
#
# Each list holds for Python 3.11 and 3.12 on Linux (x86_64 and aarch64). Versions in an existing
# list are kept while they fit. Arguments go to `uv pip compile`: `--upgrade` takes the newest.
set -euo pipefail
cd "$(dirname "$0")/.."

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# uv comes with the tools. Where they are not installed yet, a scratch environment lends it.
bin=.venv/bin
if ! "$bin/uv" --version >/dev/null 2>&1; then
    python=$(scripts/python.sh)
    "$python" -m venv "$scratch/venv"
    bin=$scratch/venv/bin
    "$bin/pip" install --quiet uv
fi

more=("$@")

lock() {    # NAME SOURCE...: write requirements/NAME.txt
    local list=requirements/$1.txt
    shift
    echo "lock: $list"
    "$bin/uv" pip compile --quiet --universal --python-version 3.11 --fork-strategy fewest \
        --constraints requirements/constraints.txt "${more[@]}" \
        --annotation-style line --custom-compile-command "make lock" \
        --output-file "$list" "$@" >/dev/null
    # uv repeats the environments of pyproject.toml as a marker on every line. The lists are for
    # those environments alone, so the marker only hides the few that mean something.
    sed -E -i \
        -e "s/(implementation_name == 'cpython'|platform_python_implementation == 'CPython') and //g" \
        -e "s/ and sys_platform == 'linux'//g" \
        -e "s/\(python_full_version < '3.15' and (platform_machine == '[a-z0-9_]+')\)/(\1)/g" \
        -e "s/ ; \(platform_machine == 'aarch64'\) or \(platform_machine == 'x86_64'\)//" \
        "$list"
}

# vLLM's GPU build names more versions than its CPU build. The CPU list follows the GPU list, so
# that the two devices differ in nothing they share; the tools fit both.
lock gpu pyproject.toml --extra gpu --excludes requirements/gpu-excludes.txt
lock cpu pyproject.toml requirements/cpu.in --extra cpu --excludes requirements/cpu-excludes.txt \
    --constraints requirements/gpu.txt

of_extra() {    # NAME [OPTION...]: write requirements/NAME.txt from the extra of that name
    local name=$1
    shift
    "$bin/python" - "$name" > "$scratch/$name.in" <<'PYTHON'
import sys
import tomllib

with open("pyproject.toml", "rb") as file:
    print(*tomllib.load(file)["project"]["optional-dependencies"][sys.argv[1]], sep="\n")
PYTHON
    lock "$name" "$scratch/$name.in" "$@"
    sed -i -e "s|-r $scratch/$name.in|raybench (pyproject.toml)|" "requirements/$name.txt"
}

# What comes on top of either device's list: it leaves out what both hold; and that one list
# constrained another is no reason for a package to be there.
on_top() {    # NAME [OPTION...]: write requirements/NAME.txt from the extra of that name
    of_extra "$@" --constraints requirements/cpu.txt --constraints requirements/gpu.txt
    sed -i -e '/via.*-c requirements\/cpu.txt, -c requirements\/gpu.txt/d' "requirements/$1.txt"
}

on_top dspy --excludes requirements/dspy-excludes.txt
on_top launcher
on_top dev --constraints requirements/launcher.txt    # both have AWS's client: one version of it
sed -i -e 's/, -c requirements\/launcher.txt//; s/-c requirements\/launcher.txt, //' requirements/dev.txt
# An environment of its own, which raybench is not in: all of it.
of_extra inspect
sed -i -e 's/, -c requirements\/gpu.txt//; s/-c requirements\/gpu.txt, //' requirements/cpu.txt

# Peers of perf/: those in environments of their own, and one on top of ours.
lock ratings requirements/ratings.in
lock math-verify requirements/math-verify.in
lock prm800k requirements/prm800k.in
lock livecodebench requirements/livecodebench.in --no-deps    # one file of it runs
lock lm-eval requirements/lm-eval.in --constraints requirements/cpu.txt --constraints requirements/gpu.txt
sed -i -e '/via.*-c requirements\/cpu.txt, -c requirements\/gpu.txt/d' requirements/lm-eval.txt

# What the sandbox's scientific programs run with stays as it was when SciCode came out: their results
# are compared with numbers of then. Without this project's configuration (its environments would be a
# marker on every line), from its own folder (the list names its source as it is given).
echo "lock: sandboxes/scientific.txt"
uv=$(realpath "$bin/uv")
(cd sandboxes && "$uv" pip compile --quiet --no-config --universal --python-version 3.11 \
    --exclude-newer 2024-10-01 --annotation-style line --custom-compile-command "make lock" \
    --output-file scientific.txt scientific.in >/dev/null)
