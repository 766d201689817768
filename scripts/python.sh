#!/usr/bin/env bash
# Print the path of a Python that can hold raybench: 3.11 or 3.12, with venv and ensurepip.
# PYTHON=... names one; otherwise the first on PATH that works is taken. 3.11 comes first because the
# pinned lists were tried there.
set -euo pipefail

works='import sys, venv, ensurepip; sys.exit(not (3, 11) <= sys.version_info[:2] < (3, 13))'

mapfile -t candidates < <(type -aP ${PYTHON:-python3.11 python3.12 python3} || true)
for python in "${candidates[@]}"; do
    if "$python" -c "$works" >/dev/null 2>&1; then
        # The file itself: a link in an active .venv would vanish with the .venv.
        "$python" -c 'import os, sys; print(os.path.realpath(sys.executable))'
        exit
    fi
done

{
    if [[ -n ${PYTHON:-} ]]; then
        echo "raybench: PYTHON=$PYTHON is not a Python 3.11 or 3.12 with venv and ensurepip."
    else
        echo "raybench: no Python 3.11 or 3.12 with venv and ensurepip on PATH."
    fi
    echo "  Debian, Ubuntu:  sudo apt install python3.11 python3.11-venv   (or 3.12)"
    echo "  elsewhere:       make setup PYTHON=/path/to/python3.12"
} >&2
exit 1
