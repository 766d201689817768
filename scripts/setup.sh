#!/usr/bin/env bash
# Create .venv from the pinned lists (`make setup`). Nothing to do when it is there and the lists are
# as they were; begun anew when they changed or when an earlier setup was cut short.
#
#   PYTHON=python3.12   the interpreter (default: the first 3.11 or 3.12 on PATH)
#   DEVICE=cpu|gpu      which build (default: that of the .venv which is there, or else gpu where
#                       nvidia-smi finds one)
set -euo pipefail
cd "$(dirname "$0")/.."

say() { echo "setup: $*"; }

fail() {
    printf 'raybench: %s\n' "$1" >&2
    shift
    (($#)) && printf '  %s\n' "$@" >&2
    exit 1
}

# One setup at a time in one checkout: the lock lies on this script and ends with the process.
exec 9<scripts/setup.sh
flock 9

if [[ -z ${DEVICE:-} && -e .venv/raybench-device ]]; then
    DEVICE=$(< .venv/raybench-device)
elif [[ -z ${DEVICE:-} ]]; then
    DEVICE=cpu
    if timeout 20 nvidia-smi -L >/dev/null 2>&1; then DEVICE=gpu; fi
fi
case $DEVICE in
    cpu) lists=(requirements/{cpu,dspy,launcher,dev,torch-cpu}.txt) ;;
    gpu) lists=(requirements/{gpu,dspy,launcher,dev}.txt) ;;
    *) fail "DEVICE=$DEVICE is neither cpu nor gpu." ;;
esac
python=$(scripts/python.sh)

# The stamp is written last, so that it never vouches for half an environment. It names all that
# the environment was made from: the place, the interpreter, the lists.
stamp=.venv/raybench-stamp
made_from=$(
    pwd
    "$python" -VV
    sha256sum "${lists[@]}"
)

export PIP_NO_INPUT=1 PIP_DISABLE_PIP_VERSION_CHECK=1
[[ -t 1 ]] || export PIP_PROGRESS_BAR=off
pip() { .venv/bin/python -m pip "$@"; }

install_torch_cpu() {
    local install=(pip install --no-deps -r requirements/torch-cpu.txt)
    say "torch for the CPU, from your pip configuration"
    "${install[@]}" 2>/dev/null && return    # most people's has none, which is no error
    say "not there; from PyTorch's CPU index"
    "${install[@]}" --retries 2 --timeout 30 \
        --index-url https://download.pytorch.org/whl/cpu && return
    fail "no torch for the CPU: neither your pip configuration nor PyTorch's CPU index has $(
        grep -o '^torch==[^ ]*' requirements/torch-cpu.txt) for $("$python" -V)." \
        "Make PyTorch's index reachable, or give pip the wheel's folder (PIP_FIND_LINKS=/folder)."
}

if [[ ! -e $stamp || $(cat "$stamp") != "$made_from" ]]; then
    say ".venv for the ${DEVICE^^} with $python; a few minutes"
    rm -rf .venv
    "$python" -m venv .venv
    if [[ $DEVICE == cpu ]]; then install_torch_cpu; fi
    say "packages from requirements/$DEVICE.txt, dspy.txt, launcher.txt and dev.txt"
    pip install --no-deps --no-compile -r "requirements/$DEVICE.txt" -r requirements/dspy.txt \
        -r requirements/launcher.txt -r requirements/dev.txt
    say "bytecode"    # by all cores, where pip uses one; templates that are no Python do not count
    .venv/bin/python -W ignore -m compileall -qq -j 0 .venv/lib || true
    echo "$DEVICE" > .venv/raybench-device
    echo "$made_from" > "$stamp"
fi

# The project itself stays where it is (editable); only its metadata is installed.
if [[ ! .venv/raybench-metadata -nt pyproject.toml ]]; then
    say "raybench"
    pip install --quiet --no-deps --no-build-isolation --editable .
    touch .venv/raybench-metadata
fi

# What the sandbox's scientific programs run with. All else works without it, and it is tried again
# when it is needed, so its absence is no failure of this.
.venv/bin/python -m raybench.sandbox ||
    say "all is ready but the libraries of SciCode's programs: see above"
