"""What a server has to show before its first program: that its walls stand."""

import os
import socket
import tempfile
from pathlib import Path

from raybench.sandbox.outcome import Limits
from raybench.sandbox.server import BusyError, FaultError, Server

_LIMITS = Limits(cpu_s=10, wall_s=60, memory_mb=512, disk_mb=1, processes=8)
_ANY_PORT = ("127.0.0.1", 0)
_PROGRAM = """
import os, socket
breaches = []
def attempt(what, deed):
    try:
        if deed():
            breaches.append(what)
    except OSError:
        pass
secret, port, victim, *variables = input().split()
attempt("it read a file of the host", lambda: open(secret).read())
attempt("it wrote a file of the host", lambda: open(secret + ".new", "w"))
attempt("it saw the environment", lambda: set(os.environ) - set(variables))
attempt("it reached the network", lambda: socket.create_connection(("127.0.0.1", int(port)), 1))
# A low number may be that of a process in here.
if int(victim) > 99:
    attempt("it signalled a process of the host", lambda: os.kill(int(victim), 0) is None)
def fork_on():
    children = []
    for _ in range(64):
        child = os.fork()
        if child == 0:
            import time
            time.sleep(5)
            os._exit(0)
        children.append(child)
    return True
attempt("it started more processes than it may", fork_on)
print(";".join(breaches), flush=True)
os._exit(0)
"""


def check(server: Server) -> None:
    """Raise FaultError where a program reaches what it must not, or does not run at all."""
    with tempfile.TemporaryDirectory() as folder, socket.create_server(_ANY_PORT) as listening:
        secret = Path(folder) / "secret"
        secret.write_text("secret", encoding="utf-8")
        # To be read by anybody who gets so far.
        Path(folder).chmod(0o777)
        secret.chmod(0o666)
        port = listening.getsockname()[1]
        question = f"{secret} {port} {os.getpid()} {' '.join(server.variables)} TMPDIR"
        run = server.run(_PROGRAM.encode(), question.encode(), {}, _LIMITS)
    said, words = (it.bytes().decode("utf-8", "replace").strip() for it in (run.stdout, run.stderr))
    if run.stopped == "wall":
        raise BusyError(
            f"this machine is too busy: a first program took more than {_LIMITS.wall_s:g} s"
        )
    if run.status != 0:
        why = run.stopped or words.rpartition("\n")[2]
        raise FaultError(f"a harmless program does not run: {why}")
    if said and server.backend != "unsafe":
        raise FaultError(f"the walls do not hold: {said.replace(';', ', ')}")
